import { CAP_KINDS, capWords } from '../../../../policies/limits/cap.ts';
import { type LimitField, limitFields } from '../../../../policies/limits/limit-fields.ts';
import { writtenEdge } from '../../../../policies/text/edge-text.ts';
import { LIMIT_KINDS, UNIT_OF } from '../../../../policies/units/unit.ts';
import { UNIT_TEXTS } from '../../../../policies/units/unit-texts.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { SCALED_KINDS, thresholdsText } from '../../../core/limits/index.ts';
import type { Field } from '../parts/form-field.tsx';
import { limitWords, writtenAmount } from '../parts/limit-words.ts';
import { type EditForm, MODES_SHOWN, WHY } from './edit-form-parts.ts';

const PERIODS = ['month', 'week', 'day', 'quarter', 'year', 'once'].map((each) => [each, each] as const);

const ENDS = '0 blocks every job; the word unlimited lifts the limit.';

/** The field of a form for a field of the table. */
const fieldOf = ({ name, label, help, type, choices, choiceTexts = {} }: LimitField): Field =>
  choices === undefined
    ? {
        ...{ name, label, hint: type === 'percents' ? `${help} none: no alerts.` : help },
        ...(type !== 'text' && { short: true }),
      }
    : {
        ...{ name, label, required: true, hint: help },
        options: ['', ...choices].map((each) => [each, choiceTexts[each] ?? each] as const),
      };

const EACH: Field = {
  name: 'each',
  label: 'Applies to',
  hint: 'A limit for each is a cap: every pipeline or user is counted separately. For a pipeline or merge request the period is once.',
  options: [['', 'all jobs together'], ...CAP_KINDS.map((kind) => [kind, capWords(kind)] as const)],
};

/** The value of a field in the form. `80%` stays that: sent back as an amount it would no longer move with the limit. */
function shownValue({ name, row }: LimitField, limit: LimitRow): string {
  if (name === 'from')
    return limit.fromMs === undefined ? '' : writtenEdge(limit.fromMs, 'start', limit.zone);
  if (name === 'until')
    return limit.untilMs === undefined ? '' : writtenEdge(limit.untilMs, 'end', limit.zone);
  const value: unknown = row === undefined ? undefined : limit[row as keyof LimitRow];
  if (Array.isArray(value)) return thresholdsText(value);
  return typeof value === 'number' ? writtenAmount(value, limit.kind) : String(value ?? '');
}

/** @param mayCap - whether it can be written for each pipeline, job or user there. */
export const newLimit = (path: string, currency: string, mayCap: boolean): EditForm => ({
  title: `New limit for ${path}`,
  fields: [
    {
      name: 'unit',
      label: 'Unit',
      required: true,
      options: LIMIT_KINDS.map((kind) => [kind, UNIT_TEXTS[UNIT_OF[kind]].heading]),
      autofocus: true,
    },
    {
      name: 'amount',
      label: 'Limit',
      required: true,
      short: true,
      hint: `Money in ${currency}, like 500 or 500.25; minutes; jobs; CPUs or memory as Kubernetes writes them. ${ENDS}`,
    },
    {
      name: 'per',
      label: 'Per',
      required: true,
      options: [['', 'concurrent (jobs, CPU, memory)'], ...PERIODS, ['hour', 'hour'], ['minute', 'minute']],
    },
    { name: 'mode', label: 'Mode', required: true, options: MODES_SHOWN },
    WHY,
  ],
  more: [...(mayCap ? [EACH] : []), ...limitFields.filter(({ form }) => form !== undefined).map(fieldOf)],
  values: { unit: 'money', per: 'month', mode: 'shadow' },
  submit: 'See what it does',
});

export function changedLimit(limit: LimitRow, path: string, currency: string): EditForm {
  const { kind, baseAmount, mode } = limit;
  const more = limitFields.filter(({ form }) => form?.(limit));
  return {
    title: `${limitWords(limit)} of ${path}`,
    standing: limit,
    fields: [
      {
        name: 'amount',
        label: 'Limit',
        required: true,
        short: true,
        hint: `${UNIT_TEXTS[UNIT_OF[kind]].hint(currency)} ${ENDS}`,
        autofocus: true,
      },
      { name: 'mode', label: 'Mode', required: true, options: MODES_SHOWN },
      WHY,
    ],
    more: more.map(fieldOf),
    values: {
      amount: writtenAmount(baseAmount, kind),
      mode,
      ...Object.fromEntries(more.map((each) => [each.name, shownValue(each, limit)])),
    },
    submit: 'See what it does',
  };
}

/** All limits of a subject together. */
export const scaleForm = (path: string): EditForm => ({
  title: `All limits of ${path}, by a share`,
  fields: [
    {
      name: 'by',
      label: 'Change by',
      required: true,
      short: true,
      hint: 'A share of each amount, like +8 % or -12.5 %. Unlimited amounts, 0 and caps stay.',
      autofocus: true,
    },
    {
      name: 'unit',
      label: 'Unit',
      required: true,
      options: SCALED_KINDS.map((kind) => [kind, UNIT_TEXTS[UNIT_OF[kind]].heading]),
    },
    {
      name: 'below',
      label: 'Which limits',
      required: true,
      options: [
        ['yes', 'its own and all below it'],
        ['no', 'its own alone'],
      ],
    },
    {
      name: 'round',
      label: 'Round to',
      required: true,
      options: [
        ['', 'nothing: to the last digit'],
        ...['1', '5', '10', '50', '100', '1000'].map((step) => [step, `multiples of ${step}`] as const),
      ],
    },
    WHY,
  ],
  values: { unit: 'money', below: 'yes', round: '' },
  submit: 'See what it does',
});
