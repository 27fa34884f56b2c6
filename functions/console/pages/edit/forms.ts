import { type DocumentProblem, problemText } from '../../../../policies/document/reading.ts';
import { readWrittenAmount, readWrittenDay } from '../../../../policies/document/written.ts';
import { CAP_KINDS, capSubject, capWords } from '../../../../policies/limits/cap.ts';
import { type LimitField, limitFields } from '../../../../policies/limits/limit-fields.ts';
import { MODES } from '../../../../policies/mode.ts';
import { writtenEdge } from '../../../../policies/text/edge-text.ts';
import { isMoney, LIMIT_KINDS, SCALED_KINDS, UNIT_OF, writtenUnits } from '../../../../policies/unit.ts';
import { UNIT_TEXTS } from '../../../../policies/unit-texts.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { readThresholdsText, thresholdsText } from '../../../core/limits/csv/columns.ts';
import type { LimitEdit, LimitFields } from '../../../core/limits/edit-model.ts';
import * as ui from '../parts/ui.ts';

const fieldsOfType = (type: string): readonly string[] =>
  limitFields.filter((field) => field.type === type).map(({ name }) => name);
const AMOUNTS = ['amount', ...fieldsOfType('part')];
const DAYS = fieldsOfType('day');

/**
 * Converts numbers and days as people write them to texts of limits.yaml. Unchanged values stay; ambiguous
 * ones are reported at their field.
 */
export function writtenValues(
  values: ui.Values,
  was: ui.Values,
  currency: string,
  problems: Map<string, string>,
): ui.Values {
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
  readonly edited?: LimitRow;
  readonly fields: readonly ui.Field[];
  readonly more?: readonly ui.Field[];
  readonly values?: ui.Values;
}

export const fieldsOf = ({ fields, more = [] }: EditForm): readonly ui.Field[] => [...fields, ...more];

export interface EditFormContext {
  readonly view: SubjectView | undefined;
  readonly limit: LimitRow | undefined;
  readonly today: string;
}

const required = (name: string, label: string, more: Partial<ui.Field> = {}): ui.Field => ({
  ...{ name, label, required: true, ...more },
});
const select = (name: string, label: string, options: ui.ChoiceList, hint?: string): ui.Field =>
  required(name, label, { options, hint });
const day = (name: string, label: string, more: Partial<ui.Field> = {}): ui.Field => ({
  ...{ name, label, type: 'date', short: true, ...more },
});
const longText = (name: string, label: string, hint?: string, max = 500): ui.Field =>
  required(name, label, { type: 'textarea', max, hint });

const TICKET: ui.Field = { name: 'ticket', label: 'Ticket', short: true };

const MODES_SHOWN = [
  ['enforce', 'enforce: jobs over the limit are rejected'],
  ['warn', 'warn: the owner is notified, no job is rejected'],
  ['shadow', 'shadow: only recorded'],
  ['off', 'off'],
] as const;
const MODE = select('mode', 'Mode', MODES_SHOWN);
const PERIODS = ['month', 'week', 'day', 'quarter', 'year', 'once', 'hour', 'minute'];
const ENDS = '0 blocks every job, and “unlimited” lifts the limit.';
const unitChoices = (kinds: readonly (typeof LIMIT_KINDS)[number][]) =>
  kinds.map((kind) => [kind, UNIT_TEXTS[UNIT_OF[kind]].heading] as const);

function limitField({ name, label, help, type, choices, choiceTexts = {} }: LimitField): ui.Field {
  const hint = type === 'percents' ? `${help} none: no alerts.` : help;
  if (choices === undefined) return { name, label, hint, short: type !== 'text' };
  const options = ['', ...choices].map((each) => [each, choiceTexts[each] ?? each] as const);
  return select(name, label, options, hint);
}

const EACH: ui.Field = {
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
    required('amount', 'Limit', {
      short: true,
      hint: `Money in ${view?.currency ?? ''} as 500 or 500.25, minutes, jobs, or CPUs and memory in Kubernetes notation. ${ENDS}`,
    }),
    select('per', 'Per', [
      ['', 'concurrent (jobs, CPU, memory)'],
      ...PERIODS.map((each) => [each, each] as const),
    ]),
    MODE,
    ui.WHY,
  ],
  more: [
    ...(view?.kind === 'runner-class' ? [] : [EACH]),
    ...limitFields.filter(({ form }) => form !== undefined).map(limitField),
  ],
  values: { unit: 'money', per: 'month', mode: 'shadow' },
});

