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
import { type RejectionRow, RejectionRows } from '../backtest/rejection-rows.ts';
import { type BacktestOptions, replayedJobs } from '../backtest/replayed-jobs.ts';
import { reportJobUrl } from '../job/recorded-job.ts';
import { limitLabel } from '../reading/scope.ts';

type ShadowFigures = Awaited<ReturnType<typeof shadowFigures>>;
export type ArmedFigures = ShadowFigures['ifArmed'];

/** Reads the ledger twice, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function shadowFigures(store: LedgerStore, options: Omit<BacktestOptions, 'obeyed'>) {
  const { rules } = options.rules.policy;
  const passing = new Set(rules.filter(({ onMissing }) => onMissing === 'admit').map(({ id }) => id));
  const [armedRows, watchedRows] = [new RejectionRows(), new RejectionRows()];
  const tries = new Set<string>();
  const armed = {
    /** Jobs with an admission request. */
    jobs: 0,
    /** Part of `jobs`: an enabled controller would have failed them. */
    wouldFail: 0,
    /** Part of `wouldFail`: retries by GitLab, which have new ids. */
    repeats: 0,
    /** Rejected then, and ran nevertheless, in dry run or without a request. */
    ranRejected: 0,
    /** Jobs without a request (unmetered, bypass): they use limits and are not judged. */
    unasked: 0,
  };
  const watched = {
    /** Rejected then. */
    rejected: 0,
    /** Jobs that only rules or limits in mode shadow or warn would reject, and what they cost, micro-units. */
    ...{ wouldFail: 0, costMicros: 0 },
    /** Jobs with a violation, admitted by an exemption. */
    exempt: 0,
    /** Jobs beyond a soft limit. */
    softLimit: 0,
    /** Jobs without a field of a rule whose `on_missing` admits them. */
    missingPassed: 0,
  };
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
    for (const kind of ['exempt', 'softLimit', 'missingPassed'] as const)
      if (kinds.has(kind)) watched[kind] += 1;
    const violations = kinds.get('against');
    if (violations === undefined) continue;
    const cost = costOf(record);
    watched.wouldFail += 1;
    watched.costMicros += cost;
    watchedRows.add({ record, violations, costMicros: cost });
  }
  const { sinceMs, untilMs } = options;
  const { jobs, ranRejected: ran, unasked } = armed;
  return {
    /** Most jobs first; a job counts in each row with a violation. */
    ifArmed: { sinceMs, untilMs, ...armed, rows: armedRows.all() },
    watched: { ...watched, jobs: jobs + unasked, ranRejected: ran, unasked, rows: watchedRows.all() },
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
type ReportSpan = Pick<BacktestOptions, 'sinceMs' | 'untilMs'>;

export interface ZonedSpan extends ReportSpan {
  /** IANA zone of its days and edges. */
  readonly zone: string;
}

export type ShadowReport = Awaited<ReturnType<typeof shadowReport>>;
export type ArmedReport = ReturnType<typeof armedReport>;
export type ReportRow = ReturnType<typeof reportRow>;

interface ReportOptions {
  readonly span: ZonedSpan;
  readonly rules: BacktestRules;
  readonly ledger: string;
  /** Selects jobs. @default all */
  readonly group?: Pick<BacktestOptions, 'counts'> & { readonly label: string; readonly unknown: boolean };
  /** `https://gitlab.example.com`, without a slash at its end. */
  readonly gitlabUrl?: string | undefined;
}

/** Figures with their context, as `--json` prints them. Reads the ledger twice, and writes nothing. */
export async function shadowReport(
  store: LedgerStore,
  { span, rules, ledger, group, gitlabUrl }: ReportOptions,
) {
  const { sinceMs, untilMs, zone } = span;
  const { counts = () => true } = group ?? {};
  const figures = await shadowFigures(store, { sinceMs, untilMs, rules, counts, onJob: () => {} });
  const { rows, ...totals } = figures.watched;
  const using = { directory: rules.directory, gitlabUrl };
  const notes = group?.unknown
    ? [`The directory does not know ${group.label}: groups below it may be missing.`]
    : [];
  return {
    ...{ sinceMs, untilMs, zone, ledger },
    ...(group !== undefined && { group: group.label }),
    currency: rules.policy.currency,
    /** Result of an enabled controller with current rules. */
    ifArmed: armedReport(figures.ifArmed, using),
    /** Real results, and violations in mode shadow or warn. */
    ...{ totals, rows: rows.map((row) => reportRow(row, using)), notes },
  };
}

interface LabelContext {
  readonly directory: Directory;
  readonly gitlabUrl?: string | undefined;
}

export const armedReport = ({ rows, ...totals }: ArmedFigures, using: LabelContext) => ({
  ...totals,
  rows: rows.map((row) => reportRow(row, using)),
});

function reportRow(row: RejectionRow, { directory, gitlabUrl }: LabelContext) {
  const { projectPath, limit, examples, ...rest } = row;
  const path = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  const labelOf = (id: number | undefined, known: string | undefined): string =>
    directory.groupById.get(id ?? 0)?.path || known || String(id ?? 'unknown');
  return {
    ...rest,
    /** `acme/payments money-month`; absent for rules without a limit. */
    ...(limit !== undefined && { limit: limitLabel(limit, directory) }),
    /** Paths if known, else ids. */
    root: labelOf(row.rootId, path?.split('/')[0]),
    group: labelOf(row.groupId, path),
    examples: examples.map((job) => ({
      ...job,
      ...withoutAbsent({ url: reportJobUrl(gitlabUrl, job, directory) }),
    })),
  };
}
