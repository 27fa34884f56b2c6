import { type DocumentProblem, problemText } from '../../../../policies/document/reading.ts';
import { CAP_KINDS, capSubject } from '../../../../policies/limits/cap.ts';
import { withoutDay } from '../../../../policies/limits/limit.ts';
import { limitFields } from '../../../../policies/limits/limit-fields.ts';
import { MODES, type Mode } from '../../../../policies/mode.ts';
import { writtenDay } from '../../../../policies/text/edge-text.ts';
import { LIMIT_KINDS } from '../../../../policies/unit.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import { readThresholdsText } from '../../../core/limits/csv/read-cells.ts';
import {
  type LimitEdit,
  type LimitFields,
  SCALED_KINDS,
  type SetLimit,
} from '../../../core/limits/edit-model.ts';
import type { User } from '../../../core/signin/model.ts';
import type { PagesDeps } from '../page-deps.ts';
import type { FieldProblems, Values } from '../parts/form-field.tsx';
import { type EditFormView, untouched } from './edit-pages.tsx';
import { type EditForm, type EditFormContext, type EditKind, editForm, writtenValues } from './forms.ts';

/** Assigns problems of an edit to fields, if they have one. */
export function byField(
  problems: readonly DocumentProblem[],
  form: Pick<EditForm, 'fields' | 'more'>,
): { readonly problems: ReadonlyMap<string, string>; readonly others: readonly string[] } {
  const names = new Set([...form.fields, ...(form.more ?? [])].map(({ name }) => name));
  const fields = new Map<string, string>();
  const others: string[] = [];
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) {
    // A limit's amount is named by its unit.
    const steps = problem.path.map((step) => (AMOUNTS.has(String(step)) ? 'amount' : String(step)));
    const name = steps.findLast((step) => names.has(step));
    if (name === undefined || fields.has(name)) others.push(problemText(problem));
    else fields.set(name, problem.message);
  }
  return { problems: fields, others };
}

const PROBLEMS_SHOWN = 50;
const AMOUNTS: ReadonlySet<string> = new Set(LIMIT_KINDS);

type ReadEdit =
  | { readonly ok: true; readonly edit: LimitEdit; readonly why: string }
  | { readonly ok: false; readonly problems: FieldProblems };

/** No form has all of them; those it does not have do not change. */
const SET_FIELDS: readonly string[] = ['unit', 'amount', ...limitFields.map(({ name }) => name)];
/** Converts a form's fields to an edit. Limit editing checks everything else. */
export function readEdit(kind: EditKind, sent: Values, was: Values, currency: string): ReadEdit {
  const problems = new Map<string, string>();
  const values = writtenValues(sent, was, currency, problems);
  const given = (name: string): string | undefined => values[name] || undefined;
  const wanted = (name: string, what: string): string => {
    const value = given(name);
    if (value === undefined) problems.set(name, `Say ${what}.`);
    return value ?? '';
  };
  const edit = editOf(kind, { values, was, given, wanted, problems });
  const why = given('why') ?? given('reason') ?? given('note');
  if (why === undefined) problems.set('why', 'Say why: it stands in the history.');
  return problems.size > 0 ? { ok: false, problems } : { ok: true, edit, why: why ?? '' };
}

interface Reader {
  readonly values: Values;
  readonly was: Values;
  readonly given: (name: string) => string | undefined;
  readonly wanted: (name: string, what: string) => string;
  readonly problems: Map<string, string>;
}

function editOf(kind: EditKind, reader: Reader): LimitEdit {
  const { given, wanted } = reader;
  const subject = given('subject') ?? '';
  const text = (name: string): Record<string, string> => {
    const value = given(name);
    return value === undefined ? {} : { [name]: value };
  };
  switch (kind) {
    case 'set':
      return setLimit(subject, reader);
    case 'scale': {
      const unit = SCALED_KINDS.find((each) => each === given('unit'));
      return {
        ...{ kind, subject, by: wanted('by', 'by how much'), below: given('below') !== 'no' },
        ...(unit !== undefined && { unit }),
        ...text('round'),
      };
    }
    case 'remove':
      return { kind, subject, limit: wanted('limit', 'which limit') };
    case 'grant':
      return {
        kind,
        subject,
        limit: wanted('limit', 'which limit'),
        amount: wanted('amount', 'how much more'),
        from: wanted('from', 'from when'),
        until: wanted('until', 'until when'),
        reason: wanted('reason', 'why it is given'),
        ...text('ticket'),
      };
    case 'revoke':
      return { kind, grant: wanted('grant', 'which grant') };
    case 'freeze':
      return {
        kind,
        subject,
        reason: wanted('reason', 'what developers shall read'),
        ...text('from'),
        ...text('until'),
        ...text('owner'),
      };
    case 'unfreeze':
      return { kind, freeze: wanted('freeze', 'which freeze') };
    case 'breakglass':
      return breakGlass(subject, reader);
    case 'end-breakglass':
      return { kind, breakglass: wanted('breakglass', 'which one') };
    case 'review-breakglass':
      return { kind, breakglass: wanted('breakglass', 'which one'), note: wanted('note', 'what you found') };
    case 'rollout':
      return {
        kind,
        subject,
        cost: modeOf(given('cost')),
        capacity: modeOf(given('capacity')),
      };
  }
}

