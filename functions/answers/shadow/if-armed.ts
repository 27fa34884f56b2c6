/**
 * What an enabled controller would have done to the recorded jobs: asked of the rules and limits of now, in order, on counters
 * that leave out whatever would have been rejected. In dry run nearly every job runs and uses up its limits, so counting the
 * recorded rejections instead would be too many once a budget is full, and none for a limit that was set since.
 */
import { type JobRecord, type LedgerStore, ranRejected } from '../../core/ledger/index.ts';
import { type BacktestOptions, replayedJobs } from '../backtest/replayed-jobs.ts';
import { type ArmedRow, ArmedRows } from './armed-rows.ts';

export interface ArmedForecast {
  /** Unix ms, half-open. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Jobs that were asked about. */
  readonly jobs: number;
  /** Part of `jobs`: those an enabled controller would have failed. */
  readonly wouldFail: number;
  /**
   * Part of `wouldFail`: another try of a job of the same pipeline that is counted already. GitLab retries a rejected job
   * where its `retry:` allows it, up to twice and under new ids.
   */
  readonly repeats: number;
  /** Rejected then, and ran all the same: the controller was in dry run, or they passed us by. */
  readonly ranRejected: number;
  /** Jobs nobody was asked about (unmetered, bypass): they use up limits and are not judged. */
  readonly unasked: number;
  /** Most jobs first; a job counts in each row that has something against it. */
  readonly rows: readonly ArmedRow[];
}

/** Reads the ledger twice, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function ifArmed(
  store: LedgerStore,
  options: Omit<BacktestOptions, 'obeyed'>,
): Promise<ArmedForecast> {
  const rows = new ArmedRows();
  const tries = new Set<string>();
  const totals = { jobs: 0, wouldFail: 0, repeats: 0, ranRejected: 0, unasked: 0 };
  for await (const replayed of replayedJobs(store, { ...options, obeyed: true })) {
    if (replayed === undefined) {
      totals.unasked += 1;
      continue;
    }
    const { record, now } = replayed;
    totals.jobs += 1;
    if (ranRejected(record)) totals.ranRejected += 1;
    if (now?.state !== 'REJECTED') continue;
    const key = tryKey(record);
    const repeats = tries.has(key) ? 1 : 0;
    tries.add(key);
    totals.wouldFail += 1;
    totals.repeats += repeats;
    rows.add(record, now.violations, repeats);
  }
  const { sinceMs, untilMs } = options;
  return { sinceMs, untilMs, ...totals, rows: rows.all() };
}

/** A retried job has another id, and everything else as before. A job without a pipeline is one of its own. */
const tryKey = ({ jobId, facts: { projectId, pipelineId, jobName } }: JobRecord): string =>
  pipelineId === undefined || jobName === undefined
    ? String(jobId)
    : JSON.stringify([projectId, pipelineId, jobName]);
