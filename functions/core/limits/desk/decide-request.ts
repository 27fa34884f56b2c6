/**
 * Approves or declines a request. The decision is written first, conditionally, so that only one decider
 * wins. Then the grant is created under the request's id, or the requested edit is published. After a crash
 * in between, approving again continues.
 */

import { type ApplyContext, applyEdits } from './apply-edits.ts';
import { makeRequested } from './approval/decide-edits.ts';
import { approversOf, mayApprove } from './approval/may-approve.ts';
import type { Asker, DecideOutcome, GrantRequest, LimitRequest, RequestVerdict } from './limit-request.ts';
import type { LiveLimits } from './live-limits.ts';
import { mayBeSame } from './person.ts';
import { isDecided, readRequests, requesterOf, type StoredRequest, writeRequest } from './request-items.ts';

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