const modeOf = (text: string | undefined): Mode | null => MODES.find((mode) => mode === text) ?? null;

/** Only what differs from what the form showed: so two people who change different fields do not undo each other. */
/** A new limit for each pipeline or user of a place is on a subject of its own. */
function setLimit(place: string, { values, was, given, wanted }: Reader): SetLimit {
  const limit = given('limit');
  const each = CAP_KINDS.find((kind) => kind === given('each'));
  const subject = each === undefined ? place : capSubject(place, each);
  const amount = wanted('amount', 'how much');
  const changed: Record<string, unknown> = {};
  for (const name of SET_FIELDS) {
    const value = values[name] ?? '';
    const before = was[name] ?? '';
    if (value === before) continue;
    changed[name] = name === 'thresholds' ? (readThresholdsText(value) ?? null) : value === '' ? null : value;
  }
  return {
    kind: 'set',
    subject,
    ...(limit === undefined ? { amount } : { limit }),
    // Names and texts of limits.yaml; limit editing refuses invalid ones by name.
    ...(changed as LimitFields),
  };
}

function breakGlass(subject: string, { given, wanted, problems }: Reader): LimitEdit {
  const users = (given('users') ?? '').split(/[\s,]+/).filter((id) => id !== '');
  if (users.some((id) => !/^[1-9]\d{0,14}$/.test(id)))
    problems.set('users', 'Ids are numbers, apart by commas.');
  const onlyProtected = given('protected') === 'yes';
  if (users.length === 0 && !onlyProtected)
    problems.set('users', 'Name people, or choose protected refs only.');
  const jobs = wanted('jobs', 'how many jobs at most');
  if (jobs !== '' && !/^[1-9]\d{0,5}$/.test(jobs)) problems.set('jobs', 'A whole number above 0.');
  const per = given('per');
  const ticket = given('ticket');
  return {
    kind: 'breakglass',
    subject,
    ...(users.length > 0 && { users: users.map(Number) }),
    ...(onlyProtected && { protected: true as const }),
    jobs: Number(jobs),
    ...((per === 'hour' || per === 'day' || per === 'once') && { per }),
    until: wanted('until', 'until when'),
    reason: wanted('reason', 'why'),
    ...(ticket !== undefined && { ticket }),
  };
}

interface OpenForm {
  readonly kind: EditKind;
  readonly form: EditForm;
  readonly context: EditFormContext;
  /** The live set. */
  readonly base: string | undefined;
}

/** The form of a kind of edit; undefined: there is nothing to edit, or it is not theirs to see. */
export async function openForm(
  deps: PagesDeps,
  kind: EditKind,
  values: Values,
  user: User,
): Promise<OpenForm | undefined> {
  const { subject, limit: limitId } = values;
  let view: SubjectView | undefined;
  let base: string | undefined;
  if (subject === undefined || subject === '') {
    if (kind !== 'end-breakglass' && kind !== 'review-breakglass') return undefined;
    base = (await deps.desk.live())?.pointer.set;
  } else {
    view = await deps.read.subject(subject, limitId === undefined ? {} : { limit: limitId }, user);
    if (view === undefined) return undefined;
    base = view.set;
  }
  const limit = kind === 'grant' ? undefined : view?.limits.find(({ id }) => id === limitId);
  if (kind === 'set' && limitId !== undefined && limit === undefined) return undefined;
  const today = writtenDay(deps.clock.nowMs(), view?.zone ?? deps.zone);
  const context = { view, limit, today };
  return { kind, form: editForm(kind, context), context, base };
}

/**
 * A new limit that is there already: the form to change that one, with the amount and the reason that were typed. The rest
 * stays as it stands, above all the mode, which the form of a new limit only proposes.
 */
export function standingOf({ kind, context, base }: OpenForm, values: Values): EditFormView | undefined {
  const { subject = '', unit, per, amount = '', why = '' } = values;
  if (kind !== 'set' || values.limit !== undefined || (values.each ?? '') !== '') return undefined;
  const limit = context.view?.limits.find(
    (each) =>
      each.byDefault !== true && each.kind === unit && withoutDay(each.id) === `${unit}-${per || 'now'}`,
  );
  if (limit === undefined) return undefined;
  const form = editForm('set', { ...context, limit });
  const note = 'There is such a limit already, so this changes it. Its mode and all else stay as they are.';
  const typed = { ...form.values, amount, why };
  const along = { subject, limit: limit.id, ...asHiddenFields(form.values), base: base ?? '' };
  return untouched('set', { ...form, note }, { ...along, ...typed });
}

/** Original values are kept under these names, so that only changes are sent. */
const WAS = 'was.';

export const asHiddenFields = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${WAS}${name}`, value]));

export const wasOf = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(WAS) ? [[name.slice(WAS.length), value]] : [],
    ),
  );
