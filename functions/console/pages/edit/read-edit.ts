import { type DocumentProblem, problemText } from '../../../../policies/document/reading.ts';
import { CAP_KINDS, capSubject } from '../../../../policies/limits/cap.ts';
import { limitFields } from '../../../../policies/limits/limit-fields.ts';
import { MODES } from '../../../../policies/mode.ts';
import { LIMIT_KINDS } from '../../../../policies/unit.ts';
import { readThresholdsText } from '../../../core/limits/csv/columns.ts';
import { type LimitEdit, type LimitFields, SCALED_KINDS } from '../../../core/limits/edit-model.ts';
import type { Field, FieldProblems, Values } from '../parts/form-field.tsx';
import { type EditForm, type EditKind, fieldsOf, writtenValues } from './forms.ts';

const PROBLEMS_SHOWN = 50;
const AMOUNTS: ReadonlySet<string> = new Set(LIMIT_KINDS);

export function byField(
  found: readonly DocumentProblem[],
  fields: readonly Field[],
): { readonly problems: FieldProblems; readonly others: readonly string[] } {
  const names = new Set(fields.map(({ name }) => name));
  const problems = new Map<string, string>();
  const others: string[] = [];
  for (const problem of found.slice(0, PROBLEMS_SHOWN)) {
    // A limit's amount is named by its unit.
    const steps = problem.path.map((step) => (AMOUNTS.has(String(step)) ? 'amount' : String(step)));
    const name = steps.findLast((step) => names.has(step));
    if (name === undefined || problems.has(name)) others.push(problemText(problem));
    else problems.set(name, problem.message);
  }
  return { problems, others };
}

export const REQUIRED = 'Fill this in.';

type ReadEdit =
  | { readonly ok: true; readonly edit: LimitEdit; readonly why: string }
  | { readonly ok: false; readonly problems: FieldProblems };

/** Values that a page names besides the fields of its form. */
export const NAMED = ['subject', 'limit', 'grant', 'freeze', 'breakglass'] as const;

/** Converts a form's fields to an edit. Limit editing checks everything else, and refuses invalid texts by name. */
export function readEdit(
  kind: EditKind,
  form: EditForm,
  sent: Values,
  was: Values,
  currency: string,
): ReadEdit {
  const problems = new Map<string, string>();
  const values = writtenValues(sent, was, currency, problems);
  const fields = fieldsOf(form);
  for (const { name, required, options } of fields)
    if (required && options === undefined && !values[name]) problems.set(name, REQUIRED);
  const given = [...NAMED, ...fields.map(({ name }) => name)].filter(
    (name) => name !== 'why' && values[name],
  );
  const plain = Object.fromEntries(given.map((name) => [name, values[name]]));
  const why = values.why || values.reason || values.note;
  const meant = kind === 'set' ? setLimit(values, was) : { ...plain, ...MORE[kind]?.(values, problems) };
  const edit = { kind, ...meant } as LimitEdit;
  return problems.size > 0 ? { ok: false, problems } : { ok: true, edit, why: why ?? '' };
}

type More = (values: Values, problems: Map<string, string>) => object;

const modeOf = (text: string | undefined) => MODES.find((mode) => mode === text) ?? null;

const MORE: Readonly<Partial<Record<EditKind, More>>> = {
  scale: ({ unit, below }) => ({ unit: SCALED_KINDS.find((each) => each === unit), below: below !== 'no' }),
  breakglass: breakGlass,
  rollout: ({ cost, capacity }) => ({ cost: modeOf(cost), capacity: modeOf(capacity) }),
};

/** No form has all of them; those it does not have do not change. */
const SET_FIELDS: readonly string[] = ['unit', 'amount', ...limitFields.map(({ name }) => name)];

/**
 * Only what differs from what the form showed: so two people who change different fields do not undo each other. A new limit for
 * each pipeline or user of a place is on a subject of its own.
 */
function setLimit(values: Values, was: Values): object {
  const { subject = '', limit, each } = values;
  const cap = CAP_KINDS.find((kind) => kind === each);
  const changed: Record<string, unknown> = {};
  for (const name of SET_FIELDS) {
    const value = values[name] ?? '';
    if (value === (was[name] ?? '')) continue;
    changed[name] = name === 'thresholds' ? (readThresholdsText(value) ?? null) : value || null;
  }
  return {
    subject: cap === undefined ? subject : capSubject(subject, cap),
    amount: limit ? undefined : values.amount,
    ...(limit && { limit }),
    ...(changed as LimitFields),
  };
}

function breakGlass({ users: text = '', protected: refs, jobs = '' }: Values, problems: Map<string, string>) {
  const users = text.split(/[\s,]+/).filter((id) => id !== '');
  const onlyProtected = refs === 'yes';
  if (users.some((id) => !/^[1-9]\d{0,14}$/.test(id)))
    problems.set('users', 'Ids are numbers, apart by commas.');
  if (users.length === 0 && !onlyProtected)
    problems.set('users', 'Name people, or choose protected refs only.');
  if (jobs !== '' && !/^[1-9]\d{0,5}$/.test(jobs)) problems.set('jobs', 'A whole number above 0.');
  return {
    ...(users.length > 0 && { users: users.map(Number) }),
    ...(onlyProtected && { protected: true }),
    jobs: Number(jobs),
  };
}
