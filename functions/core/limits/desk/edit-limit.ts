import { readInstant } from '../../../../policies/document/values.ts';
import { type Limit, lineOf } from '../../../../policies/limits/limit.ts';
import { isValidAt } from '../../../../policies/limits/period.ts';
import { LIMIT_KINDS, type LimitKind } from '../../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { Entry, LimitsDraft } from './draft.ts';
import type { LimitEdit, LimitFields, SetLimit } from './limit-edit.ts';
import {
  type LimitList,
  limitListOf,
  SUBJECTS_EXPECTED,
  subjectOf,
  subjectOfEntry,
  writtenSubject,
} from './subject-text.ts';

const kindOf = (entry: Entry): LimitKind | undefined =>
  LIMIT_KINDS.find((kind) => entry[kind] !== undefined && entry[kind] !== null);

/** As the parser makes it where none is written. */
const idOf = (entry: Entry): string =>
  typeof entry.id === 'string' ? entry.id : `${kindOf(entry)}-${entry.per ?? 'now'}`;

/** When it is in force, on the calendar of its zone. */
export function spanOf(entry: Entry): Pick<Limit, 'id' | 'fromMs' | 'untilMs' | 'zone'> {
  const zone = typeof entry.zone === 'string' ? entry.zone : 'UTC';
  const at = (edge: unknown, which: 'start' | 'end'): number | undefined =>
    typeof edge === 'string' ? readInstant(edge, which, zone) : undefined;
  const edges = withoutAbsent({ fromMs: at(entry.from, 'start'), untilMs: at(entry.until, 'end') });
  return { id: idOf(entry), zone, ...edges };
}

type NamesOf = Readonly<Record<LimitList, (entry: Entry) => string>>;

const namesBy = (name: (entry: Entry) => string): NamesOf => {
  const of = (list: LimitList) => (entry: Entry) => limitName(subjectOfEntry(list, entry) ?? '', name(entry));
  return {
    limits: of('limits'),
    personal_default: of('personal_default'),
    group_defaults: of('group_defaults'),
  };
};

const limitName = (subject: string, limit: string): string => `${subject} ${limit}`;

const NAME_OF = namesBy(idOf);
/** One key for a limit and its successors. */
const LINE_OF = namesBy((entry) => lineOf(spanOf(entry)));

const findLine = (draft: LimitsDraft, subject: string, line: string): readonly Entry[] => {
  const list = limitListOf(subject);
  return draft.findAll(list, limitName(subject, line), LINE_OF[list]);
};

export const findLimit = (draft: LimitsDraft, subject: string, limit: string): Entry | undefined => {
  const list = limitListOf(subject);
  return draft.find(list, limitName(subject, limit), NAME_OF[list]);
};

export function setLimit(draft: LimitsDraft, edit: SetLimit): undefined {
  const { subject } = edit;
  const on = writtenSubject(subject);
  if (on === undefined) return draft.refuse('subject', `'${subject}'; expected ${SUBJECTS_EXPECTED}`);
  const limit = edit.limit ?? (edit.unit && `${edit.unit}-${edit.per ?? 'now'}`);
  if (limit === undefined)
    return draft.refuse('limit', 'missing; expected the id of a limit, or unit and per of a new one');
  // Without an id, the limit that is in force now is meant.
  const inForce = edit.limit === undefined ? findLine(draft, subject, limit).find(isNow) : undefined;
  const entry = inForce ?? findLimit(draft, subject, limit);
  if (entry === undefined) return addLimit(draft, edit, limit, on);
  const unit = kindOf(entry);
  if (edit.unit !== undefined && edit.unit !== unit)
    return draft.refuse(
      'unit',
      `'${edit.unit}'; ${limit} counts ${unit}: remove it, and add one that counts ${edit.unit}`,
    );
  const per = edit.per === undefined ? entry.per : (edit.per ?? undefined);
  if (per !== entry.per && entry.id === undefined)
    return draft.refuse(
      'per',
      `'${per}'; ${limit} is named by its period: remove it, and add one per ${per}`,
    );
  return draft.put(limitListOf(subject), entry, withFields(entry, unit, edit));

  function isNow(each: Entry): boolean {
    return isValidAt(spanOf(each), draft.context.nowMs);
  }
}

function addLimit(draft: LimitsDraft, edit: SetLimit, limit: string, on: Entry): undefined {
  const { unit, amount, subject } = edit;
  if (unit === undefined || amount === undefined)
    return draft.refuse(
      unit === undefined ? 'unit' : 'amount',
      `missing; ${subject} has no limit ${limit}, and a new one needs unit and amount`,
    );
  const fresh = withFields({ ...on, [unit]: amount }, unit, edit);
  return draft.add(limitListOf(subject), idOf(fresh) === limit ? fresh : { ...fresh, id: limit });
}

const FIELDS = [
  ...['per', 'zone', 'fiscal_start', 'soft', 'grace', 'overdraft', 'mode', 'thresholds'],
  ...[
    'when_unreachable',
    'wait',
    'cohort',
    'borrow',
    'lend',
    'owner',
    'contact',
    'cost_center',
    'from',
    'until',
    'reason',
  ],
] as const satisfies readonly (keyof LimitFields)[];

function withFields(entry: Entry, unit: LimitKind | undefined, edit: LimitFields): Entry {
  const next: Record<string, unknown> = { ...entry };
  if (edit.amount !== undefined && unit !== undefined) next[unit] = edit.amount;
  for (const field of FIELDS) put(next, field, edit[field]);
  put(next, 'carry', edit.carry === null || edit.carry === undefined ? edit.carry : { max: edit.carry });
  return next;
}

function put(entry: Record<string, unknown>, field: string, value: unknown): void {
  if (value === null) delete entry[field];
  else if (value !== undefined) entry[field] = value;
}

const limitOfGrant = (grant: Entry): string => limitName(subjectOf(grant.on) ?? '', String(grant.limit));

/** Removes the grants on it, too, unless they go on with the limit that took over. */
export function removeLimit(
  draft: LimitsDraft,
  { subject, limit }: Extract<LimitEdit, { kind: 'remove' }>,
): undefined {
  const entry = findLimit(draft, subject, limit);
  if (entry === undefined)
    return draft.refuse('limit', `'${limit}'; ${subject} has no such limit of its own`);
  draft.put(limitListOf(subject), entry, undefined);
  if (findLine(draft, subject, lineOf(spanOf(entry))).length > 0) return undefined;
  for (const grant of draft.findAll('grants', limitName(subject, limit), limitOfGrant))
    draft.put('grants', grant, undefined);
  return undefined;
}
