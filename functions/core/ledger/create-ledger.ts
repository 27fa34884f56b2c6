/** Puts the ledger together over a table. Keep one per process: it remembers which counters are nearly full. */
import { randomUUID } from 'node:crypto';
import { type LedgerClock, systemClock } from '../environment/environment.ts';
import { DUE_SHARDS } from '../store/keys.ts';
import { readInParts } from '../store/parts.ts';
import { undefinedIfSilent } from '../store/table-failure.ts';
import { RetryBudgets } from './attempt.ts';
import { hold } from './hold.ts';
import { newJob, SeenCounters } from './hold-job.ts';
import type { AcceptsEnd, DueJob, EndOutcome, HoldRequest, JobRecord, Ledger } from './ledger.ts';
import { type Move, type MoveDeps, type MoveRequest, makeMoves, noMove } from './move.ts';
import { rebuild } from './rebuild.ts';
import { NO_AMOUNTS } from './recount.ts';
import { endReservationMove } from './reservation.ts';
import { handOver, reserve } from './reserve.ts';
import { bypassMove, expireMove, isLive, releaseMove, settleMove, unmeteredMove } from './settle.ts';
import type { LedgerStore } from './store.ts';

interface LedgerOptions {
  readonly store: LedgerStore;
  readonly clock?: LedgerClock;
  readonly random?: () => number;
  readonly newToken?: () => string;
  readonly onRetry?: () => void;
  readonly onClampedDuration?: () => void;
}

/** The ends of jobs come from queues and schedules, which come back by themselves: this only bounds a silent table. */
const ENDS_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 2_000;
const READ_TOGETHER_MAX = 500;
/** A page of the due index may be a whole megabyte, and only the sweep waits for it. */
const DUE_TIMEOUT_MS = 5_000;

export function createLedger(options: LedgerOptions): Ledger {
  const { store, clock = systemClock, random = Math.random, newToken = randomUUID, onRetry } = options;
  const budgets = new RetryBudgets(clock);
  const deps: MoveDeps = { store, clock, random, newToken, onRetry, budgets, lastSeen: new SeenCounters() };

  const moveAll = async (
    requests: readonly MoveRequest<EndOutcome>[],
    records: Map<number, JobRecord>,
  ): Promise<readonly EndOutcome[]> => {
    const outcomes = await makeMoves(requests, records, clock.monotonicMs() + ENDS_TIMEOUT_MS, deps);
    requests.forEach(({ jobId }, index) => {
      const moved = outcomes[index] === 'applied' || outcomes[index] === 'corrected';
      if (moved && records.get(jobId)?.reportedSeconds !== undefined) options.onClampedDuration?.();
    });
    return outcomes;
  };

  const endJobs = async <Job extends { readonly jobId: number }>(
    jobs: readonly Job[],
    move: (record: JobRecord | undefined, job: Job, nowMs: number) => Move<EndOutcome>,
    accepts?: AcceptsEnd<Job>,
  ): Promise<readonly EndOutcome[]> => {
    const nowMs = clock.nowMs();
    const jobIds = [...new Set(jobs.map(({ jobId }) => jobId))];
    const records = await store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS }).catch(undefinedIfSilent);
    // A job whose record could not be read would look like one the ledger never saw.
    if (records === undefined) return jobs.map(() => 'undecided');
    const known = new Map(records.flatMap((record) => (record ? [[record.jobId, record] as const] : [])));
    const requests = jobs.map((job) => ({
      jobId: job.jobId,
      plan: (record: JobRecord | undefined) =>
        record !== undefined && accepts?.(record, job) === false
          ? noMove('unchanged' as const)
          : move(record, job, nowMs),
    }));
    return moveAll(requests, known);
  };

  /** Their caller has just read that there is no record: the condition on it finds out if that changed. */
  const recordAll = async <Ask extends HoldRequest, Outcome>(
    asks: readonly Ask[],
    plan: (record: JobRecord | undefined, ask: Ask, nowMs: number) => Move<Outcome>,
    move: (requests: readonly MoveRequest<Outcome>[]) => Promise<readonly (Outcome | 'undecided')[]>,
  ): Promise<readonly (Outcome | 'undecided')[]> => {
    const nowMs = clock.nowMs();
    const lawful = asks.filter((ask) => newJob(ask).outcome === undefined);
    const outcomes = await move(
      lawful.map((ask) => ({ jobId: ask.jobId, plan: (record) => plan(record, ask, nowMs) })),
    );
    return asks.map((ask) => outcomes[lawful.indexOf(ask)] ?? 'undecided');
  };

  return {
    hold: (asks, deadlineMs, options) => hold(asks, deadlineMs, deps, options),
    settle: (ends, accepts) => endJobs(ends, settleMove, accepts),
    release: (jobs, accepts) => endJobs(jobs, (record, _, nowMs) => releaseMove(record, nowMs), accepts),
    expire: (jobs) => endJobs(jobs, (record, { charge }, nowMs) => expireMove(record, charge, nowMs)),
    recordUnmetered: (asks, deadlineMs) =>
      recordAll(asks, unmeteredMove, (requests) => makeMoves(requests, new Map(), deadlineMs, deps)),
    dueJobs: (beforeMs, limit) => dueJobs(beforeMs, limit, store),
    postpone: (jobs, accepts) =>
      endJobs(jobs, (record, { dueAtMs }) => postponeMove(record, dueAtMs), accepts),
    recordBypass: (asks) => recordAll(asks, bypassMove, (requests) => moveAll(requests, new Map())),
    reserve: (ask) => reserve(ask, clock.monotonicMs() + ENDS_TIMEOUT_MS, deps),
    handOver: async (jobId, newJobId) =>
      (await handOver(jobId, newJobId, clock.monotonicMs() + ENDS_TIMEOUT_MS, deps)).outcome,
    endReservations: (jobIds, dueByMs = Number.POSITIVE_INFINITY) =>
      endJobs(
        jobIds.map((jobId) => ({ jobId })),
        (record, _, nowMs) => endReservationMove(record, dueByMs, nowMs),
      ),
    readCounters: async (keys) => {
      const counters = await store.readCounters(keys, { timeoutMs: READ_TIMEOUT_MS });
      return keys.map((key, index) => counters[index] ?? { key, ...NO_AMOUNTS, rev: 0 });
    },
    readRecord: async (jobId) => (await store.readRecords([jobId], { timeoutMs: READ_TIMEOUT_MS }))[0],
    readRecords: (jobIds) =>
      readInParts(
        jobIds,
        (some) => store.readRecords(some, { timeoutMs: READ_TIMEOUT_MS }),
        READ_TOGETHER_MAX,
      ),
    rebuild: (options) => rebuild(options, deps),
    announceOnce: (keys, options) => announceOnce(keys, options, deps),
  };
}

