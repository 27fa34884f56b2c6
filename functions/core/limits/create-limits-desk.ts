/**
 * Limit editing: the single way to edit limits, for the command line, CSV and SSM imports, the API and the console. Every
 * edit is checked as a whole against its author's rights, and is published completely or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and
 * in edits and rows two more: `personal` (every personal namespace) and a pattern of group paths,
 * `groups/acme/team-?` (the default of all that match).
 */
import { breakGlassCounter } from '../../../policies/limits/break-glass.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { applyEdits, decideRequest, fileRequest, requestedEdits } from './apply-edits.ts';
import { toApprove } from './approval.ts';
import { subjectPath } from './change-rows.ts';
import type {
  Asker,
  BreakGlassState,
  EditAuthor,
  GrantAsk,
  HistoryQuery,
  LimitEdit,
  RequestVerdict,
} from './edit-model.ts';
import { LimitReads, type LimitsDeskDeps, readEntry, readHistory } from './limit-reads.ts';
import { oversubscriptionOf, plan, touchedBy, visibleRows } from './plan-edits.ts';
import { isOwn, readRequests } from './requests.ts';
import { mayDo } from './rights.ts';

/** The author's name in previews. */
const PREVIEWER = 'you';

export type LimitsDesk = ReturnType<typeof createLimitsDesk>;

/** Keep one per process: it remembers the live set. Every call throws {@link LimitsError}. */
export function createLimitsDesk(deps: LimitsDeskDeps) {
  const reads = new LimitReads(deps);
  const using = { deps, reads };
  const { table, clock } = deps;
  return {
    live: () => reads.live(),
    /** A set as written; for an undefined `set`, the limits packed with the code. Undefined if it is gone. */
    at: (set: string | undefined) => reads.baseIfThere(set),
    /** The effect of edits of `base`. Writes nothing and checks no rights. */
    preview: (edits: readonly LimitEdit[], base: string | undefined) => preview(edits, base, deps, reads),
    apply: (edits: readonly LimitEdit[], by: EditAuthor) => applyEdits(edits, by, using),
    history: (asked: HistoryQuery) => readHistory(asked, table),
    edit: (edit: number) => readEntry(edit, table),
    request: (asked: GrantAsk, by: Asker) => fileRequest(asked, by, using),
    /** Those that the user may see, newest first. */
    requests: async (by: Asker) => {
      const { directory, read } = await reads.inForce();
      const context = { limits: read.limits, directory, nowMs: clock.nowMs() };
      const all = await readRequests(table, context.nowMs);
      return all
        .map(({ request }) => request)
        .filter((request) => isOwn(request, by) || mayDo('view', request.subject, by.rights, context));
    },
    requested: (id: string) => requestedEdits(id, using),
    /** Approves (gives the grant, or makes the edit live) or declines. The requester never decides. */
    decide: (id: string, verdict: RequestVerdict, by: Asker) => decideRequest(id, verdict, by, using),
    breakGlasses: () => breakGlassStates(deps, reads),
  };
}

export type Preview = Awaited<ReturnType<LimitsDesk['preview']>>;

async function preview(
  edits: readonly LimitEdit[],
  base: string | undefined,
  deps: LimitsDeskDeps,
  reads: LimitReads,
) {
  const [{ live, directory }, before] = await Promise.all([reads.inForce(), reads.base(base)]);
  const nowMs = deps.clock.nowMs();
  // New ids in a preview differ from the final ones.
  const planned = plan(edits, before, { deps, directory, by: { actor: PREVIEWER, nowMs } });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems } as const;
  const { after, rows, toConfirm: needsConfirmation, lockout } = planned;
  const subjects = new Set(rows.map(({ subject }) => subject));
  const stale = live?.pointer.set !== base;
  const between = { from: before.limits, to: after.limits, directory, nowMs };
  return {
    outcome: 'valid' as const,
    /** The set these are edits of is not live (any more): `apply` would refuse. */
    stale,
    /** What others did since, to the same subjects. */
    ...(stale && { theirs: visibleRows(rows, { before, live, directory, nowMs }) }),
    ...{ ...after, rows, needsConfirmation, lockout },
    oversubscription: touchedBy(oversubscriptionOf(after.limits, directory, nowMs), subjects, directory),
    // The log covers only published limits.
    needsApproval: stale ? [] : await toApprove(rows, between, deps),
  };
}

async function breakGlassStates(
  { ledger, clock }: LimitsDeskDeps,
  reads: LimitReads,
): Promise<readonly BreakGlassState[]> {
  const { directory, read } = await reads.inForce();
  const { breakGlasses: glasses = [] } = read.limits;
  if (glasses.length === 0) return [];
  const nowMs = clock.nowMs();
  // A glass that is over is read for its last period.
  const counters = await ledger.readCounters(
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
