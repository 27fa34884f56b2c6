/**
 * Approves or declines a request. The decision is written first, conditionally, so that only one decider
 * wins. Then the grant is created under the request's id, or the requested edit is published. After a crash
 * in between, approving again continues.
 */

import { type ApplyContext, applyEdits } from './apply-edits.ts';
import {
  type Asker,
  type DecideOutcome,
  type EditRequest,
  type GrantRequest,
  type LimitRequest,
  type LiveLimits,
  mayBeSame,
  type RequestedEdits,
  type RequestVerdict,
} from './edit-model.ts';
import { TIMEOUT_MS } from './limit-editing.ts';
import type { LimitPointer, LimitTable } from './limit-table.ts';
import { plan } from './plan-edits.ts';
import { loggedChangeOf } from './publish-limits.ts';
import {
  fingerprintOf,
  isDecided,
  readEdits,
  readRequests,
  requesterOf,
  type StoredRequest,
  writeRequest,
} from './requests.ts';
import { approversOf, mayApprove } from './rights.ts';

/** Each retry means a concurrent edit within milliseconds. */
const TRIES_MAX = 5;
const NOTE_CHARACTERS_MAX = 500;
const WHY_CHARACTERS_MAX = 500;

export async function decideRequest(
  id: string,
  verdict: RequestVerdict,
  by: Asker,
  using: ApplyContext,
): Promise<DecideOutcome> {
  const { deps, reads } = using;
  const nowMs = deps.clock.nowMs();
  const stored = (await readRequests(deps.table, nowMs)).find(({ request }) => request.id === id);
  if (stored === undefined) return { outcome: 'unknown' };
  const { request } = stored;
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const { limits } = await reads.base(live?.pointer.set);
  const context = { limits, directory, nowMs };
  const needs = approversOf(request, context);
  if (!mayApprove(request, by.rights, context)) return { outcome: 'forbidden', act: 'approve', needs };
  if (mayBeSame(requesterOf(request), by)) return { outcome: 'forbidden', act: 'approve', needs, own: true };
  if (isDecided(stored)) return { outcome: 'decided', request };
  if (
    (verdict.note ?? '').length > NOTE_CHARACTERS_MAX ||
    (verdict.verdict === 'decline' && verdict.note.trim() === '')
  )
    return {
      outcome: 'invalid',
      problems: [{ path: ['note'], message: `expected why, in at most ${NOTE_CHARACTERS_MAX} characters` }],
    };
  const written = {
    ...request,
    decidedBy: by.actor,
    ...(by.userId !== undefined && { decidedByUser: by.userId }),
    decidedAtMs: nowMs,
    ...(verdict.note !== undefined && { note: verdict.note }),
  };
  if (verdict.verdict === 'decline') {
    // It was approved, and the grant may be in progress.
    if (request.state === 'approved') return { outcome: 'decided', request };
    const declined: LimitRequest = { ...written, state: 'declined' };
    if (await writeRequest({ rev: stored.rev + 1, request: declined }, deps.table))
      return { outcome: 'declined', request: declined };
    return decidedMeanwhile(id, using);
  }
  const approved: StoredRequest = { rev: stored.rev + 1, request: { ...written, state: 'approved' } };
  if (!(await writeRequest(approved, deps.table))) return decidedMeanwhile(id, using);
  const { request: now } = approved;
  if (now.edit === undefined) return giveIt(approved, now, by, using);
  const made = await makeRequested(now, by, using, request.state === 'approved');
  if (made.outcome === 'made') return granted(approved, made, using);
  await pendingAgain(approved, using);
  return made;
}

async function giveIt(
  approved: StoredRequest,
  request: GrantRequest,
  by: Asker,
  using: ApplyContext,
): Promise<DecideOutcome> {
  const { deps, reads } = using;
  const { id, requestedBy, requestedByUser, subject, limit, amount, from, until, reason, ticket } = request;
  const grant = { kind: 'grant', subject, limit, amount, from, until, reason } as const;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const live = await reads.live();
    if (live !== undefined && hasGrant(live, id)) return granted(approved, live, using);
    const outcome = await applyEdits(
      [{ ...grant, ...(ticket !== undefined && { ticket }) }],
      {
        ...by,
        why: `${requestedBy} asked for more: ${reason}`.slice(0, WHY_CHARACTERS_MAX),
        source: `request ${id}`,
        base: live?.pointer.set,
        confirmed: true,
      },
      { deps, reads, asked: { id, requestedBy, ...(requestedByUser !== undefined && { requestedByUser }) } },
    );
    if (outcome.outcome === 'live') return granted(approved, { pointer: outcome.pointer }, using);
    if (outcome.outcome === 'invalid') {
      await pendingAgain(approved, using);
      return outcome;
    }
  }
  await pendingAgain(approved, using);
  return { outcome: 'busy' };
}

