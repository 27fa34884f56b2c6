/**
 * Counts jobs that an enabled controller would have failed, and those that rules and limits in mode shadow or warn would have.
 *
 * Both come from one replay of the recorded jobs under current rules and limits. Its counters leave out refused jobs: in dry
 * run nearly every job runs and uses its limits, so one full budget would make recorded rejections too many.
 */

import type { Directory } from '../../../policies/directory.ts';
import { costMicros } from '../../../policies/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { ranRejected, wasRejected } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import type { BacktestRules } from '../backtest/question.ts';
import { type RejectedExample, type RejectionRow, RejectionRows } from '../backtest/rejection-rows.ts';
import { type BacktestOptions, replayedJobs } from '../backtest/replayed-jobs.ts';
import { reportJobUrl } from '../job/recorded-job.ts';
import { limitLabel } from '../reading/scope.ts';

export interface ShadowFigures {
  readonly ifArmed: ArmedFigures;
  readonly watched: WatchedFigures;
}

export interface ArmedFigures {
  /** Unix ms, half-open. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Jobs with an admission request. */
  readonly jobs: number;
  /** Part of `jobs`: an enabled controller would have failed them. */
  readonly wouldFail: number;
  /** Part of `wouldFail`: retries by GitLab, which have new ids. */
  readonly repeats: number;
  /** Rejected then, and ran nevertheless, in dry run or without a request. */
  readonly ranRejected: number;
  /** Jobs without a request (unmetered, bypass): they use limits and are not judged. */
  readonly unasked: number;
  /** Most jobs first; a job counts in each row with a violation. */
  readonly rows: readonly RejectionRow[];
}

interface WatchedFigures {
  /** Jobs decided in the span. */
  readonly jobs: number;
  /** Part of `jobs`: rejected then. */
  readonly rejected: number;
  /** Part of `rejected`: ran nevertheless. */
  readonly ranRejected: number;
  readonly unasked: number;
  /** Jobs that only rules or limits in mode shadow or warn would reject. */
  readonly wouldFail: number;
  /** Cost of `wouldFail`, settled or estimated, micro-units. */
  readonly costMicros: number;
  /** Jobs with a violation, admitted by an exemption. */
  readonly exempt: number;
  /** Jobs beyond a soft limit. */
  readonly softLimit: number;
  /** Jobs without a field of a rule whose `on_missing` admits them. */
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
  // The grace of its pipeline admitted it; a claim that a limit in shadow or warn refused is not fitted.
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

/** A retried job has another id. */
const tryKey = ({ jobId, facts: { projectId, pipelineId, jobName } }: JobRecord): string =>
  pipelineId === undefined || jobName === undefined
    ? String(jobId)
    : JSON.stringify([projectId, pipelineId, jobName]);

/** Half-open, Unix ms. */
interface ReportSpan {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface ZonedSpan extends ReportSpan {
  /** IANA zone of its days and edges. */
  readonly zone: string;
}

/** Figures with their context, as `--json` prints them. */
export interface ShadowReport extends ZonedSpan {
  /** Name of the table, for people. */
  readonly ledger: string;
  /** Absent: all groups. */
  readonly group?: string;
  readonly currency: string;
  /** Result of an enabled controller with current rules. */
  readonly ifArmed: ArmedReport;
  /** Real results, and violations in mode shadow or warn. */
  readonly totals: Omit<WatchedFigures, 'rows'>;
  readonly rows: readonly ReportRow[];
  readonly notes: readonly string[];
}

export interface ArmedReport extends Omit<ArmedFigures, 'rows'> {
  readonly rows: readonly ReportRow[];
}

export interface ReportRow extends Omit<RejectionRow, 'projectPath' | 'limit' | 'examples'> {
  /** `acme/payments money-month`; absent for rules without a limit. */
  readonly limit?: string;
  /** Paths if known, else ids. */
  readonly root: string;
  readonly group: string;
  readonly examples: readonly ReportJob[];
}

export interface ReportJob extends RejectedExample {
  readonly url?: string;
}

interface ReportOptions {
  readonly span: ZonedSpan;
  readonly rules: BacktestRules;
  readonly ledger: string;
  /** Selects jobs. @default all */
  readonly group?: Pick<BacktestOptions, 'counts'> & { readonly label: string; readonly unknown: boolean };
  /** `https://gitlab.example.com`, without a slash at its end. */
  readonly gitlabUrl?: string | undefined;
}

/** Reads the ledger twice, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function shadowReport(
  store: LedgerStore,
  { span, rules, ledger, group, gitlabUrl }: ReportOptions,
): Promise<ShadowReport> {
  const { sinceMs, untilMs, zone } = span;
  const { counts = () => true } = group ?? {};
  const figures = await shadowFigures(store, { sinceMs, untilMs, rules, counts, onJob: () => {} });
  const { rows, ...totals } = figures.watched;
  const using = { directory: rules.directory, gitlabUrl };
  return {
    ...{ sinceMs, untilMs, zone, ledger },
    ...(group !== undefined && { group: group.label }),
    currency: rules.policy.currency,
    ifArmed: armedReport(figures.ifArmed, using),
    totals,
    rows: rows.map((row) => reportRow(row, using)),
    notes: group?.unknown
      ? [`The directory does not know ${group.label}: groups below it may be missing.`]
      : [],
  };
}

interface LabelContext {
  readonly directory: Directory;
  readonly gitlabUrl?: string | undefined;
}

export const armedReport = ({ rows, ...totals }: ArmedFigures, using: LabelContext): ArmedReport => ({
  ...totals,
  rows: rows.map((row) => reportRow(row, using)),
});

function reportRow(row: RejectionRow, { directory, gitlabUrl }: LabelContext): ReportRow {
  const { projectPath, limit, examples, ...rest } = row;
  const path = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  const labelOf = (id: number | undefined, known: string | undefined): string =>
    directory.groupById.get(id ?? 0)?.path || known || String(id ?? 'unknown');
  return {
    ...rest,
    ...(limit !== undefined && { limit: limitLabel(limit, directory, row) }),
    root: labelOf(row.rootId, path?.split('/')[0]),
    group: labelOf(row.groupId, path),
    examples: examples.map((job) => ({
      ...job,
      ...withoutAbsent({ url: reportJobUrl(gitlabUrl, job, directory) }),
    })),
  };
}
