/** One pass: lists what was rejected, looks for room, keeps it, and has GitLab retry as many jobs as fit. */

import { counterName, type LimitClaim } from '../../policies/claim.ts';
import type { RequeueSettings } from '../../policies/policy.ts';
import { requestOfRecord } from '../../policies/request/recorded.ts';
import { findRequeueSettings } from '../../policies/requeue.ts';
import type { LedgerClock, Log } from '../core/environment/environment.ts';
import type { RetryOutcome } from '../core/gitlab/rest-gitlab.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import {
  type RequeueEntry,
  type RequeueList,
  type RequeueLists,
  retryClaims,
  toRequeueEntry,
} from '../core/requeue-list.ts';
import type { RulesInForce } from '../core/rules.ts';
import type { RollupStore } from '../core/usage/rollup-store.ts';

export interface RequeueDeps {
  readonly agreed: readonly RequeueSettings[];
  readonly lists: RequeueLists;
  readonly usage: Pick<RollupStore, 'readRejections'>;
  readonly ledger: Pick<Ledger, 'readRecords' | 'reserve' | 'handOver' | 'endReservations'>;
  readonly rulesFor: RulesInForce['rulesFor'];
  readonly retry: (groupId: number, projectId: number, jobId: number) => Promise<RetryOutcome>;
  readonly clock: LedgerClock;
  readonly log: Log;
}

const RETRIES_PER_RUN_MAX = 12;
/** Reservation of a retried job without an admission request; then other jobs may use the slot. */
const RESERVED_MS = 5 * 60_000;
const AGAIN_MS = 2 * 60_000;

export async function requeue(deps: RequeueDeps) {
  const { agreed, clock, log } = deps;
  const lists = new Map<number, RequeueList>();
  for (const settings of agreed) lists.set(settings.groupId, await withRejected(settings, deps));

  const waiting = agreed.flatMap(({ groupId, priority }) =>
    (lists.get(groupId)?.entries ?? [])
      .filter((entry) => isOpen(entry) && (entry.againAtMs ?? 0) <= clock.nowMs())
      .map((entry): WaitingEntry => ({ ...entry, groupId, priority })),
  );
  const claimsByJobId = await claimsByJob(waiting, deps);
  /** Claims that found no room in this run: other jobs mostly have the same. */
  const full = new Set<string>();
  const report = { waiting: 0, retried: 0, refused: 0 };
  let left = RETRIES_PER_RUN_MAX;
  for (const { groupId, priority: _, ...entry } of inTurn(waiting)) {
    const list = lists.get(groupId);
    const { jobId } = entry;
    const claims = claimsByJobId.get(jobId) ?? [];
    const need = claims.map(({ counter, amount }) => `${counterName(counter)} ${amount}`).join();
    // A run that died may have left room kept for it, which counts as taken.
    const isFull = entry.state !== 'retrying' && full.has(need);
    if (list === undefined || left === 0 || isFull) {
      report.waiting += 1;
      continue;
    }
    // Before GitLab is asked: from its answer on the new job may be asked about, and others may at any time.
    const reserved = await deps.ledger.reserve({ jobId, claims, untilMs: clock.nowMs() + RESERVED_MS });
    if (reserved === 'full' || reserved === 'undecided') {
      full.add(need);
      // A table that does not answer leaves no time for others.
      if (reserved === 'undecided') left = 0;
      report.waiting += 1;
      continue;
    }
    left -= 1;
    // Written down before GitLab is asked: a run that dies in between leaves a trace.
    const asking = await replaceEntry(list, { ...entry, state: 'retrying' }, deps);
    const outcome = await deps.retry(groupId, entry.projectId, jobId);
    if (outcome.outcome === 'retried') await deps.ledger.handOver(jobId, outcome.newJobId);
    else await deps.ledger.endReservations([jobId]);
    const after = nextEntry(entry, outcome, clock.nowMs());
    lists.set(groupId, await replaceEntry(asking, after, deps));
    if (outcome.outcome === 'retried') report.retried += 1;
    if (outcome.outcome === 'refused') report.refused += 1;
    const { newJobId, why } = after;
    const fields = { jobId, newJobId, groupId, outcome: outcome.outcome, why };
    log.info('job retried for lack of slots before', fields);
  }
  return report;
}

