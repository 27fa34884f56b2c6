import type { PeriodKind } from '../../../policies/limits/period.ts';
import { UNIT_OF } from '../../../policies/units/unit.ts';
import { UNIT_TEXTS } from '../../../policies/units/unit-texts.ts';
import type { LimitRow } from './model.ts';

const PERIOD_WORDS: Readonly<Record<PeriodKind, string>> = {
  minute: 'per minute',
  hour: 'per hour',
  day: 'per day',
  week: 'per week',
  month: 'per month',
  quarter: 'per quarter',
  year: 'per year',
  once: 'once',
};

/** `Money per month` */
export const limitWords = ({ kind, per }: Pick<LimitRow, 'kind' | 'per'>): string =>
  per === undefined
    ? UNIT_TEXTS[UNIT_OF[kind]].heading
    : `${UNIT_TEXTS[UNIT_OF[kind]].heading} ${PERIOD_WORDS[per]}`;
