/**
 * Counts jobs of a span that an enabled controller would reject, and violations in shadow mode. Uses every
 * record.
 */
import type { Directory } from '../../../policies/place/directory.ts';
import type { LedgerStore } from '../../core/ledger/index.ts';
import type { BacktestRules } from '../backtest/question.ts';
import type { BacktestOptions } from '../backtest/replayed-jobs.ts';
import { reportJobUrl } from '../job/job-url.ts';
import { limitLabel } from '../reading/limit-label.ts';
import type { RejectedExample, RejectionRow } from './rejection-rows.ts';
import { type ArmedFigures, shadowFigures, type WatchedFigures } from './shadow-figures.ts';

/** Half-open: the instant `untilMs` is not part of it. Unix ms. */
export interface ReportSpan {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A span as a user asked for it. */
export interface ZonedSpan extends ReportSpan {
  /** IANA zone of its days and edges. */
  readonly zone: string;
}

/** The figures with everything a reader needs next to them. What `--json` prints. */
export interface ShadowReport extends ZonedSpan {
  /** For people: which table. */
  readonly ledger: string;
  /** The group it is about, if not all. */
  readonly group?: string;
  readonly currency: string;
  /** Result with an enabled controller, by rules enforced now. */
  readonly ifArmed: ArmedReport;
  /** Real results, and violations in shadow mode. */
  readonly totals: Omit<WatchedFigures, 'rows'>;
  readonly rows: readonly ReportRow[];
  /** Caveats for the reader. */
  readonly notes: readonly string[];
}

export interface ArmedReport extends Omit<ArmedFigures, 'rows'> {
  readonly rows: readonly ReportRow[];
}

export interface ReportRow extends Omit<RejectionRow, 'projectPath' | 'limit' | 'examples'> {
  /** For people: `acme/payments money-month`; absent for rules without a limit. */
  readonly limit?: string;
  /** Paths where the directory or a project's path has them, else ids. */
  readonly root: string;
  readonly group: string;
  readonly examples: readonly ReportJob[];
}

export interface ReportJob extends RejectedExample {
  /** The job's page. */
  readonly url?: string;
}

interface ReportOptions {
  readonly span: ZonedSpan;
  /** Current rules. */
  readonly rules: BacktestRules;
  /** For people: which table. */
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
  return {
    ...rest,
    ...(limit !== undefined && { limit: limitLabel(limit, directory, row) }),
    root: reportLabelOf(row.rootId, path?.split('/')[0], directory),
    group: reportLabelOf(row.groupId, path, directory),
    examples: examples.map((record) => reportJob(record, directory, gitlabUrl)),
  };
}

function reportJob(job: RejectedExample, directory: Directory, gitlabUrl: string | undefined): ReportJob {
  const url = reportJobUrl(gitlabUrl, job, directory);
  return { ...job, ...(url !== undefined && { url }) };
}

const reportLabelOf = (id: number | undefined, path: string | undefined, directory: Directory): string =>
  (id === undefined ? undefined : directory.groupById.get(id)?.path) || path || String(id ?? 'unknown');
