/** Requests that carry edits: what they come to now, and making them live once they are approved. */
import { loggedChangeOf } from '../../change-log.ts';
import type { LimitPointer, LimitTable } from '../../limit-table.ts';
import { type ApplyContext, applyEdits } from '../apply-edits.ts';
import { TIMEOUT_MS } from '../desk-reads.ts';
import type { Asker, DecideOutcome, EditRequest, RequestedEdits } from '../limit-request.ts';
import { plan } from '../plan.ts';
import { readRequests } from '../request-items.ts';
import { fingerprintOf, readEdits } from './requested-edits.ts';

/** Each retry means a concurrent edit within milliseconds. */
const TRIES_MAX = 5;
const WHY_CHARACTERS_MAX = 500;
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
