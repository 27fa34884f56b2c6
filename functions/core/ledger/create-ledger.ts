/** Puts the ledger together over a table. Keep one per process: it remembers which counters are nearly full. */
import { randomUUID } from 'node:crypto';
import { type LedgerClock, systemClock } from '../environment/environment.ts';
import { DUE_SHARDS } from '../store/keys.ts';
import { LedgerError } from '../store/table-failure.ts';
import { RetryBudgets } from './attempt.ts';
import { hold } from './hold.ts';
import { newJob, SeenCounters } from './hold-job.ts';
import type { AcceptsEnd, DueJob, EndOutcome, JobRecord, Ledger, UnmeteredAsk } from './ledger.ts';
import { type Move, type MoveDeps, type MoveWish, makeMoves, noMove } from './move.ts';
import { rebuild } from './rebuild.ts';
import { NO_AMOUNTS } from './recount.ts';
import { endReservationMove } from './reservation.ts';
import { handOver, reserve } from './reserve.ts';
import { bypassMove, expireMove, isLive, releaseMove, settleMove, unmeteredMove } from './settle.ts';
import type { LedgerStore, ReadOptions } from './store.ts';

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
/** A page of the due index may be a whole megabyte, and only the sweep waits for it. */
const DUE_TIMEOUT_MS = 5_000;

export function createLedger({
  store,
  clock = systemClock,
  random = Math.random,
  newToken = randomUUID,
  onRetry,
  onClampedDuration,
}: LedgerOptions): Ledger {
  const budgets = new RetryBudgets(clock);
  const deps: MoveDeps = { store, clock, random, newToken, onRetry, budgets, lastSeen: new SeenCounters() };

  const endJobs = async (wishes: readonly MoveWish<EndOutcome>[]): Promise<readonly EndOutcome[]> => {
    const deadlineMs = clock.monotonicMs() + ENDS_TIMEOUT_MS;
    const records = await readRecords(wishes, store);
    // A job whose record could not be read would look like one the ledger never saw.
    return records === undefined ? wishes.map(() => 'undecided') : moveAll(wishes, records, deadlineMs);
  };

  const moveAll = async (
    wishes: readonly MoveWish<EndOutcome>[],
    records: Map<number, JobRecord>,
    deadlineMs: number,
  ): Promise<readonly EndOutcome[]> => {
    const outcomes = await makeMoves(wishes, records, deadlineMs, deps);
    wishes.forEach(({ jobId }, index) => {
      const moved = outcomes[index] === 'applied' || outcomes[index] === 'corrected';
      if (moved && records.get(jobId)?.reportedSeconds !== undefined) onClampedDuration?.();
    });
    return outcomes;
  };

  return {
    hold: (asks, deadlineMs, options) => hold(asks, deadlineMs, deps, options),
    settle: (ends, accepts) => {
      const nowMs = clock.nowMs();
      return endJobs(wishesFor(ends, accepts, (record, end) => settleMove(record, end, nowMs)));
    },
    release: (jobs, accepts) => {
      const nowMs = clock.nowMs();
      return endJobs(wishesFor(jobs, accepts, (record) => releaseMove(record, nowMs)));
    },
    expire: (jobs) => {
      const nowMs = clock.nowMs();
      return endJobs(
        jobs.map(({ jobId, charge }) => ({ jobId, plan: (record) => expireMove(record, charge, nowMs) })),
      );
    },
    recordUnmetered: async (asks: readonly UnmeteredAsk[], deadlineMs) => {
      const nowMs = clock.nowMs();
      const lawful = asks.filter((ask) => newJob(ask).outcome === undefined);
      const wishes = lawful.map((ask) => ({
        jobId: ask.jobId,
        plan: (record: JobRecord | undefined) => unmeteredMove(record, ask, nowMs),
      }));
      const outcomes = await makeMoves(wishes, new Map(), deadlineMs, deps);
      return asks.map((ask) => outcomes[lawful.indexOf(ask)] ?? 'undecided');
    },
    dueJobs: (beforeMs, limit) => dueJobs(beforeMs, limit, store, { timeoutMs: DUE_TIMEOUT_MS }),
    postpone: (jobs, accepts) =>
      endJobs(wishesFor(jobs, accepts, (record, { dueAtMs }) => postponeMove(record, dueAtMs))),
    recordBypass: async (asks) => {
      const nowMs = clock.nowMs();
      const lawful = asks.filter((ask) => newJob(ask).outcome === undefined);
      const wishes = lawful.map((ask) => ({
        jobId: ask.jobId,
        plan: (record: JobRecord | undefined) => bypassMove(record, ask, nowMs),
      }));
      // Their caller has just read that there is none: the condition on the record finds out if that changed.
      const outcomes = await moveAll(wishes, new Map(), clock.monotonicMs() + ENDS_TIMEOUT_MS);
      return asks.map((ask) => outcomes[lawful.indexOf(ask)] ?? 'undecided');
    },
    reserve: (ask) => reserve(ask, clock.monotonicMs() + ENDS_TIMEOUT_MS, deps),
    handOver: async (jobId, newJobId) =>
      (await handOver(jobId, newJobId, clock.monotonicMs() + ENDS_TIMEOUT_MS, deps)).outcome,
    endReservations: (jobIds, dueByMs = Number.POSITIVE_INFINITY) => {
      const nowMs = clock.nowMs();
      return endJobs(
        jobIds.map((jobId) => ({ jobId, plan: (record) => endReservationMove(record, dueByMs, nowMs) })),
      );
    },
    readCounters: async (keys) => {
      const counters = await store.readCounters(keys, { timeoutMs: READ_TIMEOUT_MS });
      return keys.map((key, index) => counters[index] ?? { key, ...NO_AMOUNTS, rev: 0 });
    },
    readRecord: async (jobId) => (await store.readRecords([jobId], { timeoutMs: READ_TIMEOUT_MS }))[0],
    readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS }),
    rebuild: (options) => rebuild(options, deps),
    announceOnce: (keys, options) => announceOnce(keys, options, deps),
  };
}

