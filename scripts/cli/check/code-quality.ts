import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Violation } from '../../../policies/reason.ts';
import { codedReasonText } from '../evaluation/rule-text.ts';
import type { JobCheck } from './job-check.ts';
import { type PipelineCheck, unreadBy } from './pipeline-check.ts';

/**
 * One entry of GitLab's code quality report.
 *
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
interface CodeQualityEntry {
  readonly description: string;
  /** The rule. */
  readonly check_name: string;
  /** Stable for the same job and finding, in any place: GitLab uses it to find new ones. */
  readonly fingerprint: string;
  readonly severity: 'info' | 'minor' | 'major' | 'critical' | 'blocker';
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } };
}

const SEVERITY = { enforce: 'blocker', warn: 'minor', shadow: 'info' } as const;

/**
 * Lists violations at the jobs' lines, and unread parts. Equal findings of a matrix are one entry.
 *
 * @param folder - of the pipeline, from the repository's root; '' for the root.
 */
export function codeQuality(
  { jobs, currency, pipeline }: PipelineCheck,
  folder: string,
): readonly CodeQualityEntry[] {
  const entries = new Map<string, CodeQualityEntry>();
  const add = (entry: CodeQualityEntry): void => {
    if (!entries.has(entry.fingerprint)) entries.set(entry.fingerprint, entry);
  };
  for (const what of pipeline.notRead) add(unreadEntry(`Not sure: ${what}`, undefined, folder));
  for (const check of jobs) {
    for (const what of unreadBy(check.job))
      if (!pipeline.notRead.includes(what))
        add(unreadEntry(`Job "${check.job.definedAs}" is not sure: ${what}`, check.job, folder));
    for (const violation of [...check.rejects, ...check.watched]) {
      add(entryOf(check, violation, currency, folder));
    }
  }
  return [...entries.values()];
}

function entryOf(
  { job }: JobCheck,
  { rule, mode, reason }: Violation,
  currency: string,
  folder: string,
): CodeQualityEntry {
  const text = codedReasonText(reason, currency);
  const verb = mode === 'enforce' ? 'would be rejected' : `is watched (${mode})`;
  const { path, line } = locationOf(job, folder);
  return {
    description: `Job "${job.definedAs}" ${verb} by rule ${rule}: ${text}`,
    check_name: rule,
    fingerprint: fingerprint([path, job.definedAs, rule, mode, text]),
    severity: SEVERITY[mode],
    location: { path, lines: { begin: line } },
  };
}

/** @param job - absent: it is about the whole pipeline. */
function unreadEntry(
  description: string,
  job: JobCheck['job'] | undefined,
  folder: string,
): CodeQualityEntry {
  const { path, line } = locationOf(job, folder);
  return {
    description,
    check_name: 'not-read',
    fingerprint: fingerprint([path, 'not-read', description]),
    severity: 'minor',
    location: { path, lines: { begin: line } },
  };
}

function locationOf(job: JobCheck['job'] | undefined, folder: string): { path: string; line: number } {
  const { file, line } = job?.place ?? { file: '.gitlab-ci.yml', line: 1 };
  return { path: posix.join(folder, file), line };
}

const fingerprint = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
