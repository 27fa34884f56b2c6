import { readWrittenAmount, readWrittenDay } from '../../../../policies/document/written.ts';
import { CAP_KINDS, capWords } from '../../../../policies/limits/cap.ts';
import { type LimitField, limitFields } from '../../../../policies/limits/limit-fields.ts';
import { writtenEdge } from '../../../../policies/text/edge-text.ts';
import { isMoney, LIMIT_KINDS, UNIT_OF, writtenUnits } from '../../../../policies/unit.ts';
import { UNIT_TEXTS } from '../../../../policies/unit-texts.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { thresholdsText } from '../../../core/limits/csv/columns.ts';
import { SCALED_KINDS } from '../../../core/limits/edit-model.ts';
import { limitWords } from '../parts/amounts.tsx';
import type { Field, Values } from '../parts/form-field.tsx';

const namesOf = (wanted: string): readonly string[] =>
  limitFields.flatMap(({ name, type }) => (type === wanted ? [name] : []));
const AMOUNTS = ['amount', ...namesOf('part')];
const DAYS = namesOf('day');

/**
 * Converts numbers and days as people write them to texts of limits.yaml. Unchanged values stay; ambiguous
 * ones are reported at their field.
 */
export function writtenValues(
  values: Values,
  was: Values,
  currency: string,
  problems: Map<string, string>,
): Values {
  const read: Record<string, string> = {};
  const kind = LIMIT_KINDS.find((each) => each === (values.unit ?? was.unit ?? LIMIT_KINDS[0]));
  const isMoneyAmount = kind !== undefined && isMoney(kind);
  for (const name of [...AMOUNTS, ...DAYS]) {
    const text = values[name];
    if (!text || text === was[name]) continue;
    const base = name === 'amount' ? was.amount : undefined;
    const written = DAYS.includes(name)
      ? readWrittenDay(text)
      : readWrittenAmount(text, { currency, isMoney: isMoneyAmount, was: base });
    if (written.ok) read[name] = written.text;
    else problems.set(name, `${written.message}.`);
  }
  return { ...values, ...read };
}

export interface EditForm {
  readonly title: string;
  readonly standing?: LimitRow;
  readonly fields: readonly Field[];
  readonly more?: readonly Field[];
  readonly values?: Values;
}

export const fieldsOf = ({ fields, more = [] }: EditForm): readonly Field[] => [...fields, ...more];

export interface EditFormContext {
  readonly view: SubjectView | undefined;
  readonly limit: LimitRow | undefined;
  readonly today: string;
}

const wanted = (name: string, label: string, more: Partial<Field> = {}): Field => ({
  ...{ name, label, required: true, ...more },
});
const select = (
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
  hint?: string,
): Field => wanted(name, label, { options, ...(hint !== undefined && { hint }) });
const day = (name: string, label: string, more: Partial<Field> = {}): Field => ({
  ...{ name, label, type: 'date', short: true, ...more },
});
const longText = (name: string, label: string, hint?: string, max = 500): Field =>
  wanted(name, label, { type: 'textarea', max, ...(hint !== undefined && { hint }) });

const WHY = longText('why', 'Why', 'Shown in the history.');
const TICKET: Field = { name: 'ticket', label: 'Ticket', short: true };

const MODES_SHOWN = [
  ['enforce', 'enforce: jobs over it are rejected'],
  ['warn', 'warn: the owner is notified, no job is rejected'],
  ['shadow', 'shadow: only recorded'],
  ['off', 'off'],
] as const;
const MODE = select('mode', 'Mode', MODES_SHOWN);
const PERIODS = ['month', 'week', 'day', 'quarter', 'year', 'once', 'hour', 'minute'];
const ENDS = '0 blocks every job; the word unlimited lifts the limit.';
const unitChoices = (kinds: readonly (typeof LIMIT_KINDS)[number][]) =>
  kinds.map((kind) => [kind, UNIT_TEXTS[UNIT_OF[kind]].heading] as const);

