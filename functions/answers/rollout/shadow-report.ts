/**
 * Counts jobs that an enabled controller would have failed, and those that rules and limits in mode shadow or warn would have.
 *
 * Both come from one replay of the recorded jobs under current rules and limits. Its counters leave out refused jobs: in dry
 * run nearly every job runs and uses its limits, so one full budget would make recorded rejections too many.
 */

import { costMicros } from '../../../policies/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { ranRejected, wasRejected } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import { type RejectionRow, RejectionRows } from '../backtest/rejection-rows.ts';
import type { BacktestRules } from '../backtest/replay-requests.ts';
import { type BacktestOptions, replayedJobs } from '../backtest/replayed-jobs.ts';
import { reportJobUrl } from '../job/recorded-job.ts';
import { groupLabelOf, limitLabel } from '../reading/scope.ts';

export interface ZonedSpan extends Pick<BacktestOptions, 'sinceMs' | 'untilMs'> {
  readonly zone: string;
}

interface ReportOptions {
  readonly span: ZonedSpan;
  readonly rules: BacktestRules;
  readonly ledger: string;
  readonly group?: string;
  readonly counts?: BacktestOptions['counts'];
  readonly onJob?: () => void;
  /** `https://gitlab.example.com`, without a slash at its end. */
  readonly gitlabUrl?: string | undefined;
}

export type ShadowReport = Awaited<ReturnType<typeof shadowReport>>;
export type ArmedReport = ShadowReport['ifArmed'];
export type ReportRow = ArmedReport['rows'][number];

/** Reads the ledger twice, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function shadowReport(
  store: LedgerStore,
  { span, rules, ledger, group, counts = () => true, onJob = () => {}, gitlabUrl }: ReportOptions,
) {
  const { sinceMs, untilMs } = span;
  const passing = new Set(
    rules.policy.rules.filter(({ onMissing }) => onMissing === 'admit').map(({ id }) => id),
  );
  const [armedRows, watchedRows] = [new RejectionRows(), new RejectionRows()];
  /** `ranRejected`: rejected then, and ran. `unasked`: without a request; they use limits and are not judged. */
  const armed = { jobs: 0, wouldFail: 0, ranRejected: 0, unasked: 0 };
  const watched = { rejected: 0, wouldFail: 0, costMicros: 0 };
  const options = { sinceMs, untilMs, rules, counts, onJob, obeyed: true };
  for await (const replayed of replayedJobs(store, options)) {
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
      armed.wouldFail += 1;
      armedRows.add(record, now.violations);
      continue;
    }
    const violations = now.shadow.filter((violation) => isAgainst(violation, now, passing));
    if (violations.length === 0) continue;
    const cost = costOf(record);
    watched.wouldFail += 1;
    watched.costMicros += cost;
    watchedRows.add(record, violations, cost);
  }
  const { jobs, unasked } = armed;
  const shown = (rows: RejectionRows) => rows.all().map((row) => reportRow(row, rules, gitlabUrl));
  return {
    ...{ ...span, ledger, ...withoutAbsent({ group }), currency: rules.policy.currency },
    /** Result of an enabled controller with current rules. A job counts in each row with a violation. */
    ifArmed: { ...armed, rows: shown(armedRows) },
    /** Real results, and violations in mode shadow or warn. */
    totals: { ...watched, jobs: jobs + unasked, ranRejected: armed.ranRejected, unasked },
    rows: shown(watchedRows),
  };
}

/** False for exempt jobs, soft limits, and missing fields that `on_missing` admits. */
function isAgainst(
  { reason, rule, mode, exempt }: Violation,
  job: JobRecord,
  passing: ReadonlySet<string>,
): boolean {
  if (exempt === true || reason.code === 'SOFT_LIMIT') return false;
  if (reason.code === 'FIELD_MISSING' && passing.has(rule)) return false;
  if (!('committed' in reason) || mode !== 'warn') return true;
  // The grace of its pipeline admitted it; a claim that a limit in shadow or warn refused is not fitted.
  const claim = job.claims.find(
    ({ counter }) => counter.subject === reason.subject && counter.limit === reason.limit,
  );
  return !(claim?.checked === true && claim.fitted);
}

const costOf = ({ facts, durationSeconds }: JobRecord): number =>
  durationSeconds === undefined
    ? facts.costMicros
    : costMicros(facts.microsPerMinute, durationSeconds, facts.round);

function reportRow(row: RejectionRow, { directory }: BacktestRules, gitlabUrl: string | undefined) {
  const { projectPath, limit, examples, ...rest } = row;
  const group = groupLabelOf(row, directory);
  return {
    ...rest,
    ...(limit !== undefined && { limit: limitLabel(limit, directory) }),
    root: directory.chainById.get(row.groupId ?? 0)?.[0]?.path ?? group.split('/')[0] ?? group,
    group,
    examples: examples.map((job) => {
      const url = reportJobUrl(gitlabUrl, job, directory);
      return { ...job, ...withoutAbsent({ url }) };
    }),
  };
}
