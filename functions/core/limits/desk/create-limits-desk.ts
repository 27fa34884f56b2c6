import { type ApplyContext, applyEdits } from './apply-edits.ts';
import { requestedEdits } from './approval/decide-edits.ts';
import { toApprove } from './approval/to-approve.ts';
import { breakGlassStates } from './break-glass-states.ts';
import type { LimitsDesk, LimitsDeskDeps } from './contract.ts';
import { decideRequest } from './decide-request.ts';
import { DeskReader, TIMEOUT_MS } from './desk-reads.ts';
import { fileRequest } from './file-request.ts';
import type { LimitEdit } from './limit-edit.ts';
import type { Preview } from './outcome.ts';
import { oversubscriptionOf, touchedBy } from './oversubscription.ts';
import { plan } from './plan.ts';
import { readEntry, readHistory } from './read-history.ts';
import { isOwn, readRequests } from './request-items.ts';
import { mayDo } from './rights.ts';
import { visibleRows } from './visible-rows.ts';

/** The author's name in previews. New ids in a preview differ from the final ones. */
const PREVIEWER = 'you';

/** The one way in for every edit of limits. Keep one per process: it remembers the live set. */
export function createLimitsDesk(deps: LimitsDeskDeps): LimitsDesk {
  const reads = new DeskReader(deps);
  const using: ApplyContext = {
    deps,
    reads,
    fileGrant: async ({ kind: _, ...asked }, by) => {
      // A user who may grant may also request.
      const filed = await fileRequest(asked, { ...by, rights: [{ role: 'finance' }] }, { deps, reads });
      return filed.outcome === 'filed' ? filed.request : undefined;
    },
  };
  return {
    live: () => reads.live(),
    at: (set) => reads.baseIfThere(set),
    preview: (edits, base) => preview(edits, base, deps, reads),
    apply: (edits, by) => applyEdits(edits, by, using),
    history: (asked) => readHistory(asked, deps.table),
    edit: (edit) => readEntry(edit, deps.table),
    request: (asked, by) => fileRequest(asked, by, using),
    requests: async (by) => {
      const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
      const { limits } = await reads.base(live?.pointer.set);
      const context = { limits, directory, nowMs: deps.clock.nowMs() };
      const all = await readRequests(deps.table, context.nowMs);
      return all
        .map(({ request }) => request)
        .filter((request) => isOwn(request, by) || mayDo('view', request.subject, by.rights, context));
    },
    requested: (id) => requestedEdits(id, using),
    decide: (id, verdict, by) => decideRequest(id, verdict, by, using),
    breakGlasses: () => breakGlassStates(deps, reads),
  };
}

async function preview(
  edits: readonly LimitEdit[],
  base: string | undefined,
  deps: LimitsDeskDeps,
  reads: DeskReader,
): Promise<Preview> {
  const { table, policy, clock, newId } = deps;
  const [pointer, before, directory] = await Promise.all([
    table.getPointer({ timeoutMs: TIMEOUT_MS }),
    reads.base(base),
    reads.directory(),
  ]);
  const nowMs = clock.nowMs();
  const context = { actor: PREVIEWER, nowMs, newId: () => newId().toLowerCase() };
  const planned = plan(edits, before, { policy, directory, context, zone: deps.zone });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };
  const { after, rows, toConfirm, lockout } = planned;
  const subjects = new Set(rows.map(({ subject }) => subject));
  const stale = pointer?.set !== base;
  const live = stale ? await reads.live() : undefined;
  const between = { from: before.limits, to: after.limits, directory, nowMs };
  return {
    outcome: 'valid',
    stale,
    ...(stale && { theirs: visibleRows(rows, { before, live, directory, nowMs }) }),
    document: after.document,
    limits: after.limits,
    rows,
    oversubscription: touchedBy(oversubscriptionOf(after.limits, directory, nowMs), subjects, directory),
    needsConfirmation: toConfirm,
    // The log covers only published limits.
    needsApproval: stale ? [] : await toApprove(rows, between, deps),
    lockout,
  };
}