const fieldOf = ({ name, label, help, type, choices, choiceTexts = {} }: LimitField): Field =>
  choices === undefined
    ? {
        ...{ name, label, hint: type === 'percents' ? `${help} none: no alerts.` : help },
        ...(type !== 'text' && { short: true }),
      }
    : select(
        name,
        label,
        ['', ...choices].map((each) => [each, choiceTexts[each] ?? each] as const),
        help,
      );

const EACH: Field = {
  name: 'each',
  label: 'Applies to',
  hint: 'A limit for each is a cap: every pipeline or user is counted separately. For a pipeline or merge request the period is once.',
  options: [['', 'all jobs together'], ...CAP_KINDS.map((kind) => [kind, capWords(kind)] as const)],
};

/** The value of a field in the form. `80%` stays that: sent back as an amount it would no longer move with the limit. */
function shownValue({ name, row }: LimitField, limit: LimitRow): string {
  const { fromMs, untilMs, zone, kind } = limit;
  if (name === 'from') return fromMs === undefined ? '' : writtenEdge(fromMs, 'start', zone);
  if (name === 'until') return untilMs === undefined ? '' : writtenEdge(untilMs, 'end', zone);
  const value: unknown = row === undefined ? undefined : limit[row as keyof LimitRow];
  if (Array.isArray(value)) return thresholdsText(value);
  return typeof value === 'number' ? writtenUnits(value, kind) : String(value ?? '');
}

const newLimit = ({ view }: EditFormContext, path: string): EditForm => ({
  title: `New limit for ${path}`,
  fields: [
    { ...select('unit', 'Unit', unitChoices(LIMIT_KINDS)), autofocus: true },
    wanted('amount', 'Limit', {
      short: true,
      hint: `Money in ${view?.currency ?? ''}, like 500 or 500.25; minutes; jobs; CPUs or memory as Kubernetes writes them. ${ENDS}`,
    }),
    select('per', 'Per', [
      ['', 'concurrent (jobs, CPU, memory)'],
      ...PERIODS.map((each) => [each, each] as const),
    ]),
    MODE,
    WHY,
  ],
  more: [
    ...(view?.kind === 'runner-class' ? [] : [EACH]),
    ...limitFields.filter(({ form }) => form !== undefined).map(fieldOf),
  ],
  values: { unit: 'money', per: 'month', mode: 'shadow' },
});

function changedLimit(limit: LimitRow, { view }: EditFormContext, path: string): EditForm {
  const { kind, baseAmount, mode } = limit;
  const more = limitFields.filter(({ form }) => form?.(limit));
  const hint = `${UNIT_TEXTS[UNIT_OF[kind]].hint(view?.currency ?? '')} ${ENDS}`;
  const others = Object.fromEntries(more.map((each) => [each.name, shownValue(each, limit)]));
  return {
    title: `${limitWords(limit)} of ${path}`,
    standing: limit,
    fields: [wanted('amount', 'Limit', { short: true, autofocus: true, hint }), MODE, WHY],
    more: more.map(fieldOf),
    values: {
      amount: typeof baseAmount === 'number' ? writtenUnits(baseAmount, kind) : baseAmount,
      mode,
      ...others,
    },
  };
}

/** @param zone - the calendar its days are meant on */
export function grantFormFields(limits: readonly LimitRow[], zone: string): readonly Field[] {
  const limited = limits.filter(({ amount }) => amount !== 'unlimited');
  // A grant's days are its limit's: one zone where all limits agree.
  const zones = new Set(limited.map((limit) => limit.zone));
  const inZone = zones.size > 1 ? 'in the zone of the limit' : ([...zones][0] ?? zone);
  return [
    select(
      'limit',
      'On which limit',
      limited.map((limit) => [limit.id, `${limitWords(limit)} (${limit.id})`] as const),
    ),
    wanted('amount', 'Increase', { short: true, hint: 'On top of the limit and in its unit.' }),
    day('from', 'From', { required: true }),
    day('until', 'Until', { required: true, hint: `The last day it counts, ${inZone}.` }),
    longText('reason', 'Reason'),
    TICKET,
  ];
}

