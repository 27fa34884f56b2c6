/**
 * Limit editing: the single way to edit limits, for the command line, CSV and SSM imports, the API and the console. Every
 * edit is checked as a whole against its author's rights, and is published completely or not at all.
 *
 * Subjects are texts: `instance`, `group/101`, `project/7`, `runner-class/large`, `runner/41`, `user/5`, and
 * in edits and rows two more: `personal` (every personal namespace) and a pattern of group paths,
 * `groups/acme/team-?` (the default of all that match).
 */
import { breakGlassCounter } from '../../../policies/limits/break-glass.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { applyEdits, fileRequest } from './apply-edits.ts';
import { toApprove } from './approval.ts';
import { decideRequest, requestedEdits } from './decide-request.ts';
import type {
  ApplyOutcome,
  Asker,
  BreakGlassState,
  DecideOutcome,
  EditAuthor,
  GrantAsk,
  HistoryPage,
  HistoryQuery,
  LimitEdit,
  LimitRequest,
  LiveLimits,
  LogEntry,
  Preview,
  RequestedEdits,
  RequestOutcome,
  RequestVerdict,
} from './edit-model.ts';
import { subjectPath } from './limit-changes.ts';
import { LimitReads, type LimitsDeskDeps, readEntry, readHistory } from './limit-reads.ts';
import { oversubscriptionOf, touchedBy } from './oversubscription.ts';
import { plan, type ReadLimitSet, visibleRows } from './plan-edits.ts';
import { isOwn, readRequests } from './requests.ts';
import { mayDo } from './rights.ts';

/** The author's name in previews. New ids in a preview differ from the final ones. */
const PREVIEWER = 'you';

export type LimitsDesk = ReturnType<typeof createLimitsDesk>;

/** Keep one per process: it remembers the live set. Every call throws {@link LimitsError}. */
export function createLimitsDesk(deps: LimitsDeskDeps) {
  const reads = new LimitReads(deps);
  const using = { deps, reads };
  const { table, clock } = deps;
  return {
    /** The published limits. Undefined: none, and the limits packed with the code are in force. */
    live: (): Promise<LiveLimits | undefined> => reads.live(),
    /** A set as written; for an undefined `set`, the limits packed with the code. Undefined if it is gone. */
    at: (set: string | undefined): Promise<ReadLimitSet | undefined> => reads.baseIfThere(set),
    /** The effect of edits of `base`. Writes nothing and checks no rights. */
    preview: (edits: readonly LimitEdit[], base: string | undefined): Promise<Preview> =>
      preview(edits, base, deps, reads),
    apply: (edits: readonly LimitEdit[], by: EditAuthor): Promise<ApplyOutcome> =>
      applyEdits(edits, by, using),
    /** Edits, newest first. They never expire, unlike the sets. */
    history: (asked: HistoryQuery): Promise<HistoryPage> => readHistory(asked, table),
    edit: (edit: number): Promise<LogEntry | undefined> => readEntry(edit, table),
    request: (asked: GrantAsk, by: Asker): Promise<RequestOutcome> => fileRequest(asked, by, using),
    /** The requests that this user may see, newest first. Gone 30 days after they were filed. */
    requests: async (by: Asker): Promise<readonly LimitRequest[]> => {
      const { directory, read } = await reads.inForce();
      const context = { limits: read.limits, directory, nowMs: clock.nowMs() };
      const all = await readRequests(table, context.nowMs);
      return all
        .map(({ request }) => request)
        .filter((request) => isOwn(request, by) || mayDo('view', request.subject, by.rights, context));
    },
    requested: (id: string): Promise<RequestedEdits | undefined> => requestedEdits(id, using),
    /** Approves (gives the grant, or makes the edit live) or declines. The requester never decides. */
    decide: (id: string, verdict: RequestVerdict, by: Asker): Promise<DecideOutcome> =>
      decideRequest(id, verdict, by, using),
    breakGlasses: (): Promise<readonly BreakGlassState[]> => breakGlassStates(deps, reads),
  };
}

async function preview(
  edits: readonly LimitEdit[],
  base: string | undefined,
  deps: LimitsDeskDeps,
  reads: LimitReads,
): Promise<Preview> {
  const { policy, clock, newId, zone } = deps;
  const [{ live, directory }, before] = await Promise.all([reads.inForce(), reads.base(base)]);
  const nowMs = clock.nowMs();
  const context = { actor: PREVIEWER, nowMs, newId: () => newId().toLowerCase(), ...withoutAbsent({ zone }) };
  const planned = plan(edits, before, { policy, directory, context });
  if (!planned.ok) return { outcome: 'invalid', problems: planned.problems };
  const { after, rows, toConfirm, lockout } = planned;
  const subjects = new Set(rows.map(({ subject }) => subject));
  const stale = live?.pointer.set !== base;
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
  const people = peopleKnown(read.limits);
  const states = glasses.map((glass, index): BreakGlassState => {
    const { users, owner: _, byUser: __, reviewed, ...rest } = glass;
    const known = [...people].filter(([id]) => users.has(id));
    return {
      ...rest,
      ...withoutAbsent({ path: subjectPath(glass.subject, directory) }),
      ...(known.length > 0 && { userNames: Object.fromEntries(known) }),
      users: [...users],
      used: counters[index]?.committed ?? 0,
      open: isValidAt(glass, nowMs),
      toReview: reviewed === undefined,
      ...withoutAbsent({ reviewedBy: reviewed?.by, note: reviewed?.note }),
    };
  });
  return states.sort((a, b) => b.fromMs - a.fromMs);
}

/** Names by GitLab user id, from signatures in the limits document. The last of several names wins. */
function peopleKnown({ bySubject, freezes, breakGlasses = [] }: LimitSet): ReadonlyMap<number, string> {
  const grants = [...bySubject.values()].flat().flatMap((limit) => limit.grants ?? []);
  const signed: readonly { readonly by?: string | undefined; readonly byUser?: number | undefined }[] = [
    ...grants,
    ...grants.map(({ requestedBy: by, requestedByUser: byUser }) => ({ by, byUser })),
    ...grants.map(({ approvedBy: by, approvedByUser: byUser }) => ({ by, byUser })),
    ...[...(freezes?.values() ?? [])].flat(),
    ...breakGlasses.flatMap((glass) => [glass, glass.reviewed ?? {}]),
  ];
  return new Map(
    signed.flatMap(({ by, byUser }) => (byUser === undefined || by === undefined ? [] : [[byUser, by]])),
  );
}
