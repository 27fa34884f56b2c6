import { CAP_KINDS, capWords } from '../../../../policies/limits/cap.ts';
import { writtenEdge } from '../../../../policies/text/edge-text.ts';
import { isAtOnce, isAwaitable, isSpent, LIMIT_KINDS, UNIT_OF } from '../../../../policies/units/unit.ts';
import { UNIT_TEXTS } from '../../../../policies/units/unit-texts.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { SCALED_KINDS, thresholdsText } from '../../../core/limits/index.ts';
import type { Field } from '../parts/form-field.tsx';
import { limitWords, writtenAmount } from '../parts/limit-words.ts';
import { type EditForm, MODES_SHOWN, WHY } from './edit-form-parts.ts';

const PERIODS = ['month', 'week', 'day', 'quarter', 'year', 'once'].map((each) => [each, each] as const);

const ENDS = '0 blocks every job; the word unlimited lifts the limit.';

const SOFT: Field = {
  name: 'soft',
  label: 'Warn from',
  hint: 'A share like 80% or an amount.',
  short: true,
};

const THRESHOLDS: Field = {
  name: 'thresholds',
  label: 'Alerts at',
  hint: 'Percent of the limit at which its owner is told, like 50 80 100; forecast 100: once the forecast for the period’s end comes to it; none: at none. Empty: 50, 75, 90 and 100 of money and minutes.',
  short: true,
};

const CARRY: Field = {
  name: 'carry',
  label: 'Carry over at most',
  hint: 'Of what a period leaves the next one has so much more: a share like 20% or an amount.',
  short: true,
};

const WAIT: Field = {
  name: 'wait',
  label: 'Wait for room',
  hint: 'How long a job waits for a slot, CPU, memory or a start before it is rejected, like 20s.',
  short: true,
};

const WHEN_UNREACHABLE: Field = {
  name: 'when_unreachable',
  label: 'While it cannot be asked',
  required: true,
  options: [
    ['', 'as its rule says, else by what is left for money and minutes, and all for the others'],
    ['admit', 'every job starts'],
    ['room', 'jobs start while they fit what was last known to be left'],
    ['reject', 'no job starts'],
  ],
};

const EACH: Field = {
  name: 'each',
  label: 'For whom',
  hint: 'A limit for each is a cap: every pipeline or user counts by itself. Of a pipeline or merge request it is per once.',
  options: [['', 'all jobs together'], ...CAP_KINDS.map((kind) => [kind, capWords(kind)] as const)],
};

const COHORT: readonly Field[] = [
  {
    name: 'cohort',
    label: 'Cohort',
    hint: 'A name. Groups of one cohort use each other’s idle jobs, CPU or memory.',
    short: true,
  },
  {
    name: 'borrow',
    label: 'Borrow at most',
    hint: 'Above its own: a share like 50% or an amount.',
    short: true,
  },
  {
    name: 'lend',
    label: 'Lend at most',
    hint: 'A share or an amount. Empty: all that is idle.',
    short: true,
  },
];

const TEXTS: readonly Field[] = [
  { name: 'owner', label: 'Owner', hint: 'Named to developers whose job is rejected.' },
  { name: 'contact', label: 'Contact of the owner', hint: 'A mail address, a page or a channel.' },
  { name: 'cost_center', label: 'Cost centre' },
  { name: 'from', label: 'Asks from', hint: 'A day such as 31.12.2026.', short: true },
  { name: 'until', label: 'Asks until', hint: 'The last day.', short: true },
];

/** `80%` stays that: sent back as an amount it would no longer move with the limit. */
const writtenPart = (part: string | number | undefined, kind: LimitRow['kind']): string =>
  typeof part === 'number' ? writtenAmount(part, kind) : (part ?? '');

/** @param mayCap - whether it can be written for each pipeline, job or user there. */
export const newLimit = (path: string, currency: string, mayCap: boolean): EditForm => ({
  title: `New limit for ${path}`,
  fields: [
    {
      name: 'unit',
      label: 'What is counted',
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
      options: [['', 'at once (jobs, CPU, memory)'], ...PERIODS, ['hour', 'hour'], ['minute', 'minute']],
    },
    { name: 'mode', label: 'Mode', required: true, options: MODES_SHOWN },
    WHY,
  ],
  more: [
    ...(mayCap ? [EACH] : []),
    SOFT,
    THRESHOLDS,
    CARRY,
    WAIT,
    WHEN_UNREACHABLE,
    ...COHORT,
    ...TEXTS,
    { name: 'zone', label: 'Zone', hint: 'Where its periods begin, like Europe/Berlin.' },
  ],
  values: { unit: 'money', per: 'month', mode: 'shadow' },
  submit: 'See what it does',
});

export function changedLimit(limit: LimitRow, path: string, currency: string): EditForm {
  const { kind, per, baseAmount, mode, owner, contact, costCenter, baseSoft, baseCarry, baseThresholds } =
    limit;
  const isLent = isAtOnce(kind);
  const isBudget = per !== undefined && isSpent(kind);
  const isAlerted = limit.each === undefined && per !== undefined && per !== 'minute' && per !== 'hour';
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
    more: [
      SOFT,
      ...(isAlerted ? [THRESHOLDS] : []),
      ...(isBudget ? [CARRY] : []),
      ...(isAwaitable(kind) ? [WAIT] : []),
      WHEN_UNREACHABLE,
      ...(isLent ? COHORT : []),
      ...TEXTS,
    ],
    values: {
      amount: writtenAmount(baseAmount, kind),
      mode,
      soft: writtenPart(baseSoft, kind),
      ...(isAlerted && { thresholds: baseThresholds === undefined ? '' : thresholdsText(baseThresholds) }),
      ...(isBudget && { carry: writtenPart(baseCarry, kind) }),
      ...(isAwaitable(kind) && { wait: limit.wait ?? '' }),
      when_unreachable: limit.whenUnreachable ?? '',
      ...(isLent && {
        cohort: limit.cohort ?? '',
        borrow: writtenPart(limit.baseBorrow, kind),
        lend: writtenPart(limit.baseLend, kind),
      }),
      owner: owner ?? '',
      contact: contact ?? '',
      cost_center: costCenter ?? '',
      from: limit.fromMs === undefined ? '' : writtenEdge(limit.fromMs, 'start', limit.zone),
      until: limit.untilMs === undefined ? '' : writtenEdge(limit.untilMs, 'end', limit.zone),
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
      hint: 'A share of what each has, like +8 % or -12.5 %. What is unlimited or 0 stays, and so do caps.',
      autofocus: true,
    },
    {
      name: 'unit',
      label: 'What is counted',
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