const FORMS = {
  set: (context, path) =>
    context.limit === undefined ? newLimit(context, path) : changedLimit(context.limit, context, path),
  remove: ({ limit }, path) => ({
    ...{ title: `Remove ${limit === undefined ? 'the limit' : limitWords(limit)} of ${path}`, fields: [WHY] },
  }),
  scale: (_, path) => ({
    title: `All limits of ${path}, by a share`,
    fields: [
      wanted('by', 'Change by', {
        ...{ short: true, autofocus: true },
        hint: 'A share of each amount, like +8 % or -12.5 %. Unlimited amounts, 0 and caps stay.',
      }),
      select('unit', 'Unit', unitChoices(SCALED_KINDS)),
      select('below', 'Which limits', [
        ['yes', 'its own and all below it'],
        ['no', 'its own alone'],
      ]),
      select('round', 'Round to', [
        ['', 'nothing: to the last digit'],
        ...['1', '5', '10', '50', '100', '1000'].map((step) => [step, `multiples of ${step}`] as const),
      ]),
      WHY,
    ],
    values: { unit: 'money', below: 'yes', round: '' },
  }),
  grant: ({ view, limit, today }, path) => ({
    title: `Grant more to ${path}`,
    fields: grantFormFields(view?.limits ?? [], view?.zone ?? 'UTC'),
    values: { limit: limit?.id ?? view?.burnUp?.limit ?? '', from: today },
  }),
  revoke: (_, path) => ({ title: `Revoke a grant of ${path}`, fields: [WHY] }),
  freeze: ({ view }, path) => ({
    title: `Freeze ${path}`,
    fields: [
      wanted('reason', 'Reason', {
        ...{ max: 200, autofocus: true, hint: 'Stands on the page of every job it stops.' },
      }),
      day('until', 'Until', { hint: `The last day, ${view?.zone ?? 'UTC'}. Empty: until it is lifted.` }),
      { name: 'owner', label: 'Contact' },
      WHY,
    ],
  }),
  unfreeze: (_, path) => ({ title: `Lift the freeze of ${path}`, fields: [WHY] }),
  breakglass: ({ view }, path) => ({
    title: `Break glass for ${path}`,
    fields: [
      {
        ...{ name: 'users', label: 'Jobs of', autofocus: true },
        hint: 'GitLab’s user ids, apart by commas. Empty: all users, but protected refs only.',
      },
      select('protected', 'Which refs', [
        ['', 'any ref of these people'],
        ['yes', 'protected refs only'],
      ]),
      wanted('jobs', 'At most (jobs)', { type: 'number', short: true }),
      select('per', 'Per', [
        ['once', 'all in all'],
        ['hour', 'hour'],
        ['day', 'day'],
      ]),
      day('until', 'Until', {
        ...{ required: true, hint: `The last day, ${view?.zone ?? 'UTC'}; at most seven days from now.` },
      }),
      longText(
        'reason',
        'Reason',
        'These jobs pass limits and freezes, never security rules. They are charged, and the use is reviewed.',
        200,
      ),
      TICKET,
    ],
    values: { jobs: '10', per: 'once' },
  }),
  'end-breakglass': () => ({ title: 'End this break-glass', fields: [WHY] }),
  'review-breakglass': () => ({
    title: 'Review this break-glass',
    fields: [longText('note', 'Findings', 'Was it used for its purpose? Shown with it from now on.')],
  }),
  rollout: ({ view }, path) => {
    const options = [['', 'as the group above says'], ...MODES_SHOWN] as const;
    const { cost = '', capacity = '' } = view?.rollout ?? {};
    return {
      title: `Roll out rules in ${path}`,
      fields: [
        select('cost', 'Cost rules go as far as', options, 'Budgets of money and minutes.'),
        select('capacity', 'Capacity rules go as far as', options, 'Concurrent jobs, CPU and memory.'),
        WHY,
      ],
      values: { cost, capacity },
    };
  },
} as const satisfies Readonly<Record<string, (context: EditFormContext, path: string) => EditForm>>;

export type EditKind = keyof typeof FORMS;

export const isEditKind = (kind: string | undefined): kind is EditKind =>
  kind !== undefined && Object.hasOwn(FORMS, kind);

export const editForm = (kind: EditKind, context: EditFormContext): EditForm =>
  FORMS[kind](context, context.view?.path ?? '');