const wishesFor = <Job extends { readonly jobId: number }>(
  jobs: readonly Job[],
  accepts: AcceptsEnd<Job> | undefined,
  move: (record: JobRecord | undefined, job: Job) => Move<EndOutcome>,
): readonly MoveWish<EndOutcome>[] =>
  jobs.map((job) => ({
    jobId: job.jobId,
    plan: (record) =>
      record !== undefined && accepts?.(record, job) === false ? noMove('unchanged') : move(record, job),
  }));

async function readRecords(
  wishes: readonly MoveWish<EndOutcome>[],
  store: LedgerStore,
): Promise<Map<number, JobRecord> | undefined> {
  const jobIds = [...new Set(wishes.map(({ jobId }) => jobId))];
  try {
    const records = await store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS });
    return new Map(records.flatMap((record) => (record === undefined ? [] : [[record.jobId, record]])));
  } catch (error) {
    if (error instanceof LedgerError) return undefined;
    throw error;
  }
}

/** If the table does not answer, true: a duplicate is better than none. */
async function announceOnce(
  keys: readonly string[],
  { ttlMs, timeoutMs }: Parameters<Ledger['announceOnce']>[1],
  { store, clock }: Pick<MoveDeps, 'store' | 'clock'>,
): Promise<readonly boolean[]> {
  const atMs = clock.nowMs();
  const distinct = [...new Set(keys)];
  const answers = await Promise.all(
    distinct.map((key) =>
      store.announce({ key, atMs, untilMs: atMs + ttlMs }, { timeoutMs }).catch(toldRatherTwice),
    ),
  );
  const first = new Map(distinct.map((key, index) => [key, answers[index] ?? true]));
  return keys.map((key) => {
    const mine = first.get(key) ?? true;
    first.set(key, false);
    return mine;
  });
}

function toldRatherTwice(error: unknown): true {
  if (error instanceof LedgerError) return true;
  throw error;
}

/** Each round asks the shards that had more for twice as much: five rounds are sixteen times an even share, all of it. */
const ROUNDS_MAX = 5;

/** Every shard gives at least an even share of `limit`, so no shard can hide another. */
async function dueJobs(
  beforeMs: number,
  limit: number,
  store: Pick<LedgerStore, 'due'>,
  options: ReadOptions,
): Promise<readonly DueJob[]> {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
  const found = new Map<number, readonly DueJob[]>();
  let share = Math.ceil(limit / DUE_SHARDS);
  let open = shards;
  for (let round = 1; round <= ROUNDS_MAX && open.length > 0; round += 1) {
    const asked = share;
    const pages = await Promise.all(open.map((shard) => store.due(shard, beforeMs, asked, options)));
    for (const [index, shard] of open.entries()) found.set(shard, pages[index] ?? []);
    const total = [...found.values()].reduce((sum, jobs) => sum + jobs.length, 0);
    if (total >= limit) break;
    open = open.filter((_, index) => (pages[index]?.length ?? 0) >= asked);
    share = Math.min(limit, share * 2);
  }
  return [...found.values()]
    .flat()
    .sort((a, b) => a.dueAtMs - b.dueAtMs || a.jobId - b.jobId)
    .slice(0, limit);
}

function postponeMove(record: JobRecord | undefined, dueAtMs: number): Move<EndOutcome> {
  if (record === undefined) return noMove('unknown');
  if (!isLive(record) || record.dueAtMs === dueAtMs) return noMove('unchanged');
  return { outcome: 'applied', record: { ...record, dueAtMs, rev: record.rev + 1 }, changes: [] };
}
