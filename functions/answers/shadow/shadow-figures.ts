/**
 * Counts the jobs that an enabled controller would have failed, and those that rules and limits in mode shadow or warn would have.
 *
 * Both come from one replay of the recorded jobs by the rules and limits of now. Its counters leave out each refused job: in dry
 * run nearly every job runs and uses up its limits, so recorded rejections would be too many as soon as one budget is full.
 */

import { costMicros } from '../../../policies/prices/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { type JobRecord, type LedgerStore, ranRejected, wasRejected } from '../../core/ledger/index.ts';
import { type BacktestOptions, replayedJobs } from '../backtest/replayed-jobs.ts';
import { type RejectionRow, RejectionRows } from './rejection-rows.ts';

export interface ShadowFigures {
  readonly ifArmed: ArmedFigures;
  readonly watched: WatchedFigures;
}

export interface ArmedFigures {
  /** Unix ms, half-open. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Jobs that were asked about. */
  readonly jobs: number;
  /** Part of `jobs`: an enabled controller would have failed them. */
  readonly wouldFail: number;
  /**
   * Part of `wouldFail`: another try of a job of the same pipeline that is counted already. GitLab retries a rejected job
   * where its `retry:` allows it, up to twice and under new ids.
   */
  readonly repeats: number;
  /** Rejected then, and ran all the same: the controller was in dry run, or the job did not ask. */
  readonly ranRejected: number;
  /** Jobs that were not asked about (unmetered, bypass): they use up limits and are not judged. */
  readonly unasked: number;
  /** Most jobs first; a job counts in each row that has something against it. */
  readonly rows: readonly RejectionRow[];
}

export interface WatchedFigures {
  /** Jobs decided in the span, asked about or not. */
  readonly jobs: number;
  /** Part of `jobs`: rejected then by what was enforced. */
  readonly rejected: number;
  /** Part of `rejected`: ran all the same. */
  readonly ranRejected: number;
  readonly unasked: number;
  /** Jobs that pass what is enforced, and that something in mode shadow or warn would reject. */
  readonly wouldFail: number;
  /** Micro-units that `wouldFail` cost: settled where it is known, else estimated. */
  readonly costMicros: number;
  /** Jobs against which a rule had something, and which an exemption let pass. */
  readonly exempt: number;
  /** Jobs past a soft limit, which notifies the owner. */
  readonly softLimit: number;
  /** Jobs that lacked a field, before rules whose `on_missing` lets them pass. */
  readonly missingPassed: number;
  readonly rows: readonly RejectionRow[];
}

/** Reads the ledger twice, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function shadowFigures(
  store: LedgerStore,
  options: Omit<BacktestOptions, 'obeyed'>,
): Promise<ShadowFigures> {
  const { rules } = options.rules.policy;
  const passing = new Set(rules.filter(({ onMissing }) => onMissing === 'admit').map(({ id }) => id));
  const [armedRows, watchedRows] = [new RejectionRows(), new RejectionRows()];
  const tries = new Set<string>();
  const armed = { jobs: 0, wouldFail: 0, repeats: 0, ranRejected: 0, unasked: 0 };
  const watched = { rejected: 0, wouldFail: 0, costMicros: 0, exempt: 0, softLimit: 0, missingPassed: 0 };
  for await (const replayed of replayedJobs(store, { ...options, obeyed: true })) {
    if (replayed === undefined) {
      armed.unasked += 1;
      continue;
    }
    const { record, now } = replayed;
    armed.jobs += 1;
    if (wasRejected(record)) watched.rejected += 1;
    if (ranRejected(record)) armed.ranRejected += 1;
    if (now === undefined) continue;
    if (now.state === 'REJECTED') {
      const key = tryKey(record);
      const repeats = tries.has(key);
      tries.add(key);
      armed.wouldFail += 1;
      if (repeats) armed.repeats += 1;
      armedRows.add({ record, violations: now.violations, repeats });
      continue;
    }
    const kinds = Map.groupBy(now.shadow, (violation) => kindOf(violation, now, passing));
    if (kinds.has('exempt')) watched.exempt += 1;
    if (kinds.has('softLimit')) watched.softLimit += 1;
    if (kinds.has('missingPassed')) watched.missingPassed += 1;
    const violations = kinds.get('against');
    if (violations === undefined) continue;
    const cost = costOf(record);
    watched.wouldFail += 1;
    watched.costMicros += cost;
    watchedRows.add({ record, violations, costMicros: cost });
  }
  const { sinceMs, untilMs } = options;
  return {
    ifArmed: { sinceMs, untilMs, ...armed, rows: armedRows.all() },
    watched: {
      ...watched,
      jobs: armed.jobs + armed.unasked,
      ranRejected: armed.ranRejected,
      unasked: armed.unasked,
      rows: watchedRows.all(),
    },
  };
}

type ShadowKind = 'against' | 'exempt' | 'softLimit' | 'missingPassed' | 'grace';

function kindOf(
  { reason, rule, mode, exempt }: Violation,
  job: JobRecord,
  passing: ReadonlySet<string>,
): ShadowKind {
  if (exempt === true) return 'exempt';
  if (reason.code === 'SOFT_LIMIT') return 'softLimit';
  if (reason.code === 'FIELD_MISSING' && passing.has(rule)) return 'missingPassed';
  // The grace of its pipeline let it past an enforced limit; a claim that a watching limit refused is not fitted.
  const claim =
    'committed' in reason && mode === 'warn'
      ? job.claims.find(({ counter }) => counter.subject === reason.subject && counter.limit === reason.limit)
      : undefined;
  return claim?.checked === true && claim.fitted ? 'grace' : 'against';
}

const costOf = ({ facts, durationSeconds }: JobRecord): number =>
  durationSeconds === undefined
    ? facts.costMicros
    : costMicros(facts.microsPerMinute, durationSeconds, facts.round);

/** A retried job has another id, and everything else as before. A job without a pipeline is one of its own. */
const tryKey = ({ jobId, facts: { projectId, pipelineId, jobName } }: JobRecord): string =>
  pipelineId === undefined || jobName === undefined
    ? String(jobId)
    : JSON.stringify([projectId, pipelineId, jobName]);
