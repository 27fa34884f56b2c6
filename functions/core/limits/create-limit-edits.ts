/**
 * Limit editing: the way to edit limits for the command line (but `limits publish`), CSV and SSM imports, the API and the console. Every
 * edit is checked as a whole against its author's rights, and is published completely or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and
 * in edits and rows two more: `personal` (every personal namespace) and a pattern of group paths,
 * `groups/acme/team-?` (the default of all that match).
 */
import { breakGlassCounter } from '../../../policies/limits/break-glass.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { applyEdits, fileRequest } from './apply-edits.ts';
import { toApprove } from './approval.ts';
import { loggedChanges, readEntry, readHistory } from './change-log.ts';
import { subjectPath } from './change-rows.ts';
import type {
  BreakGlassState,
  GrantRequestInput,
  HistoryQuery,
  LimitEdit,
  RequestDecision,
} from './edit-model.ts';
import type { DecideOutcome, EditAuthor, GrantRequest, LimitRequest, Requester } from './edit-outcomes.ts';
import { type LimitEditsDeps, LimitReads } from './limit-reads.ts';
import type { LimitPointer, LimitTable } from './limit-table.ts';
import { oversubscriptionOf, plan, touchedBy, visibleRows } from './plan-edits.ts';
import {
  fingerprintOf,
  isDecided,
  isOwn,
  readEdits,
  readRequests,
  requesterOf,
  type StoredRequest,
  writeRequest,
} from './requests.ts';
import { approversOf, mayApprove, mayBeSame, mayDo } from './rights.ts';

const PREVIEWER = 'you';

export type LimitEdits = ReturnType<typeof createLimitEdits>;

/** Keep one per process: it remembers the live set. Every call throws {@link LimitsError}. */
export function createLimitEdits(deps: LimitEditsDeps) {
  const reads = new LimitReads(deps);
  const { table } = deps;
  return {
    live: () => reads.live(),
    /** A set as written; for an undefined `set`, the limits packed with the code. Undefined if it is gone. */
    at: (set: string | undefined) => reads.baseIfThere(set),
    /** The effect of edits of `base`. Writes nothing and checks no rights. */
    preview: (edits: readonly LimitEdit[], base: string | undefined) => preview(edits, base, reads),
    apply: (edits: readonly LimitEdit[], by: EditAuthor) => applyEdits(edits, by, reads),
    history: (query: HistoryQuery) => readHistory(query, table),
    edit: (edit: number) => readEntry(edit, table),
    request: (grant: GrantRequestInput, by: Requester) => fileRequest(grant, by, reads),
    /** Requests that the user may see, newest first. */
    requests: async (by: Requester) => {
      const { context } = await reads.inForce();
      const all = await readRequests(table, context.nowMs);
      return all
        .map(({ request }) => request)
        .filter((request) => isOwn(request, by) || mayDo('view', request.subject, by.rights, context));
    },
    requested: (id: string) => requestedEdits(id, reads),
    /** Approves (gives the grant, or makes the edit live) or declines. The requester never decides. */
    decide: (id: string, decision: RequestDecision, by: Requester) => decideRequest(id, decision, by, reads),
    breakGlasses: () => breakGlassStates(reads),
  };
}

async function preview(edits: readonly LimitEdit[], base: string | undefined, reads: LimitReads) {
  const { deps } = reads;
  const [{ live, directory, nowMs }, before] = await Promise.all([reads.inForce(), reads.base(base)]);
  // New ids in a preview differ from the final ones.
  const planned = plan(edits, before, { deps, directory, by: { actor: PREVIEWER, nowMs } });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems } as const;
  const { after, rows, toConfirm: needsConfirmation, lockout } = planned;
  const subjects = new Set(rows.map(({ subject }) => subject));
  const stale = live?.pointer.set !== base;
  return {
    outcome: 'valid' as const,
    /** The set these are edits of is not live (any more): `apply` would refuse. */
    stale,
    /** Edits of others since, to the same subjects. */
    ...(stale && { theirs: visibleRows(rows, { before, live, directory, nowMs }) }),
    ...{ ...after, rows, needsConfirmation, lockout },
    oversubscription: touchedBy(oversubscriptionOf(after.limits, directory, nowMs), subjects, directory),
    // The log covers only published limits.
    needsApproval: stale ? [] : await toApprove(rows, planned.between, deps),
  };
}