async function announceOnce(
  keys: readonly string[],
  { ttlMs, timeoutMs }: Parameters<Ledger['announceOnce']>[1],
  { store, clock }: Pick<MoveDeps, 'store' | 'clock'>,
): Promise<readonly boolean[]> {
  const atMs = clock.nowMs();
  const first = new Map<string, boolean>();
  await Promise.all(
    [...new Set(keys)].map(async (key) => {
      const announcement = { key, atMs, untilMs: atMs + ttlMs };
      // If the table does not answer, true: a duplicate is better than none.
      first.set(key, (await store.announce(announcement, { timeoutMs }).catch(undefinedIfSilent)) ?? true);
    }),
  );
  return keys.map((key) => {
    const mine = first.get(key) ?? true;
    first.set(key, false);
    return mine;
  });
}

/** Every shard gives at least an even share of `limit`, so no shard can hide another. */
async function dueJobs(
  beforeMs: number,
  limit: number,
  store: Pick<LedgerStore, 'due'>,
): Promise<readonly DueJob[]> {
  const ask = (shard: number, jobs: number) =>
    store.due(shard, beforeMs, jobs, { timeoutMs: DUE_TIMEOUT_MS });
  let share = Math.ceil(limit / DUE_SHARDS);
  let pages = await Promise.all(Array.from({ length: DUE_SHARDS }, (_, shard) => ask(shard, share)));
  while (share < limit && pages.flat().length < limit) {
    const lastShare = share;
    share = Math.min(limit, lastShare * 4);
    if (pages.every(({ length }) => length < lastShare)) break;
    pages = await Promise.all(
      pages.map((page, shard) => (page.length < lastShare ? page : ask(shard, share))),
    );
  }
  return pages
    .flat()
    .sort((a, b) => a.dueAtMs - b.dueAtMs || a.jobId - b.jobId)
    .slice(0, limit);
}

function postponeMove(record: JobRecord | undefined, dueAtMs: number): Move<EndOutcome> {
  if (record === undefined) return noMove('unknown');
  if (!isLive(record) || record.dueAtMs === dueAtMs) return noMove('unchanged');
  return { outcome: 'applied', record: { ...record, dueAtMs, rev: record.rev + 1 }, changes: [] };
}
