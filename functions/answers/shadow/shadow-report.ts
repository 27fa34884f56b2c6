/** What would have been rejected in a span of time: by an enabled controller, and by what only watches. From every record. */
import type { Directory } from '../../../policies/place/directory.ts';
import { isAwaited, type LedgerStore } from '../../core/ledger/index.ts';
import type { BacktestRules } from '../backtest/question.ts';
import { reportJobUrl } from '../job/job-url.ts';
import { limitLabel } from '../reading/limit-label.ts';
import type { ArmedRow } from './armed-rows.ts';
import { type ArmedForecast, ifArmed } from './if-armed.ts';
import type { ShadowFigureRow, ShadowFigures, ShadowJob } from './shadow-figures.ts';
import { reportJobOf } from './shadow-row.ts';
import { type ShadowOptions, ShadowSimulation } from './shadow-simulation.ts';

/** Half-open: the instant `untilMs` is not part of it. Unix ms. */
export interface ReportSpan {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A span as somebody asked for it. */
export interface ZonedSpan extends ReportSpan {
  /** IANA zone in which its days were meant and its edges are told. */
  readonly zone: string;
}

/** The figures with everything a reader needs beside them. What `--json` prints. */
export interface ShadowReport extends ZonedSpan {
  /** For people: whose books. */
  readonly ledger: string;
  /** The group it is about, if not all. */
  readonly group?: string;
  readonly currency: string;
  /** What an enabled controller would have done to these jobs, by what is enforced now. */
  readonly ifArmed: ArmedReport;
  /** What really happened, and what rules and limits that only watch would have rejected. */
  readonly totals: Omit<ShadowFigures, 'rows'>;
  readonly rows: readonly ReportRow[];
  /** What a reader should know before believing it. */
  readonly notes: readonly string[];
}

export interface ReportRow extends Omit<ShadowFigureRow, 'projectPath' | 'examples'> {
  /** Paths where the directory or a project's path tells them, else ids. */
  readonly root: string;
  readonly group: string;
  readonly examples: readonly ReportJob[];
}

export interface ReportJob extends ShadowJob {
  /** The job's page. */
  readonly url?: string;
}

interface ReportOptions {
  readonly span: ZonedSpan;
  /** What is in force now. */
  readonly rules: BacktestRules;
  /** For people: whose books. */
  readonly ledger: string;
  /** Whose jobs count. @default all */
  readonly group?: Pick<ShadowOptions, 'counts'> & { readonly label: string; readonly unknown: boolean };
  /** `https://gitlab.example.com`, without a slash at its end. */
  readonly gitlabUrl?: string | undefined;
}

/** Reads the ledger three times, and writes nothing. @throws {Error} with the remedy when there are too many jobs. */
export async function shadowReport(
  store: LedgerStore,
  { span, rules, ledger, group, gitlabUrl }: ReportOptions,
): Promise<ShadowReport> {
  const { policy, directory } = rules;
  const { counts = () => true } = group ?? {};
  const { sinceMs, untilMs, zone } = span;
  const { rows, ...totals } = await simulated(store, rules, { sinceMs, untilMs, counts });
  const armed = await ifArmed(store, { sinceMs, untilMs, rules, counts, onJob: () => {} });
  return {
    sinceMs,
    untilMs,
    zone,
    ledger,
    ...(group !== undefined && { group: group.label }),
    currency: policy.currency,
    ifArmed: armedReport(armed, { directory, gitlabUrl }),
    totals,
    rows: rows.map((row) => reportRow(row, directory, gitlabUrl)),
    notes: [
      ...(group?.unknown
        ? [`The directory does not know ${group.label}: groups below it may be missing.`]
        : []),
      ...(totals.naive === undefined ? [NAIVE_LEFT_OUT] : []),
    ],
  };
}

/** The table is read page by page; what is kept of a record is a few numbers. */
async function simulated(
  store: LedgerStore,
  { policy, limits, directory }: BacktestRules,
  span: Pick<ShadowOptions, 'sinceMs' | 'untilMs' | 'counts'>,
): Promise<ShadowFigures> {
  const passing = new Set(policy.rules.filter(({ onMissing }) => onMissing === 'admit').map(({ id }) => id));
  const passesMissing = (rule: string): boolean => passing.has(rule);
  const simulation = new ShadowSimulation({ ...span, limits, directory, passesMissing });
  for await (const item of store.scan())
    if (item.kind === 'record' && !isAwaited(item.record)) simulation.add(item.record);
  return simulation.figures();
}

const NAIVE_LEFT_OUT =
  'The naive count is left out: the ledger holds too many jobs to replay its counters here.';

function reportRow(row: ShadowFigureRow, directory: Directory, gitlabUrl: string | undefined): ReportRow {
  const { projectPath, examples, ...rest } = row;
  const path = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  return {
    ...rest,
    root: reportLabelOf(row.rootId, path?.split('/')[0], directory),
    group: reportLabelOf(row.groupId, path, directory),
    examples: examples.map((job) => {
      const url = reportJobUrl(gitlabUrl, job, directory);
      return { ...job, ...(url !== undefined && { url }) };
    }),
  };
}

const reportLabelOf = (id: number | undefined, path: string | undefined, directory: Directory): string =>
  (id === undefined ? undefined : directory.groupById.get(id)?.path) || path || String(id ?? 'unknown');

/** What an enabled controller would have done, with everything a reader needs beside it. */
export interface ArmedReport extends Omit<ArmedForecast, 'rows'> {
  readonly rows: readonly ArmedReportRow[];
}

export interface ArmedReportRow extends Omit<ArmedRow, 'projectPath' | 'limit' | 'examples'> {
  /** For people: `acme/payments money-month`; absent for rules without a limit. */
  readonly limit?: string;
  /** Paths where the directory or a project's path tells them, else ids. */
  readonly root: string;
  readonly group: string;
  readonly examples: readonly ReportJob[];
}

interface LabelContext {
  readonly directory: Directory;
  readonly gitlabUrl?: string | undefined;
}

export const armedReport = ({ rows, ...totals }: ArmedForecast, using: LabelContext): ArmedReport => ({
  ...totals,
  rows: rows.map((row) => rowOf(row, using)),
});

function rowOf(row: ArmedRow, { directory, gitlabUrl }: LabelContext) {
  const { projectPath, examples, ...rest } = row;
  const path = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  return {
    ...rest,
    ...(rest.limit !== undefined && { limit: limitLabel(rest.limit, directory, row) }),
    root: reportLabelOf(rest.rootId, path?.split('/')[0], directory),
    group: reportLabelOf(rest.groupId, path, directory),
    examples: examples.map((record) => {
      const job = reportJobOf(record);
      const url = reportJobUrl(gitlabUrl, job, directory);
      return { ...job, ...(url !== undefined && { url }) };
    }),
  };
}