async function granted(
  { rev, request }: StoredRequest,
  { pointer }: Pick<LiveLimits, 'pointer'>,
  { deps }: ApplyContext,
): Promise<DecideOutcome> {
  const done: LimitRequest = { ...request, granted: true };
  // Another process continued the same request with the same result.
  await writeRequest({ rev: rev + 1, request: done }, deps.table);
  return { outcome: 'approved', request: done, pointer };
}

async function pendingAgain({ rev, request }: StoredRequest, { deps }: ApplyContext): Promise<void> {
  const { decidedBy: _, decidedByUser: __, decidedAtMs: ___, note: ____, ...pending } = request;
  await writeRequest({ rev: rev + 1, request: { ...pending, state: 'pending' } }, deps.table);
}

async function decidedMeanwhile(id: string, { deps }: ApplyContext): Promise<DecideOutcome> {
  const all = await readRequests(deps.table, deps.clock.nowMs());
  const now = all.find(({ request }) => request.id === id);
  return now === undefined ? { outcome: 'unknown' } : { outcome: 'decided', request: now.request };
}

const hasGrant = ({ limits }: LiveLimits, id: string): boolean =>
  [...limits.bySubject.values()].some((list) =>
    list.some(({ grants = [] }) => grants.some((grant) => grant.id === id)),
  );

/** Requests that carry edits: what they come to now, and making them live once they are approved. */

/** Edits since the request was approved. */
const LOOKED_AT_MAX = 100;

/** Undefined: there is no such request, or it carries none. @throws {LimitsError} */
export async function requestedEdits(
  id: string,
  { deps, reads }: Pick<ApplyContext, 'deps' | 'reads'>,
): Promise<RequestedEdits | undefined> {
  const { table, policy, clock, newId } = deps;
  const nowMs = clock.nowMs();
  const found = (await readRequests(table, nowMs)).find(({ request }) => request.id === id)?.request;
  const edits = found?.edit && (await readEdits(id, table));
  if (found?.edit === undefined || edits === undefined) return undefined;
  const { requestedBy: actor, requestedAtMs: writtenAtMs } = found;
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const before = await reads.base(live?.pointer.set);
  const context = { actor, nowMs, writtenAtMs, newId: () => newId().toLowerCase() };
  const planned = plan(edits, before, { policy, directory, context });
  return { edits, stale: !planned.ok || fingerprintOf(planned.rows) !== found.edit.fingerprint };
}

type Made =
  | { readonly outcome: 'made'; readonly pointer: LimitPointer }
  | Extract<DecideOutcome, { outcome: 'invalid' | 'stale' | 'busy' }>;

/** @param again - it was approved before, and may be live. @throws {LimitsError} it may be live or not */
export async function makeRequested(
  request: EditRequest,
  by: Asker,
  using: ApplyContext,
  again: boolean,
): Promise<Made> {
  const { deps, reads } = using;
  const { id, requestedBy, requestedByUser, requestedAtMs, reason, edit } = request;
  const stale: Made = { outcome: 'stale', request };
  const before = again ? await madeBefore(request, deps.table) : undefined;
  if (before !== undefined) return { outcome: 'made', pointer: before };
  const edits = await readEdits(id, deps.table);
  if (edits === undefined) return stale;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const live = await reads.live();
    const outcome = await applyEdits(
      edits,
      {
        ...by,
        why: `${requestedBy} asked for it: ${reason}`.slice(0, WHY_CHARACTERS_MAX),
        source: `request ${id}`,
        base: live?.pointer.set,
        confirmed: true,
      },
      {
        deps,
        reads,
        asked: {
          id,
          requestedBy,
          ...(requestedByUser !== undefined && { requestedByUser }),
          edits: { atMs: requestedAtMs, fingerprint: edit.fingerprint },
        },
      },
    );
    if (outcome.outcome === 'live') return { outcome: 'made', pointer: outcome.pointer };
    if (outcome.outcome === 'invalid') return outcome;
    const raced = outcome.outcome === 'stale' && outcome.live?.pointer.set !== live?.pointer.set;
    if (raced) continue;
    const others = await madeBefore(request, deps.table);
    return others === undefined ? stale : { outcome: 'made', pointer: others };
  }
  return { outcome: 'busy' };
}

/** Finds the request among the latest edits of the log. */
async function madeBefore({ id }: EditRequest, table: LimitTable): Promise<LimitPointer | undefined> {
  for (const item of await table.readLog(undefined, LOOKED_AT_MAX, { timeoutMs: TIMEOUT_MS })) {
    const { request, set, atMs } = loggedChangeOf(item);
    if (request === id) return { set, edit: item.edit, atMs };
  }
  return undefined;
}