function changedLimit(limit: LimitRow, { view }: EditFormContext, path: string): EditForm {
  const { kind, baseAmount, mode } = limit;
  const more = limitFields.filter(({ form }) => form?.(limit));
  const hint = `${UNIT_TEXTS[UNIT_OF[kind]].hint(view?.currency ?? '')} ${ENDS}`;
  const others = Object.fromEntries(more.map((each) => [each.name, shownValue(each, limit)]));
  return {
    title: `${ui.limitWords(limit)} of ${path}`,
    edited: limit,
    fields: [required('amount', 'Limit', { short: true, autofocus: true, hint }), MODE, ui.WHY],
    more: more.map(limitField),
    values: {
      amount: typeof baseAmount === 'number' ? writtenUnits(baseAmount, kind) : baseAmount,
      mode,
      ...others,
    },
  };
}

export function grantFormFields(limits: readonly LimitRow[], zone: string): readonly ui.Field[] {
  const limited = limits.filter(({ amount }) => amount !== 'unlimited');
  // A grant's days are its limit's: one zone where all limits agree.
  const zones = new Set(limited.map((limit) => limit.zone));
  const inZone = zones.size > 1 ? 'in the zone of the limit' : ([...zones][0] ?? zone);
  return [
    select(
      'limit',
      'Limit',
      limited.map((limit) => [limit.id, `${ui.limitWords(limit)} (${limit.id})`] as const),
    ),
    required('amount', 'Increase', { short: true, hint: 'On top of the limit and in its unit.' }),
    day('from', 'From', { required: true }),
    day('until', 'Until', { required: true, hint: `The last day on which it counts, ${inZone}.` }),
    longText('reason', 'Reason'),
    TICKET,
  ];
}

