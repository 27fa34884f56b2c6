import { type LimitSet, limitPeriod } from '../../../policies/limits/limits.ts';
import { isLive, type JobRecord, type LedgerStore } from '../../core/ledger/index.ts';
import { jobsInOrder } from './jobs-in-order.ts';
import { BacktestQuestions, type BacktestRules } from './question.ts';
import { Replay, type ReplayedJob } from './replay.ts';

export interface BacktestOptions {
  /** Unix ms, half-open: jobs decided in it are judged. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly rules: BacktestRules;
  /** Selects jobs to count; all others still use the limits. */
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
  const replay = new Replay(new BacktestQuestions(rules), sinceMs, { obeyed });
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
