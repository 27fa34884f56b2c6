/** Applies edits to a limits document. Checks of the result follow later. */
import { type DocumentProblem, isRecord } from '../../../policies/document/reading.ts';
import { readDecimal, readInstant } from '../../../policies/document/values.ts';
import { readWrittenAmount } from '../../../policies/document/written.ts';
import { parseCap } from '../../../policies/limits/cap.ts';
import { type Limit, limitLine } from '../../../policies/limits/limit.ts';
import { limitFields } from '../../../policies/limits/limit-fields.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { LIMIT_KINDS, type LimitKind, writtenUnits } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { GiveGrant, LimitEdit, LimitFields, ScaleLimits, SetLimit } from './edit-model.ts';
import type { LimitRequest, Person } from './edit-outcomes.ts';
import type { LimitsDocument } from './limit-set.ts';
import { rolledOutSubject, writtenSecond } from './publish-limits.ts';
import {
  idOf,
  kindOf,
  limitListOf,
  madeId,
  SUBJECTS_EXPECTED,
  subjectOf,
  subjectOfEntry,
  writtenField,
  writtenSubject,
} from './subject-text.ts';

type Entry = Readonly<Record<string, unknown>>;

type Of<Kind extends LimitEdit['kind']> = Extract<LimitEdit, { readonly kind: Kind }>;

export interface EditContext extends Person {
  readonly nowMs: number;
  /** The written timestamp. @default nowMs */
  readonly writtenAtMs?: number;
  readonly newId: () => string;
  /** IANA zone of the days of freezes and break-glasses. @default UTC */
  readonly zone?: string;
  /** Returns true if a subject is below a group or project. @default never */
  readonly reaches?: (above: string, subject: string) => boolean;
  /** A request that was approved. `edits`: the time of the request, and the fingerprint of their result. */
  readonly request?: Pick<LimitRequest, 'id' | 'requestedBy' | 'requestedByUser'> & {
    readonly edits?: { readonly atMs: number; readonly fingerprint: string };
  };
}

/** A document while it is being edited: entries are replaced, nothing of the live one is touched. */
class LimitsDraft {
  readonly context: EditContext;
  readonly problems: DocumentProblem[] = [];
  #rest: LimitsDocument;
  readonly #lists = new Map<string, Entry[]>();
  /** The last edit of each entry; problems are reported at that edit. */
  readonly #editOf = new Map<Entry, number>();
  #edit = 0;

  constructor(document: LimitsDocument, context: EditContext) {
    this.#rest = document;
    this.context = context;
  }

  begin(edit: number): void {
    this.#edit = edit;
  }

  replace(document: LimitsDocument): undefined {
    this.#rest = document;
    this.#lists.clear();
    this.#editOf.clear();
  }

