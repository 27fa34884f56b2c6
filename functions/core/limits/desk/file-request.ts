import type { ApplyContext } from './apply-edits.ts';
import type { Asker, GrantAsk, LimitRequest, RequestOutcome } from './limit-request.ts';
import { plan } from './plan.ts';
import {
  fullOf,
  KEPT_MS,
  PENDING_MAX,
  PENDING_OF_ONE_MAX,
  requestId,
  writeRequest,
} from './request-items.ts';
import { mayDo, rolesFor } from './rights.ts';

const LINK_CHARACTERS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;

/** Files a request that would be a valid grant as limits are now. */
export async function fileRequest(
  asked: GrantAsk,
  by: Asker,
  { deps, reads }: ApplyContext,
): Promise<RequestOutcome> {
  const { policy, table, clock, newId } = deps;
  const { actor, userId, rights } = by;
  const nowMs = clock.nowMs();
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const before = await reads.base(live?.pointer.set);
  const context = { limits: before.limits, directory, nowMs };
  if (!mayDo('ask', asked.subject, rights, context))
    return { outcome: 'forbidden', act: 'ask', needs: rolesFor('ask', asked.subject) };
  const { link, ...grant } = asked;
  if (
    actor.trim() === '' ||
    actor.length > ACTOR_CHARACTERS_MAX ||
    (link?.length ?? 0) > LINK_CHARACTERS_MAX
  ) {
    const path = [(link?.length ?? 0) > LINK_CHARACTERS_MAX ? 'link' : 'actor'];
    return { outcome: 'invalid', problems: [{ path, message: 'missing or too long' }] };
  }
  const planned = plan([{ kind: 'grant', ...grant }], before, {
    policy,
    directory,
    context: { actor, nowMs, newId: () => 'asked' },
  });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };

  const whose = await fullOf(by, table, nowMs);
  if (whose !== undefined)
    return { outcome: 'too_many', whose, max: whose === 'yours' ? PENDING_OF_ONE_MAX : PENDING_MAX };
  const request: LimitRequest = {
    ...asked,
    id: requestId(nowMs, newId()),
    state: 'pending',
    requestedBy: actor,
    ...(userId !== undefined && { requestedByUser: userId }),
    requestedAtMs: nowMs,
    granted: false,
    expiresAtMs: nowMs + KEPT_MS,
  };
  await writeRequest({ rev: 1, request }, table);
  return { outcome: 'filed', request };
}
