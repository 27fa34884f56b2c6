import { reportJobUrl } from '../../../functions/answers/job/job-url.ts';
import type { ArmedRow } from '../../../functions/answers/shadow/armed-rows.ts';
import type { ArmedForecast } from '../../../functions/answers/shadow/if-armed.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { type ReportContext, type ReportJob, reportLabelOf } from './shadow-report.ts';
import { reportJobOf } from './shadow-row.ts';
import { shadowCount, shareText } from './shadow-words.ts';

/** What an enabled controller would have done, with everything a reader needs beside it. */
export interface ArmedReport extends Omit<ArmedForecast, 'rows'> {
  readonly rows: readonly ArmedReportRow[];
}

export interface ArmedReportRow extends Omit<ArmedRow, 'projectPath' | 'examples'> {
  /** Paths where the directory or a project's path tells them, else ids. */
  readonly root: string;
  readonly group: string;
  readonly examples: readonly ReportJob[];
}

export const armedReport = (
  { rows, ...totals }: ArmedForecast,
  using: Pick<ReportContext, 'directory' | 'gitlabUrl'>,
): ArmedReport => ({ ...totals, rows: rows.map((row) => rowOf(row, using)) });

function rowOf(row: ArmedRow, { directory, gitlabUrl }: Pick<ReportContext, 'directory' | 'gitlabUrl'>) {
  const { projectPath, examples, ...rest } = row;
  const path = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  return {
    ...rest,
    ...(rest.limit !== undefined && { limit: limitLabel(rest.limit, directory) }),
    root: reportLabelOf(rest.rootId, path?.split('/')[0], directory),
    group: reportLabelOf(rest.groupId, path, directory),
    examples: examples.map((record) => {
      const job = reportJobOf(record);
      const url = reportJobUrl(gitlabUrl, job, directory);
      return { ...job, ...(url !== undefined && { url }) };
    }),
  };
}

/** `group/101 money-month` → `acme/payments money-month`. */
function limitLabel(limit: string, directory: Directory): string {
  const [, id, name] = /^group\/(\d+) (.*)$/.exec(limit) ?? [];
  const path = id === undefined ? undefined : directory.groupById.get(Number(id))?.path;
  return path === undefined ? limit : `${path} ${name}`;
}

/** `If armed now: 2 of 14 jobs would have failed (14 %)`, and how many of them are one job tried again. */
export function armedSentence({ jobs, wouldFail, repeats }: Omit<ArmedForecast, 'rows'>): string {
  const share = jobs === 0 || wouldFail === 0 ? '' : ` (${shareText(wouldFail / jobs)})`;
  const again =
    repeats === 0
      ? ''
      : `; ${shadowCount(repeats)} of them ${repeats === 1 ? 'is' : 'are'} a job tried again`;
  return `If armed now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed${share}${again}, by the rules and limits of now.`;
}

/** What a recorded run cannot show; nothing where nothing would fail. */
export const retrySentence = ({ wouldFail }: Pick<ArmedForecast, 'wouldFail'>): string | undefined =>
  wouldFail === 0
    ? undefined
    : 'GitLab tries a rejected job again where its "retry:" allows it: one rejection may become up to three jobs.';