async function breakGlassStates(reads: LimitReads): Promise<readonly BreakGlassState[]> {
  const { directory, read, nowMs } = await reads.inForce();
  const { breakGlasses: glasses = [] } = read.limits;
  if (glasses.length === 0) return [];
  // A glass that is over is read for its last period.
  const counters = await reads.deps.ledger.readCounters(
    glasses.map((glass) => breakGlassCounter(glass, Math.min(nowMs, glass.untilMs - 1))),
  );
  const states = glasses.map((glass, index): BreakGlassState => {
    const { users, owner: _, byUser: __, reviewed, ...rest } = glass;
    return {
      ...rest,
      ...withoutAbsent({ path: subjectPath(glass.subject, directory) }),
      users: [...users],
      used: counters[index]?.committed ?? 0,
      open: isValidAt(glass, nowMs),
      toReview: reviewed === undefined,
      ...withoutAbsent({ reviewedBy: reviewed?.by, note: reviewed?.note }),
    };
  });
  return states.sort((a, b) => b.fromMs - a.fromMs);
}

const TRIES_MAX = 5;
const TEXT_CHARACTERS_MAX = 500;
/** Clocks of programs differ by minutes. */
const CLOCKS_DIFFER_MS = 3_600_000;

/**
 * Writes the decision first, conditionally: only one decider wins. Then the grant or edit is published under the request's id.
 * After a crash in between, approving again continues.
 */
async function decideRequest(
  id: string,
  { decision, note }: RequestDecision,
  by: Requester,
  reads: LimitReads,
): Promise<DecideOutcome> {
  const { table } = reads.deps;
  const { context, nowMs } = await reads.inForce();
  const stored = await find(id, table, nowMs);
  if (stored === undefined) return { outcome: 'unknown' };
  const { request } = stored;
  const needs = approversOf(request, context);
  if (!mayApprove(request, by.rights, context)) return { outcome: 'forbidden', act: 'approve', needs };
  if (mayBeSame(requesterOf(request), by)) return { outcome: 'forbidden', act: 'approve', needs, own: true };
  if (isDecided(request)) return { outcome: 'decided', request };
  const isMissing = decision === 'decline' && note.trim() === '';
  if (isMissing || (note ?? '').length > TEXT_CHARACTERS_MAX) {
    const message = `expected why, in at most ${TEXT_CHARACTERS_MAX} characters`;
    return { outcome: 'invalid', problems: [{ path: ['note'], message }] };
  }
  const decided: LimitRequest = {
    ...request,
    state: decision === 'approve' ? 'approved' : 'declined',
    decidedBy: by.actor,
    decidedAtMs: nowMs,
    ...withoutAbsent({ decidedByUser: by.userId, note }),
  };
  // It was approved, and the grant may be in progress.
  if (decided.state === 'declined' && request.state === 'approved') return { outcome: 'decided', request };
  const rev = stored.rev + 1;
  if (!(await writeRequest({ rev, request: decided }, table))) {
    const now = await find(id, table, nowMs);
    return now === undefined ? { outcome: 'unknown' } : { outcome: 'decided', request: now.request };
  }
  if (decided.state === 'declined') return { outcome: 'declined', request: decided };
  const made = await makeLive(decided, request.state === 'approved', by, reads);
  if (made.outcome !== 'made') {
    const { decidedBy: _, decidedByUser: __, decidedAtMs: ___, note: ____, ...pending } = decided;
    await writeRequest({ rev: rev + 1, request: { ...pending, state: 'pending' } }, table);
    return made;
  }
  const done: LimitRequest = { ...decided, granted: true };
  // False: another process continued the same request with the same result.
  await writeRequest({ rev: rev + 1, request: done }, table);
  return { outcome: 'approved', request: done, pointer: made.pointer };
}