  refuse(field: string, message: string): undefined {
    this.problems.push({ path: ['edits', this.#edit, field], message });
  }

  list(name: string): Entry[] {
    const value = this.#rest[name];
    const list = this.#lists.get(name) ?? (Array.isArray(value) ? value.filter(isRecord) : []);
    this.#lists.set(name, list);
    return list;
  }

  add(name: string, entry: Entry): undefined {
    this.list(name).push(entry);
    this.#editOf.set(entry, this.#edit);
  }

  put(name: string, entry: Entry, next: Entry | undefined): undefined {
    const list = this.list(name);
    list.splice(list.indexOf(entry), 1, ...(next === undefined ? [] : [next]));
    if (next !== undefined) this.#editOf.set(next, this.#edit);
  }

  get document(): LimitsDocument {
    const edited = [...this.#lists].filter(
      ([name, all]) => all.length > 0 || Object.hasOwn(this.#rest, name),
    );
    return { ...this.#rest, ...Object.fromEntries(edited) };
  }

  /** Moves a problem of the document to the edit that caused it: `edits[3].amount`. */
  atEdit(problem: DocumentProblem): DocumentProblem {
    const [name, index, field, ...rest] = problem.path;
    if (typeof name !== 'string' || typeof index !== 'number') return problem;
    const entry = this.#lists.get(name)?.[index];
    const edit = entry && this.#editOf.get(entry);
    if (edit === undefined) return problem;
    const editField = field === undefined ? [] : [EDIT_FIELDS[field] ?? field, ...rest];
    return { ...problem, path: ['edits', edit, ...editField] };
  }
}

/** Edits call the number `amount` for any unit. */
const EDIT_FIELDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LIMIT_KINDS.map((kind) => [kind, 'amount'])),
  on: 'subject',
};

/** The span in which an entry is in force, on the calendar of its zone. */
function spanOf(
  entry: Entry,
  { zone: written }: Entry = entry,
): Pick<Limit, 'id' | 'fromMs' | 'untilMs' | 'zone'> {
  const zone = typeof written === 'string' ? written : 'UTC';
  const at = (edge: unknown, which: 'start' | 'end'): number | undefined =>
    typeof edge === 'string' ? readInstant(edge, which, zone) : undefined;
  const edges = withoutAbsent({ fromMs: at(entry.from, 'start'), untilMs: at(entry.until, 'end') });
  return { id: idOf(entry), zone, ...edges };
}

const findLine = (draft: LimitsDraft, subject: string, line: string): readonly Entry[] =>
  limitsOf(draft, subject).filter((entry) => limitLine(spanOf(entry)) === line);

const findLimit = (draft: LimitsDraft, subject: string, limit: string): Entry | undefined =>
  limitsOf(draft, subject).find((entry) => idOf(entry) === limit);

function limitsOf(draft: LimitsDraft, subject: string): readonly Entry[] {
  const list = limitListOf(subject);
  return draft.list(list).filter((entry) => subjectOfEntry(list, entry) === subject);
}

function setLimit(draft: LimitsDraft, edit: SetLimit): undefined {
  const { subject } = edit;
  const on = writtenSubject(subject);
  if (on === undefined) return draft.refuse('subject', `'${subject}'; expected ${SUBJECTS_EXPECTED}`);
  const limit = edit.limit ?? (edit.unit && madeId(edit.unit, edit.per ?? ''));
  if (limit === undefined)
    return draft.refuse('limit', 'missing; expected the id of a limit, or unit and per of a new one');
  // Without an id, the limit that is in force now is meant.
  const isNow = (each: Entry): boolean => isValidAt(spanOf(each), draft.context.nowMs);
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

function withFields(entry: Entry, unit: LimitKind | undefined, edit: LimitFields): Entry {
  const next: Record<string, unknown> = { ...entry };
  if (edit.amount !== undefined && unit !== undefined) next[unit] = edit.amount;
  for (const { name } of limitFields) put(next, name, writtenField(name, edit[name]));
  return next;
}

function put(entry: Record<string, unknown>, field: string, value: unknown): void {
  if (value === null) delete entry[field];
  else if (value !== undefined) entry[field] = value;
}

/** Removes the grants on it, too, unless they go on with the limit that took over. */
function removeLimit(draft: LimitsDraft, { subject, limit }: Of<'remove'>): undefined {
  const entry = findLimit(draft, subject, limit);
  if (entry === undefined)
    return draft.refuse('limit', `'${limit}'; ${subject} has no such limit of its own`);
  draft.put(limitListOf(subject), entry, undefined);
  if (findLine(draft, subject, limitLine(spanOf(entry))).length > 0) return undefined;
  for (const grant of [...draft.list('grants')])
    if (subjectOf(grant.on) === subject && grant.limit === limit) draft.put('grants', grant, undefined);
  return undefined;
}

// Scales all limits of a kind in a subtree by a share. An empty result is no change.

const SHARE = /^[-+]\s*\d{1,4}(?:[.,]\d{1,3})?\s*%$/;

function scaleLimits(draft: LimitsDraft, edit: ScaleLimits): undefined {
  const { subject, unit = 'money', round, below = true } = edit;
  const share = edit.by.replace(/^([-+])\s+/, '$1').trim();
  if (!SHARE.test(share)) return draft.refuse('by', `'${edit.by}'; expected a share such as +8% or -12.5%`);
  const step = round === undefined ? 1 : microsOf(round);
  if (step === 0) return draft.refuse('round', `'${round}'; expected a step above 0, such as 10 or 0.5`);
  const { reaches } = draft.context;
  const meant = draft.list('limits').filter((entry) => {
    const of = subjectOfEntry('limits', entry);
    // A cap is a bound for one pipeline or user, and no budget.
    if (of === undefined || parseCap(of) !== undefined || microsOf(entry[unit]) === 0) return false;
    const { untilMs = Number.POSITIVE_INFINITY } = spanOf(entry);
    if (untilMs <= draft.context.nowMs) return false;
    return of === subject || (below && (subject === 'instance' || reaches?.(subject, of) === true));
  });
  for (const entry of meant) {
    const was = String(entry[unit]);
    // A share has no currency.
    const read = readWrittenAmount(share, { currency: '', was });
    if (!read.ok) return draft.refuse('by', read.message);
    draft.put('limits', entry, {
      ...entry,
      [unit]: round === undefined ? read.text : rounded(read.text, step),
    });
  }
  return undefined;
}

/** 0 also for what is no amount to be scaled: none of the kind, and `unlimited`. */
function microsOf(written: unknown): number {
  const read = readDecimal(written, 1_000_000);
  return read.ok ? read.amount : 0;
}

/** To the nearest step, a half up; never to nothing, which would block. */
function rounded(text: string, step: number): string {
  return writtenUnits(Math.max(step, Math.round(microsOf(text) / step) * step), 'money');
}

/* Grants, freezes, break-glasses and rollouts. */

type WithId = 'grants' | 'freezes' | 'breakglass';

function addEntry(draft: LimitsDraft, list: WithId, subject: string, fields: Entry): undefined {
  const on = writtenSubject(subject);
  if (on === undefined || !('on' in on) || subjectOf(on.on) !== subject) {
    const expected = SUBJECTS_EXPECTED.split(', personal')[0];
    return draft.refuse('subject', `'${subject}'; expected one of its own, such as ${expected}`);
  }
  const { actor, userId, newId, zone = 'UTC' } = draft.context;
  return draft.add(list, {
    ...on,
    id: `${list[0]}-${newId()}`,
    // A grant's days are its limit's; everything else names its zone.
    ...(list !== 'grants' && zone !== 'UTC' && { zone }),
    ...withoutAbsent(fields),
    by: actor,
    ...withoutAbsent({ by_user: userId }),
  });
}

function giveGrant(draft: LimitsDraft, { kind: _, ...edit }: GiveGrant): undefined {
  const { subject, ...grant } = edit;
  if (writtenSubject(subject) !== undefined && findLimit(draft, subject, edit.limit) === undefined)
    return draft.refuse('limit', `'${edit.limit}'; ${subject} has no such limit of its own to add to`);
  const { request, actor, userId } = draft.context;
  return addEntry(draft, 'grants', subject, {
    ...grant,
    ...(request !== undefined && {
      ...(request.edits === undefined && { id: request.id }),
      requested_by: request.requestedBy,
      requested_by_user: request.requestedByUser,
      approved_by: actor,
      approved_by_user: userId,
    }),
  });
}

const ENTRY_NAMES = { grants: 'grant', freezes: 'freeze', breakglass: 'breakglass' } as const;

/** Entries without an id are called by their place: `grant-3`. Undefined after a `refuse`. */
function findEntry(draft: LimitsDraft, list: WithId, id: string): Entry | undefined {
  const name = ENTRY_NAMES[list];
  const entries = draft.list(list);
  const found =
    entries.find((each) => each.id === id) ??
    entries.find((each, index) => each.id === undefined && `${name}-${index + 1}` === id);
  const what = list === 'breakglass' ? 'break-glass' : name;
  return found ?? draft.refuse(name, `'${id}'; no ${what} has this id`);
}

function reviewBreakGlass(draft: LimitsDraft, { breakglass, note }: Of<'review-breakglass'>): undefined {
  const glass = findEntry(draft, 'breakglass', breakglass);
  if (glass === undefined) return undefined;
  const { actor, userId } = draft.context;
  const reviewed = { by: actor, ...withoutAbsent({ by_user: userId }), at: writtenNow(draft), note };
  return draft.put('breakglass', glass, { ...glass, reviewed });
}

function rollOut(draft: LimitsDraft, { subject, cost, capacity, reportedMs }: Of<'rollout'>): undefined {
  if (!/^(?:instance|(?:group|project)\/[1-9]\d{0,14})$/.test(subject))
    return draft.refuse('subject', `'${subject}'; expected instance, group/<id> or project/<id>`);
  const [kind = '', id] = subject.split('/');
  const entry = draft.list('rollout').find((each) => rolledOutSubject(each) === subject);
  const next: Record<string, unknown> =
    entry === undefined ? { [kind]: id === undefined ? true : Number(id) } : { ...entry };
  put(next, 'cost', cost);
  put(next, 'capacity', capacity);
  put(next, 'reported', reportedMs && writtenSecond(reportedMs));
  const says = ['cost', 'capacity', 'reported'].some((field) => next[field] !== undefined);
  if (entry !== undefined) return draft.put('rollout', entry, says ? next : undefined);
  return says ? draft.add('rollout', next) : undefined;
}

/** Ends a started entry now and keeps it for reports; an entry that has not started is removed. */
function end(draft: LimitsDraft, list: WithId, id: string): undefined {
  const entry = findEntry(draft, list, id);
  if (entry === undefined) return undefined;
  const { nowMs, writtenAtMs = nowMs } = draft.context;
  // A grant's days are its limit's.
  const zoned = list === 'grants' ? findLimit(draft, subjectOf(entry.on) ?? '', String(entry.limit)) : entry;
  const { fromMs = Number.POSITIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = spanOf(
    entry,
    zoned ?? {},
  );
  if (untilMs <= nowMs) return draft.refuse(ENTRY_NAMES[list], `'${entry.id}'; it is over already`);
  const endMs = Math.floor(writtenAtMs / 1000) * 1000;
  const next = fromMs < endMs ? { ...entry, until: writtenSecond(endMs) } : undefined;
  return draft.put(list, entry, next);
}

const writtenNow = ({ context: { nowMs, writtenAtMs = nowMs } }: LimitsDraft): string =>
  writtenSecond(writtenAtMs);

/** Makes the edits in their order, on a copy. The result is not yet checked. */
export function editDocument(document: LimitsDocument, edits: readonly LimitEdit[], context: EditContext) {
  const draft = new LimitsDraft(document, context);
  for (const [index, edit] of edits.entries()) {
    draft.begin(index);
    make(edit, draft, edits.length);
  }
  if (draft.problems.length > 0)
    return { ok: false, problems: draft.problems as readonly DocumentProblem[] } as const;
  return { ok: true, document: draft.document, atEdit: draft.atEdit.bind(draft) } as const;
}

function make(edit: LimitEdit, draft: LimitsDraft, count: number): undefined {
  switch (edit.kind) {
    case 'set':
      return setLimit(draft, edit);
    case 'scale':
      return scaleLimits(draft, edit);
    case 'remove':
      return removeLimit(draft, edit);
    case 'grant':
      return giveGrant(draft, edit);
    case 'revoke':
      return end(draft, 'grants', edit.grant);
    case 'freeze':
    case 'breakglass': {
      const { kind, subject, from = writtenNow(draft), ...fields } = edit;
      return addEntry(draft, kind === 'freeze' ? 'freezes' : kind, subject, { from, ...fields });
    }
    case 'unfreeze': {
      const freeze = findEntry(draft, 'freezes', edit.freeze);
      return freeze && draft.put('freezes', freeze, undefined);
    }
    case 'end-breakglass':
      return end(draft, 'breakglass', edit.breakglass);
    case 'review-breakglass':
      return reviewBreakGlass(draft, edit);
    case 'rollout':
      return rollOut(draft, edit);
    case 'replace':
      if (count > 1) return draft.refuse('kind', "'replace'; expected no other edits");
      return isRecord(edit.document)
        ? draft.replace(edit.document)
        : draft.refuse('document', 'is no object; expected a limits document');
  }
}
