import { type BreakGlass, breakGlassCounter } from '../../../policies/limits/break-glass.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type ApplyContext, applyEdits, fileRequest } from './apply-edits.ts';
import { toApprove } from './approval.ts';
import { decideRequest, requestedEdits } from './decide-request.ts';
import type {
  BreakGlassState,
  HistoryPage,
  HistoryQuery,
  LimitEdit,
  LogEntry,
  Preview,
} from './edit-model.ts';
import { subjectPath } from './limit-changes.ts';
import { DeskReader, type LimitsDesk, type LimitsDeskDeps, TIMEOUT_MS } from './limit-editing.ts';
import type { LimitTable } from './limit-table.ts';
import { oversubscriptionOf, touchedBy } from './oversubscription.ts';
import { plan, visibleRows } from './plan-edits.ts';
import { type LoggedChange, loggedChangeOf, rowsOf } from './publish-limits.ts';
import { isOwn, readRequests } from './requests.ts';
import { mayDo } from './rights.ts';

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

const PAGE_MAX = 100;
/** Edits looked through for one page: years of a busy desk, in some twenty reads. */
const LOOKED_AT_MAX = 2_000;
/** Large edits opened for one page; each may have megabytes. */
const OPENED_MAX = 10;

/** Newest first, without a gap: `next` begins where this page stopped looking. */
export async function readHistory(
  { subject, before, max }: HistoryQuery,
  table: LimitTable,
): Promise<HistoryPage> {
  const wanted = Math.min(Math.max(1, Math.trunc(max)), PAGE_MAX);
  const entries: LogEntry[] = [];
  let from = before;
  let opened = 0;
  for (let looked = 0; looked < LOOKED_AT_MAX; ) {
    const items = await table.readLog(from, PAGE_MAX, { timeoutMs: TIMEOUT_MS });
    for (const item of items) {
      const logged = loggedChangeOf(item);
      if (subject !== undefined && mustOpen(logged)) {
        if (opened === OPENED_MAX) return { entries, next: item.edit + 1 };
        opened += 1;
      }
      const entry = await entryOf(item.edit, logged, subject, table);
      if (entry !== undefined) entries.push(entry);
      from = item.edit;
      looked += 1;
      if (entries.length === wanted) return { entries, ...(item.edit > 1 && { next: item.edit }) };
    }
    if (items.length < PAGE_MAX) return { entries };
  }
  return { entries, ...(from !== undefined && from > 1 && { next: from }) };
}

/** One edit with all its rows, however many. */
export async function readEntry(edit: number, table: LimitTable): Promise<LogEntry | undefined> {
  const [item] = await table.readLog(edit + 1, 1, { timeoutMs: TIMEOUT_MS });
  if (item?.edit !== edit) return undefined;
  const logged = loggedChangeOf(item);
  const rows = await rowsOf(logged, table);
  return { ...headOf(edit, logged), ...(rows !== undefined && { rows }) };
}

/** True if only its rows show the subjects. */
const mustOpen = ({ subjects, count }: LoggedChange): boolean => subjects === undefined && count > 0;

async function entryOf(
  edit: number,
  logged: LoggedChange,
  subject: string | undefined,
  table: LimitTable,
): Promise<LogEntry | undefined> {
  const entry = headOf(edit, logged);
  if (subject === undefined) return { ...entry, ...(logged.rows !== undefined && { rows: logged.rows }) };
  if (logged.subjects !== undefined && !logged.subjects.includes(subject)) return undefined;
  const rows = (await rowsOf(logged, table))?.filter((row) => row.subject === subject);
  return rows === undefined || rows.length === 0 ? undefined : { ...entry, rows };
}

const headOf = (
  edit: number,
  { set, atMs, actor, userId, why, source, base, count }: LoggedChange,
): Omit<LogEntry, 'rows'> => ({
  ...{ edit, set, atMs, actor, why, source, count },
  ...withoutAbsent({ userId, base }),
});

/** All in the live document, newest first; at most as many as a document may have. */
export async function breakGlassStates(
  { ledger, clock }: LimitsDeskDeps,
  reads: DeskReader,
): Promise<readonly BreakGlassState[]> {
  const [live, directory] = await Promise.all([reads.live(), reads.directory()]);
  const { limits } = await reads.base(live?.pointer.set);
  const glasses = limits.breakGlasses ?? [];
  if (glasses.length === 0) return [];
  const nowMs = clock.nowMs();
  // A glass that is over is read for its last period.
  const counters = await ledger.readCounters(
    glasses.map((glass) => breakGlassCounter(glass, Math.min(nowMs, glass.untilMs - 1))),
  );
  const people = peopleKnown(limits);
  const states = glasses.map((glass, index) => {
    const path = subjectPath(glass.subject, directory);
    return {
      ...stateOf(glass, counters[index]?.committed ?? 0, nowMs),
      ...(path !== undefined && { path }),
      ...namesOf(glass, people),
    };
  });
  return states.sort((a, b) => b.fromMs - a.fromMs);
}

function namesOf({ users }: BreakGlass, people: ReadonlyMap<number, string>) {
  const known = [...users].flatMap((id) => {
    const name = people.get(id);
    return name === undefined ? [] : [[id, name] as const];
  });
  return known.length === 0 ? {} : { userNames: Object.fromEntries(known) };
}

function stateOf(glass: BreakGlass, used: number, nowMs: number): BreakGlassState {
  const { id, subject, users, jobs, per, fromMs, untilMs, reason, ticket, by, reviewed } = glass;
  return {
    id,
    subject,
    users: [...users],
    protected: glass.protected,
    jobs,
    per,
    used,
    fromMs,
    untilMs,
    ...(glass.zone !== undefined && { zone: glass.zone }),
    reason,
    open: isValidAt(glass, nowMs),
    toReview: reviewed === undefined,
    ...withoutAbsent({ ticket, by }),
    ...(reviewed !== undefined && { reviewedBy: reviewed.by }),
    ...(reviewed?.note !== undefined && { note: reviewed.note }),
  };
}

/** Names by GitLab user id, from signatures in the limits document. The last of several names wins. */
function peopleKnown({
  bySubject,
  freezes,
  breakGlasses = [],
}: Pick<LimitSet, 'bySubject' | 'freezes' | 'breakGlasses'>): ReadonlyMap<number, string> {
  const people = new Map<number, string>();
  const note = (id: number | undefined, name: string | undefined): void => {
    if (id !== undefined && name !== undefined) people.set(id, name);
  };
  for (const { grants = [] } of [...bySubject.values()].flat())
    for (const grant of grants) {
      note(grant.byUser, grant.by);
      note(grant.requestedByUser, grant.requestedBy);
      note(grant.approvedByUser, grant.approvedBy);
    }
  for (const freeze of [...(freezes?.values() ?? [])].flat()) note(freeze.byUser, freeze.by);
  for (const glass of breakGlasses) {
    note(glass.byUser, glass.by);
    note(glass.reviewed?.byUser, glass.reviewed?.by);
  }
  return people;
}