const find = async (id: string, table: LimitTable, nowMs: number): Promise<StoredRequest | undefined> =>
  (await readRequests(table, nowMs)).find(({ request }) => request.id === id);

type Made =
  | { readonly outcome: 'made'; readonly pointer: LimitPointer }
  | Extract<DecideOutcome, { outcome: 'invalid' | 'stale' | 'busy' }>;

/** @param again - it was approved before, and may be live. @throws {LimitsError} it may be live or not */
async function makeLive(
  request: LimitRequest,
  again: boolean,
  by: Requester,
  reads: LimitReads,
): Promise<Made> {
  const { table } = reads.deps;
  const { id, requestedBy, requestedByUser, requestedAtMs, reason, edit } = request;
  const edits = edit === undefined ? [grantOf(request)] : await readEdits(id, table);
  const what = edit === undefined ? 'more' : 'it';
  const origin = {
    ...{ id, requestedBy },
    ...withoutAbsent({
      requestedByUser,
      edits: edit && { atMs: requestedAtMs, fingerprint: edit.fingerprint },
    }),
  };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const before = again || tries > 1 ? await madeBefore(request, table) : undefined;
    if (before !== undefined) return { outcome: 'made', pointer: before };
    if (edits === undefined) break;
    const live = await reads.live();
    const author = {
      ...by,
      why: `${requestedBy} asked for ${what}: ${reason}`.slice(0, TEXT_CHARACTERS_MAX),
      source: `request ${id}`,
      base: live?.pointer.set,
      confirmed: true,
    };
    const outcome = await applyEdits(edits, author, reads, origin);
    if (outcome.outcome === 'live') return { outcome: 'made', pointer: outcome.pointer };
    if (outcome.outcome === 'invalid') return outcome;
    const isRaced = outcome.outcome === 'stale' && outcome.live?.pointer.set !== live?.pointer.set;
    if (isRaced) continue;
    const others = await madeBefore(request, table);
    return others === undefined ? { outcome: 'stale', request } : { outcome: 'made', pointer: others };
  }
  return edits === undefined ? { outcome: 'stale', request } : { outcome: 'busy' };
}

const grantOf = ({ subject, limit, amount, from, until, reason, ticket }: GrantRequest): LimitEdit => ({
  ...{ kind: 'grant', subject, limit, amount, from, until, reason },
  ...withoutAbsent({ ticket }),
});

/** Looks through the edits since it was requested. */
async function madeBefore(
  { id, requestedAtMs }: LimitRequest,
  table: LimitTable,
): Promise<LimitPointer | undefined> {
  for await (const { edit, logged } of loggedChanges(table)) {
    const { request, set, atMs } = logged;
    if (request === id) return { set, edit, atMs };
    if (atMs < requestedAtMs - CLOCKS_DIFFER_MS) return undefined;
  }
  return undefined;
}

/** Undefined: there is no such request, or it carries no edits. `stale`: it can no longer be approved. @throws {LimitsError} */
async function requestedEdits(id: string, reads: LimitReads) {
  const { deps } = reads;
  const { directory, read, nowMs } = await reads.inForce();
  const found = (await find(id, deps.table, nowMs))?.request;
  const edits = found?.edit && (await readEdits(id, deps.table));
  if (found?.edit === undefined || edits === undefined) return undefined;
  const { requestedBy: actor, requestedAtMs: writtenAtMs } = found;
  const planned = plan(edits, read, { deps, directory, by: { actor, nowMs, writtenAtMs } });
  return { edits, stale: !planned.ok || fingerprintOf(planned.rows) !== found.edit.fingerprint };
}
