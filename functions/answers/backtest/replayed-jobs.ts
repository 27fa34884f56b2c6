import { type LimitSet, limitPeriod } from '../../../policies/limits/limits.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { hasNoAdmissionRequest } from '../../core/ledger/reservation.ts';
import { isLive } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { Replay, type ReplayedJob } from './replay.ts';
import { type BacktestRules, ReplayRequests } from './replay-requests.ts';

export interface BacktestOptions {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly rules: BacktestRules;
  readonly counts: (record: JobRecord) => boolean;
  readonly onJob: () => void;
  /** GitLab follows every answer, as it does while the controller is enabled. @default false: jobs that ran are counted */
  readonly obeyed?: boolean;
}

/**
 * Yields counted jobs in decision order, each with its replayed result; undefined: without an admission
 * request. Reads the ledger twice and writes nothing.
 */
export async function* replayedJobs(
  store: LedgerStore,
  { sinceMs, untilMs, rules, counts, onJob, obeyed = false }: BacktestOptions,
): AsyncGenerator<ReplayedJob | undefined> {
  const replay = new Replay(new ReplayRequests(rules), sinceMs, { obeyed });
  for await (const record of jobsInOrder(store, jobsThatMatter({ sinceMs, untilMs }, rules.limits))) {
    onJob();
    const replayed = replay.next(record);
    if (record.decidedAtMs >= sinceMs && counts(record)) yield replayed;
  }
}

/** Jobs of a time, and those before it that count in a period that was open when it began, or were running. */
export function jobsThatMatter(
  { sinceMs, untilMs }: Pick<BacktestOptions, 'sinceMs' | 'untilMs'>,
  ...sets: readonly LimitSet[]
): (record: JobRecord) => boolean {
  const fromMs = earliestPeriodMs(sinceMs, ...sets);
  return (record) =>
    record.decidedAtMs < untilMs &&
    (record.decidedAtMs >= fromMs || isLive(record) || (record.endedAtMs ?? 0) >= sinceMs);
}

/** Returns the start of the earliest period open at that instant, whose counters already had amounts. */
export function earliestPeriodMs(sinceMs: number, ...sets: readonly LimitSet[]): number {
  let fromMs = sinceMs;
  for (const { groupDefaults, bySubject, personalDefault } of sets) {
    const byDefault = groupDefaults?.all.map(({ limit }) => limit) ?? [];
    for (const limit of [...bySubject.values(), personalDefault, byDefault].flat())
      fromMs = Math.min(fromMs, limitPeriod(limit, sinceMs)?.startMs ?? sinceMs);
  }
  return fromMs;
}

/** 16 bytes each. */
const JOBS_MAX = 5_000_000;
const BATCH = 100;
const READ_TIMEOUT_MS = 15_000;

/**
 * Records in the order of their decisions. A table is scanned in no order, so the first walk keeps only when each job
 * was decided, and the second reads the records batch by batch: memory does not grow with what they say.
 *
 * @throws {Error} with the remedy, when there are too many.
 */
export async function* jobsInOrder(
  store: LedgerStore,
  wanted: (record: JobRecord) => boolean,
): AsyncGenerator<JobRecord> {
  const times: number[] = [];
  const ids: number[] = [];
  for await (const item of store.scan()) {
    if (item.kind !== 'record' || hasNoAdmissionRequest(item.record) || !wanted(item.record)) continue;
    if (ids.length >= JOBS_MAX)
      throw new Error(`more than ${JOBS_MAX} jobs to replay: choose a shorter time with --since`);
    times.push(item.record.decidedAtMs);
    ids.push(item.record.jobId);
  }
  const places = new Uint32Array(ids.length).map((_, index) => index);
  // Job ids are handed out one by one: the smaller of two from one instant came first.
  places.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || (ids[a] ?? 0) - (ids[b] ?? 0));
  let lastMs = Number.NEGATIVE_INFINITY;
  for (let from = 0; from < places.length; from += BATCH) {
    const jobIds = [...places.subarray(from, from + BATCH)].map((place) => ids[place] ?? 0);
    for (const record of await store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS })) {
      // Decided again since it was scanned, at a later time.
      if (record === undefined || !wanted(record) || record.decidedAtMs < lastMs) continue;
      lastMs = record.decidedAtMs;
      yield record;
    }
  }
}