const FORMS = {
  set: (context, path) =>
    context.limit === undefined ? newLimit(context, path) : changedLimit(context.limit, context, path),
  remove: ({ limit }, path) => ({
    title: `Remove ${limit === undefined ? 'the limit' : ui.limitWords(limit)} of ${path}`,
    fields: [ui.WHY],
  }),
  scale: (_, path) => ({
    title: `Scale all limits of ${path}`,
    fields: [
      required('by', 'Change by', {
        ...{ short: true, autofocus: true },
        hint: 'A share of each amount, as +8 % or -12.5 %. Unlimited amounts, 0 and caps stay.',
      }),
      select('unit', 'Unit', unitChoices(SCALED_KINDS)),
      select('below', 'Limits', [
        ['yes', 'this subject and everything below'],
        ['no', 'this subject only'],
      ]),
      select('round', 'Round to', [
        ['', 'no rounding'],
        ...['1', '5', '10', '50', '100', '1000'].map((step) => [step, `multiples of ${step}`] as const),
      ]),
      ui.WHY,
    ],
    values: { unit: 'money', below: 'yes', round: '' },
  }),
  grant: ({ view, limit, today }, path) => ({
    title: `Grant more to ${path}`,
    fields: grantFormFields(view?.limits ?? [], view?.zone ?? 'UTC'),
    values: { limit: limit?.id ?? view?.burnUp?.limit ?? '', from: today },
  }),
  revoke: (_, path) => ({ title: `Revoke a grant of ${path}`, fields: [ui.WHY] }),
  freeze: ({ view }, path) => ({
    title: `Freeze ${path}`,
    fields: [
      required('reason', 'Reason', {
        ...{ max: 200, autofocus: true, hint: 'Shown on the page of every job it stops.' },
      }),
      day('until', 'Until', { hint: `The last day, ${view?.zone ?? 'UTC'}. Empty: until it is lifted.` }),
      { name: 'owner', label: 'Contact' },
      ui.WHY,
    ],
  }),
  unfreeze: (_, path) => ({ title: `Lift the freeze of ${path}`, fields: [ui.WHY] }),
  breakglass: ({ view }, path) => ({
    title: `Break glass for ${path}`,
    fields: [
      {
        ...{ name: 'users', label: 'Users', autofocus: true },
        hint: 'GitLab user ids, separated by commas. Empty: all users, on protected refs only.',
      },
      select('protected', 'Refs', [
        ['', 'all refs of these users'],
        ['yes', 'protected refs only'],
      ]),
      required('jobs', 'Maximum, jobs', { type: 'number', short: true }),
      select('per', 'Per', [
        ['once', 'in total'],
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
  'end-breakglass': () => ({ title: 'End this break-glass', fields: [ui.WHY] }),
  'review-breakglass': () => ({
    title: 'Review this break-glass',
    fields: [
      longText(
        'note',
        'Findings',
        'State whether it was used for its purpose. Shown on the break-glass page.',
      ),
    ],
  }),
  rollout: ({ view }, path) => {
    const options = [['', 'inherited from the group above'], ...MODES_SHOWN] as const;
    const { cost = '', capacity = '' } = view?.rollout ?? {};
    return {
      title: `Roll out rules in ${path}`,
      fields: [
        select('cost', 'Mode of cost rules', options, 'Budgets of money and minutes.'),
        select('capacity', 'Mode of capacity rules', options, 'Concurrent jobs, CPU and memory.'),
        ui.WHY,
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

const PROBLEMS_SHOWN = 50;
const KINDS: ReadonlySet<string> = new Set(LIMIT_KINDS);

export function byField(
  found: readonly DocumentProblem[],
  fields: readonly ui.Field[],
): { readonly problems: ui.FieldProblems; readonly others: readonly string[] } {
  const names = new Set(fields.map(({ name }) => name));
  const problems = new Map<string, string>();
  const others: string[] = [];
  for (const problem of found.slice(0, PROBLEMS_SHOWN)) {
    // A limit's amount is named by its unit.
    const steps = problem.path.map((step) => (KINDS.has(String(step)) ? 'amount' : String(step)));
    const name = steps.findLast((step) => names.has(step));
    if (name === undefined || problems.has(name)) others.push(problemText(problem));
    else problems.set(name, problem.message);
  }
  return { problems, others };
}

export const REQUIRED = 'Fill this in.';

/** Values that a page names besides the fields of its form. */
export const NAMED = ['subject', 'limit', 'grant', 'freeze', 'breakglass'] as const;

/** Converts a form's fields to an edit. Limit editing checks everything else, and refuses invalid texts by name. */
export function readEdit(kind: EditKind, form: EditForm, sent: ui.Values, was: ui.Values, currency: string) {
  const problems = new Map<string, string>();
  const values = writtenValues(sent, was, currency, problems);
  const fields = fieldsOf(form);
  for (const { name, required, options } of fields)
    if (required && options === undefined && !values[name]) problems.set(name, REQUIRED);
  const filled = [...NAMED, ...fields.map(({ name }) => name)].filter(
    (name) => name !== 'why' && values[name],
  );
  const plain = Object.fromEntries(filled.map((name) => [name, values[name]]));
  const why = values.why || values.reason || values.note;
  const changes = kind === 'set' ? setLimit(values, was) : { ...plain, ...MORE[kind]?.(values, problems) };
  const edit = { kind, ...changes } as LimitEdit;
  return problems.size > 0
    ? ({ ok: false, problems } as const)
    : ({ ok: true, edit, why: why ?? '' } as const);
}

type More = (values: ui.Values, problems: Map<string, string>) => object;

const modeOf = (text: string | undefined) => MODES.find((mode) => mode === text) ?? null;

const MORE: Readonly<Partial<Record<EditKind, More>>> = {
  scale: ({ unit, below }) => ({ unit: SCALED_KINDS.find((each) => each === unit), below: below !== 'no' }),
  breakglass: breakGlass,
  rollout: ({ cost, capacity }) => ({ cost: modeOf(cost), capacity: modeOf(capacity) }),
};

/** Fields that a form lacks do not change. */
const SET_FIELDS: readonly string[] = ['unit', 'amount', ...limitFields.map(({ name }) => name)];

/**
 * Sends only fields that differ from what the form showed, so users who change different fields do not undo each other. A new
 * cap, e.g. for each pipeline of a group, has a subject of its own.
 */
function setLimit(values: ui.Values, was: ui.Values): object {
  const { subject = '', limit, each } = values;
  const cap = CAP_KINDS.find((kind) => kind === each);
  const changed: Record<string, unknown> = {};
  for (const name of SET_FIELDS) {
    const value = values[name] ?? '';
    if (value === (was[name] ?? '')) continue;
    changed[name] = name === 'thresholds' ? (readThresholdsText(value) ?? null) : value || null;
  }
  const target = cap === undefined ? subject : capSubject(subject, cap);
  return { subject: target, ...(limit ? { limit } : { amount: values.amount }), ...(changed as LimitFields) };
}

function breakGlass(
  { users: text = '', protected: refs, jobs = '' }: ui.Values,
  problems: Map<string, string>,
) {
  const users = text.split(/[\s,]+/).filter((id) => id !== '');
  const onlyProtected = refs === 'yes';
  if (users.some((id) => !/^[1-9]\d{0,14}$/.test(id)))
    problems.set('users', 'User ids are numbers, separated by commas.');
  if (users.length === 0 && !onlyProtected)
    problems.set('users', 'Name users, or choose protected refs only.');
  if (jobs !== '' && !/^[1-9]\d{0,5}$/.test(jobs)) problems.set('jobs', 'Enter a whole number above 0.');
  const named = users.length > 0 && { users: users.map(Number) };
  return { ...named, ...(onlyProtected && { protected: true }), jobs: Number(jobs) };
}
