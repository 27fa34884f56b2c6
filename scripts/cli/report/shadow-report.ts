import { reportJobUrl } from '../../../functions/answers/job/job-url.ts';
import type { ArmedForecast } from '../../../functions/answers/shadow/if-armed.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { type ArmedReport, armedReport } from './armed-report.ts';
import type { ShadowFigureRow, ShadowFigures, ShadowJob } from './shadow-figures.ts';
import type { ZonedSpan } from './span.ts';

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

export interface ReportContext extends ZonedSpan {
  readonly ledger: string;
  readonly group?: string;
  readonly currency: string;
  readonly directory: Directory;
  /** `https://gitlab.example.com`, without a slash at its end. */
  readonly gitlabUrl?: string | undefined;
  readonly armed: ArmedForecast;
  readonly notes: readonly string[];
}

export function shadowReport(figures: ShadowFigures, using: ReportContext): ShadowReport {
  const { sinceMs, untilMs, zone, ledger, group, currency, directory, gitlabUrl, armed, notes } = using;
  const { rows, ...totals } = figures;
  return {
    sinceMs,
    untilMs,
    zone,
    ledger,
    ...(group !== undefined && { group }),
    currency,
    ifArmed: armedReport(armed, { directory, gitlabUrl }),
    totals,
    rows: rows.map((row) => reportRow(row, directory, gitlabUrl)),
    notes: [...notes, ...(totals.naive === undefined ? [NAIVE_LEFT_OUT] : [])],
  };
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

export const reportLabelOf = (
  id: number | undefined,
  path: string | undefined,
  directory: Directory,
): string =>
  (id === undefined ? undefined : directory.groupById.get(id)?.path) || path || String(id ?? 'unknown');