const isOpen = ({ state }: RequeueEntry): boolean => state === 'waiting' || state === 'retrying';

/** The group's list with what was rejected since, and without those whose time is over. */
async function withRejected(settings: RequeueSettings, { agreed, lists, usage, ledger, clock }: RequeueDeps) {
  const nowMs = clock.nowMs();
  const sinceMs = nowMs - settings.withinSeconds * 1000;
  const [list, [rejections]] = await Promise.all([
    lists.read(settings.groupId),
    usage.readRejections([`group/${settings.groupId}`]),
  ]);
  const listed = new Set(list.entries.map(({ jobId }) => jobId));
  const unknown = (rejections?.jobs ?? []).filter(({ jobId, atMs }) => !listed.has(jobId) && atMs >= sinceMs);
  const records = unknown.length === 0 ? [] : await ledger.readRecords(unknown.map(({ jobId }) => jobId));
  const found = records.flatMap((record) => {
    if (record === undefined || findRequeueSettings(record.facts.groupIds, agreed) !== settings) return [];
    return toRequeueEntry(record, list.entries, settings) ?? [];
  });
  const entries = [...list.entries, ...found].map((entry): RequeueEntry => {
    if (!isOpen(entry) || entry.firstAtMs >= sinceMs) return entry;
    const why = `no slot was free in time${entry.why === undefined ? '' : `: ${entry.why}`}`;
    return { ...entry, state: 'over', why };
  });
  const changed = entries.some((entry, at) => entry !== list.entries[at]);
  return changed ? save({ ...list, entries }, lists) : list;
}

/** Returns what each waiting job needs room for. A job without a record needs nothing: GitLab says what became of it. */
async function claimsByJob(waiting: readonly WaitingEntry[], { ledger, rulesFor, clock }: RequeueDeps) {
  if (waiting.length === 0) return new Map<number, readonly LimitClaim[]>();
  const read = await ledger.readRecords(waiting.map(({ jobId }) => jobId));
  const records = read.filter((record) => record !== undefined);
  const rules = await rulesFor(
    records.map(({ jobId, facts }) => requestOfRecord(jobId, facts, facts.asked ?? {})),
  );
  const context = { ...rules, nowMs: clock.nowMs() };
  return new Map(records.map((record) => [record.jobId, retryClaims(record, context)]));
}

function nextEntry(entry: RequeueEntry, outcome: RetryOutcome, nowMs: number): RequeueEntry {
  switch (outcome.outcome) {
    case 'retried':
      return {
        ...entry,
        ...{ state: 'retried', newJobId: outcome.newJobId, retriedAtMs: nowMs, retries: entry.retries + 1 },
      };
    case 'refused':
      return { ...entry, state: 'over', why: outcome.why };
    case 'unheard': {
      const againAtMs = nowMs + Math.max(AGAIN_MS, outcome.retryAfterMs ?? 0);
      return { ...entry, state: 'waiting', why: outcome.why, againAtMs };
    }
  }
}

const replaceEntry = (list: RequeueList, entry: RequeueEntry, { lists }: RequeueDeps): Promise<RequeueList> =>
  save({ ...list, entries: list.entries.map((each) => (each.jobId === entry.jobId ? entry : each)) }, lists);

async function save(list: RequeueList, lists: RequeueLists): Promise<RequeueList> {
  const after = await lists.write(list);
  if (after === undefined)
    throw new Error(`the retries of group ${list.groupId} are processed by two runs at the same time`);
  return after;
}

interface WaitingEntry extends RequeueEntry {
  readonly groupId: number;
  readonly priority: number;
}

/** By priority, then one job of each top-level group after the other, then by time. */
function inTurn(waiting: readonly WaitingEntry[]): readonly WaitingEntry[] {
  const turns = new Map<string, number>();
  return waiting
    .toSorted((a, b) => a.firstAtMs - b.firstAtMs || a.jobId - b.jobId)
    .map((entry) => {
      const line = `${entry.priority} ${entry.root}`;
      const turn = turns.get(line) ?? 0;
      turns.set(line, turn + 1);
      return { entry, turn };
    })
    .toSorted((a, b) => b.entry.priority - a.entry.priority || a.turn - b.turn)
    .map(({ entry }) => entry);
}
