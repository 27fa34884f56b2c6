/**
 * What an enabled controller would have done to the recorded jobs: asked of the rules and limits of now, in order, on counters
 * that leave out whatever would have been rejected. In dry run nearly every job runs and uses up its limits, so counting the
 * recorded rejections instead would be too many once a budget is full, and none for a limit that was set since.
 */
import { type JobRecord, type LedgerStore, ranRejected } from '../../core/ledger/index.ts';
import { type BacktestOptions, replayedJobs } from '../backtest/replayed-jobs.ts';

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

/** Jobs of one group that one rule or limit would have rejected for one reason. */
export interface ArmedRow {
  readonly rootId?: number;
  readonly groupId?: number;
  /** Path of a project in that group, for a label where the directory has none. */
  readonly projectPath?: string;
  readonly rule: string;
  /** `group/101 money-month`; absent for rules without a limit. */
  readonly limit?: string;
  readonly code: string;
  readonly jobs: number;
  readonly repeats: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The latest, newest first; not all where there are many. */
  readonly examples: readonly JobRecord[];
}

/** Groups × rules × limits: nobody reads the end of a longer list, and what is beyond is counted in the totals only. */
const ROWS_MAX = 5_000;
const EXAMPLES_MAX = 10;

type Open<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** Reads the ledger twice, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function ifArmed(
  store: LedgerStore,
  options: Omit<BacktestOptions, 'obeyed'>,
): Promise<ArmedForecast> {
  const rows = new Map<string, Open<ArmedRow>>();
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
    for (const row of rowsOf(record, now, rows)) count(row, record, repeats);
  }
  const { sinceMs, untilMs } = options;
  return { sinceMs, untilMs, ...totals, rows: [...rows.values()].sort(byWeight) };
}

/** A retried job has another id, and everything else as before. A job without a pipeline is one of its own. */
const tryKey = ({ jobId, facts: { projectId, pipelineId, jobName } }: JobRecord): string =>
  pipelineId === undefined || jobName === undefined
    ? String(jobId)
    : JSON.stringify([projectId, pipelineId, jobName]);

/** A job counts once per limit, however many violations of it there are. */
function rowsOf(
  record: JobRecord,
  { violations }: Pick<JobRecord, 'violations'>,
  rows: Map<string, Open<ArmedRow>>,
): ReadonlySet<Open<ArmedRow>> {
  const { rootId, groupId, projectPath } = record.facts;
  const found = new Set<Open<ArmedRow>>();
  for (const { rule, reason } of violations) {
    const limit = 'limit' in reason ? `${reason.subject} ${reason.limit}` : undefined;
    const key = [rootId ?? '', groupId ?? projectPath ?? '', rule, limit, reason.code].join('\n');
    const known = rows.get(key);
    if (known !== undefined) found.add(known);
    if (known !== undefined || rows.size >= ROWS_MAX) continue;
    const made = {
      ...(rootId !== undefined && { rootId }),
      ...(groupId !== undefined && { groupId }),
      ...(projectPath !== undefined && { projectPath }),
      rule,
      ...(limit !== undefined && { limit }),
      code: reason.code,
      jobs: 0,
      repeats: 0,
      firstAtMs: record.decidedAtMs,
      lastAtMs: record.decidedAtMs,
      examples: [],
    };
    rows.set(key, made);
    found.add(made);
  }
  return found;
}

/** Jobs come in order, so the latest is the last. */
function count(row: Open<ArmedRow>, record: JobRecord, repeats: number): void {
  row.jobs += 1;
  row.repeats += repeats;
  row.lastAtMs = record.decidedAtMs;
  row.examples = [record, ...row.examples].slice(0, EXAMPLES_MAX);
}

const byWeight = (a: ArmedRow, b: ArmedRow): number =>
  b.jobs - a.jobs || (a.groupId ?? 0) - (b.groupId ?? 0) || (a.rule < b.rule ? -1 : 1);
