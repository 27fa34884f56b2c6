/**
 * Approves or declines a request. The decision is written first, conditionally, so that only one decider
 * wins. Then the grant is created under the request's id, or the requested edit is published. After a crash
 * in between, approving again continues.
 */
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type ApplyContext, applyEdits } from './apply-edits.ts';
import {
  type Asker,
  type DecideOutcome,
  type GrantRequest,
  type LimitEdit,
  type LimitRequest,
  mayBeSame,
  type RequestedEdits,
  type RequestVerdict,
} from './edit-model.ts';
import type { LimitPointer, LimitTable } from './limit-table.ts';
import { plan } from './plan-edits.ts';
import { loggedChangeOf, TIMEOUT_MS } from './publish-limits.ts';
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

const TRIES_MAX = 5;
const TEXT_CHARACTERS_MAX = 500;
const LOOKED_AT_MAX = 100;

export async function decideRequest(
  id: string,
  verdict: RequestVerdict,
  by: Asker,
  using: ApplyContext,
): Promise<DecideOutcome> {
  const { deps, reads } = using;
  const { table, clock } = deps;
  const nowMs = clock.nowMs();
  const stored = await find(id, table, nowMs);
  if (stored === undefined) return { outcome: 'unknown' };
  const { request } = stored;
  const { directory, read } = await reads.inForce();
  const context = { limits: read.limits, directory, nowMs };
  const needs = approversOf(request, context);
  if (!mayApprove(request, by.rights, context)) return { outcome: 'forbidden', act: 'approve', needs };
  if (mayBeSame(requesterOf(request), by)) return { outcome: 'forbidden', act: 'approve', needs, own: true };
  if (isDecided(stored)) return { outcome: 'decided', request };
  const { note } = verdict;
  const isMissing = verdict.verdict === 'decline' && verdict.note.trim() === '';
  if (isMissing || (note ?? '').length > TEXT_CHARACTERS_MAX) {
    const message = `expected why, in at most ${TEXT_CHARACTERS_MAX} characters`;
    return { outcome: 'invalid', problems: [{ path: ['note'], message }] };
  }
  const decided: LimitRequest = {
    ...request,
    state: verdict.verdict === 'approve' ? 'approved' : 'declined',
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
  const made = await makeLive(decided, request.state === 'approved', by, using);
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
  by: Asker,
  { deps, reads }: ApplyContext,
): Promise<Made> {
  const { table } = deps;
  const { id, requestedBy, requestedByUser, requestedAtMs, reason, edit } = request;
  const edits = edit === undefined ? [grantOf(request)] : await readEdits(id, table);
  const what = edit === undefined ? 'more' : 'it';
  const asked = {
    ...{ id, requestedBy },
    ...withoutAbsent({
      requestedByUser,
      edits: edit && { atMs: requestedAtMs, fingerprint: edit.fingerprint },
    }),
  };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const before = again || tries > 1 ? await madeBefore(id, table) : undefined;
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
    const outcome = await applyEdits(edits, author, { deps, reads, asked });
    if (outcome.outcome === 'live') return { outcome: 'made', pointer: outcome.pointer };
    if (outcome.outcome === 'invalid') return outcome;
    const isRaced = outcome.outcome === 'stale' && outcome.live?.pointer.set !== live?.pointer.set;
    if (isRaced) continue;
    const others = await madeBefore(id, table);
    return others === undefined ? { outcome: 'stale', request } : { outcome: 'made', pointer: others };
  }
  return edits === undefined ? { outcome: 'stale', request } : { outcome: 'busy' };
}

const grantOf = ({ subject, limit, amount, from, until, reason, ticket }: GrantRequest): LimitEdit => ({
  ...{ kind: 'grant', subject, limit, amount, from, until, reason },
  ...withoutAbsent({ ticket }),
});

async function madeBefore(id: string, table: LimitTable): Promise<LimitPointer | undefined> {
  for (const item of await table.readLog(undefined, LOOKED_AT_MAX, { timeoutMs: TIMEOUT_MS })) {
    const { request, set, atMs } = loggedChangeOf(item);
    if (request === id) return { set, edit: item.edit, atMs };
  }
  return undefined;
}

/** Undefined: there is no such request, or it carries no edits. @throws {LimitsError} */
export async function requestedEdits(
  id: string,
  { deps, reads }: ApplyContext,
): Promise<RequestedEdits | undefined> {
  const { table, policy, clock, newId, zone } = deps;
  const nowMs = clock.nowMs();
  const found = (await find(id, table, nowMs))?.request;
  const edits = found?.edit && (await readEdits(id, table));
  if (found?.edit === undefined || edits === undefined) return undefined;
  const { requestedBy: actor, requestedAtMs: writtenAtMs } = found;
  const { directory, read } = await reads.inForce();
  const context = {
    actor,
    nowMs,
    writtenAtMs,
    newId: () => newId().toLowerCase(),
    ...withoutAbsent({ zone }),
  };
  const planned = plan(edits, read, { policy, directory, context });
  return { edits, stale: !planned.ok || fingerprintOf(planned.rows) !== found.edit.fingerprint };
}
