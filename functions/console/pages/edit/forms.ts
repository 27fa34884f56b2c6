import { readWrittenAmount, readWrittenDay } from '../../../../policies/document/written.ts';
import { CAP_KINDS, capWords } from '../../../../policies/limits/cap.ts';
import { type LimitField, limitFields } from '../../../../policies/limits/limit-fields.ts';
import { writtenEdge } from '../../../../policies/text/edge-text.ts';
import { isMoney, LIMIT_KINDS, UNIT_OF } from '../../../../policies/unit.ts';
import { UNIT_TEXTS } from '../../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { ConsoleReader } from '../../../answers/create-console-read.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { Caller } from '../../../answers/reading/context.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { thresholdsText } from '../../../core/limits/csv/read-cells.ts';
import { SCALED_KINDS } from '../../../core/limits/edit-model.ts';
import { limitWords, writtenAmount } from '../parts/amounts.tsx';
import type { Field, Values } from '../parts/form-field.tsx';
import type { OwnerContact } from '../problem-page.tsx';

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
  for (const name of [...AMOUNTS, ...DAYS]) {
    const text = values[name];
    if (!text || text === was[name]) continue;
    const written = DAYS.includes(name)
      ? readWrittenDay(text)
      : readWrittenAmount(text, {
          currency,
          isMoney: kind !== undefined && isMoney(kind),
          was: name === 'amount' ? was.amount : undefined,
        });
    if (written.ok) read[name] = written.text;
    else problems.set(name, `${written.message}.`);
  }
  return { ...values, ...read };
}

/** Each costs the reads of a page. */
const SUBJECTS_MAX = 3;
const REACH_MAX = 5;

/** Owners of these limits and of hidden ones above, as far as visible. @throws {LedgerError} */
export async function ownerContactsOf(
  limits: readonly { readonly subject: string; readonly limit: string }[],
  read: Pick<ConsoleReader, 'subject'>,
  viewer: Caller,
): Promise<readonly OwnerContact[]> {
  const subjects = [...new Set(limits.map(({ subject }) => subject))].slice(0, SUBJECTS_MAX);
  const views = await Promise.all(subjects.map((subject) => read.subject(subject, {}, viewer)));
  const all = views.flatMap((view): OwnerContact[] => {
    if (view === undefined) return [];
    const named = new Set(limits.filter(({ subject }) => subject === view.subject).map(({ limit }) => limit));
    return [
      ...view.limits
        .filter(({ id }) => named.has(id))
        .map(({ id, owner, contact }) => reach(`${view.path} ${id}`, owner, contact)),
      ...view.limitsAbove.map(({ label, contact }) => reach(label, undefined, contact)),
    ];
  });
  return all.filter(({ owner, contact }) => (owner ?? contact) !== undefined).slice(0, REACH_MAX);
}

const reach = (of: string, owner: string | undefined, contact: string | undefined): OwnerContact => ({
  of,
  ...withoutAbsent({ owner, contact }),
});

export interface EditForm {
  readonly title: string;
  /** Introduction. */
  readonly note?: string;
  /** The limit it is about, to be shown as it stands. */
  readonly standing?: LimitRow;
  readonly fields: readonly Field[];
  /** Behind a fold: rarely wanted. */
  readonly more?: readonly Field[];
  /** Initial values. */
  readonly values: Values;
  /** The one button. */
  readonly submit: string;
}

/** Current state of the form's subject. */
export interface EditFormContext {
  readonly view: SubjectView | undefined;
  readonly limit: LimitRow | undefined;
  /** Today, `2026-11-21`, in the subject's zone. */
  readonly today: string;
}

const WHY: Field = {
  name: 'why',
  label: 'Why',
  type: 'textarea',
  required: true,
  max: 500,
  hint: 'Shown in the history.',
};

