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

/** `next alert at 90 %`, of levels at which somebody is told; undefined: nobody is. */
export function nextAlertText({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined {
  const next = thresholds.find(({ reached }) => !reached);
  if (next !== undefined) return `next alert at ${levelText(next.name)}`;
  const last = thresholds.at(-1);
  return last && `past the last alert, ${levelText(last.name)}`;
}

/** `alerts at 50 %, 75 % and 90 %, past 75 %` */
export function alertsText({ thresholds = [] }: Pick<LimitRow, 'thresholds'>): string | undefined {
  if (thresholds.length === 0) return undefined;
  const names = thresholds.map(({ name }) => levelText(name));
  const past = thresholds.findLast(({ name, reached }) => reached && !name.startsWith('forecast'));
  const all = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `alerts at ${all}${past === undefined ? '' : `, past ${levelText(past.name)}`}`;
}

const LEVEL_WORDS: Readonly<Record<string, string>> = { soft: 'the soft part', overdraft: 'overdraft' };

const levelText = (name: string): string => LEVEL_WORDS[name] ?? name;