const MODES_SHOWN = [
  ['enforce', 'enforce: jobs over it are rejected'],
  ['warn', 'warn: the owner is notified, no job is rejected'],
  ['shadow', 'shadow: only recorded'],
  ['off', 'off'],
] as const;

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
const newLimit = (path: string, currency: string, mayCap: boolean): EditForm => ({
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

function changedLimit(limit: LimitRow, path: string, currency: string): EditForm {
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
const scaleForm = (path: string): EditForm => ({
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

/** @param zone - the calendar its days are meant on */
export const grantFormFields = (limits: readonly LimitRow[], zone: string): readonly Field[] => [
  {
    name: 'limit',
    label: 'On which limit',
    required: true,
    options: limits
      .filter(({ amount }) => amount !== 'unlimited')
      .map((limit) => [limit.id, `${limitWords(limit)} (${limit.id})`] as const),
  },
  {
    name: 'amount',
    label: 'Increase',
    required: true,
    short: true,
    hint: 'On top of the limit and in its unit: currency, minutes, jobs, CPUs or memory such as 8Gi.',
  },
  { name: 'from', label: 'From', type: 'date', required: true, short: true },
  {
    name: 'until',
    label: 'Until',
    type: 'date',
    required: true,
    short: true,
    hint: lastDayHint(limits, zone),
  },
  { name: 'reason', label: 'Reason', type: 'textarea', required: true, max: 500 },
  { name: 'ticket', label: 'Ticket', short: true },
];

/** A grant's days are its limit's: one zone where all limits agree. */
function lastDayHint(limits: readonly LimitRow[], zone: string): string {
  const zones = new Set(limits.filter(({ amount }) => amount !== 'unlimited').map((limit) => limit.zone));
  return zones.size > 1
    ? 'The last day it counts, in the zone of the limit.'
    : `The last day it counts, ${zones.values().next().value ?? zone}.`;
}

const grantForm = ({ view, limit, today }: EditFormContext): EditForm => ({
  title: `Grant more to ${view?.path ?? ''}`,
  fields: grantFormFields(view?.limits ?? [], view?.zone ?? 'UTC'),
  values: { limit: limit?.id ?? view?.burnUp?.limit ?? '', from: today },
  submit: 'See what it does',
});

const breakGlassForm = ({ view }: EditFormContext): EditForm => ({
  title: `Break glass for ${view?.path ?? ''}`,
  fields: [
    {
      name: 'users',
      label: 'Jobs of',
      hint: [
        'GitLab’s user ids, apart by commas: each stands on its user’s profile, in the menu at the top right.',
        'Empty: all users, but protected refs only.',
      ].join(' '),
      autofocus: true,
    },
    {
      name: 'protected',
      label: 'Which refs',
      required: true,
      options: [
        ['', 'any ref of these people'],
        ['yes', 'protected refs only'],
      ],
    },
    { name: 'jobs', label: 'At most (jobs)', type: 'number', required: true, short: true },
    {
      name: 'per',
      label: 'Per',
      required: true,
      options: [
        ['once', 'all in all'],
        ['hour', 'hour'],
        ['day', 'day'],
      ],
    },
    {
      name: 'until',
      label: 'Until',
      required: true,
      type: 'date',
      short: true,
      hint: `The last day, ${view?.zone ?? 'UTC'}; at most seven days from now.`,
    },
    {
      name: 'reason',
      label: 'Reason',
      type: 'textarea',
      required: true,
      max: 200,
      hint: [
        'These jobs pass limits and freezes, never security rules.',
        'They are still charged, the owners are notified, and the use is reviewed.',
      ].join(' '),
    },
    { name: 'ticket', label: 'Ticket', short: true },
  ],
  values: { jobs: '10', per: 'once' },
  submit: 'See what it does',
});

function rolloutForm({ view }: EditFormContext): EditForm {
  const options = [['', 'as the group above says'], ...MODES_SHOWN] as const;
  return {
    title: `Roll out rules in ${view?.path ?? ''}`,
    fields: [
      {
        name: 'cost',
        label: 'Cost rules go as far as',
        required: true,
        options,
        hint: 'Budgets of money and minutes.',
      },
      {
        name: 'capacity',
        label: 'Capacity rules go as far as',
        required: true,
        options,
        hint: 'Concurrent jobs, CPU and memory.',
      },
      WHY,
    ],
    values: { cost: view?.rollout?.cost ?? '', capacity: view?.rollout?.capacity ?? '' },
    submit: 'See what it does',
  };
}

/** Kinds of edit forms. */
export const EDIT_KINDS = [
  'set',
  'remove',
  'scale',
  'grant',
  'revoke',
  'freeze',
  'unfreeze',
  'breakglass',
  'end-breakglass',
  'review-breakglass',
  'rollout',
] as const;

export type EditKind = (typeof EDIT_KINDS)[number];

export function editForm(kind: EditKind, context: EditFormContext): EditForm {
  const { view, limit } = context;
  const { path = '', currency = '' } = view ?? {};
  switch (kind) {
    case 'set':
      return limit === undefined
        ? newLimit(path, currency, view?.kind !== 'runner-class')
        : changedLimit(limit, path, currency);
    case 'scale':
      return scaleForm(path);
    case 'remove':
      return {
        title: `Remove ${limitName(limit)} of ${path}`,
        fields: [WHY],
        values: {},
        submit: 'See what it does',
      };
    case 'grant':
      return grantForm(context);
    case 'revoke':
      return { title: `Revoke a grant of ${path}`, fields: [WHY], values: {}, submit: 'See what it does' };
    case 'freeze':
      return {
        title: `Freeze ${path}`,
        fields: [
          {
            name: 'reason',
            label: 'Reason',
            required: true,
            max: 200,
            hint: 'Stands on the page of every job it stops.',
            autofocus: true,
          },
          {
            name: 'until',
            label: 'Until',
            type: 'date',
            short: true,
            hint: `The last day, ${view?.zone ?? 'UTC'}. Empty: until it is lifted.`,
          },
          { name: 'owner', label: 'Contact' },
          WHY,
        ],
        values: {},
        submit: 'See what it does',
      };
    case 'unfreeze':
      return { title: `Lift the freeze of ${path}`, fields: [WHY], values: {}, submit: 'See what it does' };
    case 'breakglass':
      return breakGlassForm(context);
    case 'end-breakglass':
      return { title: 'End this break-glass', fields: [WHY], values: {}, submit: 'See what it does' };
    case 'review-breakglass':
      return {
        title: 'Review this break-glass',
        fields: [
          {
            name: 'note',
            label: 'Findings',
            type: 'textarea',
            required: true,
            max: 500,
            hint: 'Was it used for its purpose? Shown with it from now on.',
            autofocus: true,
          },
        ],
        values: {},
        submit: 'See what it does',
      };
    case 'rollout':
      return rolloutForm(context);
  }
}

const limitName = (limit: LimitRow | undefined): string =>
  limit === undefined ? 'the limit' : limitWords(limit);
