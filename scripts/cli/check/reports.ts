import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { keepNote } from '../../../functions/core/gitlab/keep-note.ts';
import { checkBaseUrl } from '../../../functions/core/gitlab/rest-call.ts';
import type { Violation } from '../../../policies/reason.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch } from '../command-fetch.ts';
import { codedReasonText, ruleJson } from '../evaluation/rule-text.ts';
import type { JobCheck } from './job-check.ts';
import type { LiveCheck } from './live-check.ts';
import { countOf, type PipelineCheck, resultOf, unreadBy } from './pipeline-check.ts';

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

/**
 * The check for scripts: one object, with every rule of every job. Amounts in whole units, money in
 * micro-units.
 *
 * @param before - the target branch's pipeline, as totals.
 */
export function checkJson(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  about: Readonly<Record<string, unknown>>,
  now?: LiveCheck,
): object {
  const { pipeline } = check;
  return {
    ...about,
    currency: check.currency,
    jobs: check.jobs.map(jobJson),
    /** `ok` only if everything was read and every job is ok. */
    result: resultOf(check),
    total: totalJson(check),
    ...(before !== undefined && { before: totalJson(before) }),
    limits: check.limits.map(({ counter: _, ...ask }) => ask),
    /** The decisions of a console or ledger about the same jobs, in their order. */
    ...(now !== undefined && { now }),
    notRead: pipeline.notRead,
    bridges: pipeline.bridges,
    problems: pipeline.problems,
    warnings: pipeline.warnings,
    /** If `workflow:rules` create a pipeline, and the conditions. */
    created: pipeline.isCreated,
    createdDependsOn: pipeline.workflowDependsOn,
    leftOut: pipeline.leftOut.map(({ name, place }) => ({ name, ...place })),
    notEvaluated: ['when'],
  };
}

const totalJson = (check: PipelineCheck): object => ({
  jobs: check.jobs.length,
  costMicros: check.costMicros,
  rejected: countOf(check, 'rejected'),
  notSure: countOf(check, 'not sure'),
  ok: countOf(check, 'ok'),
});

const jobJson = ({ job, terms, verdict, rejects, watched, untold, asks, results }: JobCheck): object => ({
  name: job.name,
  stage: job.stage,
  ...(job.place !== undefined && { file: job.place.file, line: job.place.line }),
  ...(job.dependsOn !== undefined && { dependsOn: job.dependsOn, forms: 1 + (job.otherForms ?? []).length }),
  ...(job.environment !== undefined && { environment: job.environment }),
  runnerClass: terms.runnerClass,
  ...(terms.unclassed && { unclassed: true }),
  estimateSeconds: terms.estimateSeconds,
  costMicros: terms.costMicros,
  verdict,
  notRead: unreadBy(job),
  rejects,
  watched,
  cannotTell: untold,
  asks: asks.map(({ counter: _, ...ask }) => ask),
  rules: results.map(ruleJson),
});

/**
 * Updates the merge request's note, by GitLab's variables in the job. Without a token, as in forks, it does
 * nothing.
 *
 * @throws {UsageError} with a token, outside a merge request's pipeline.
 */
export async function noteStep(
  text: string,
  { env, err }: Pick<TerminalIo, 'env' | 'err'>,
  send: typeof fetch = commandFetch({ env }),
): Promise<ExitCode> {
  const token = env.TOLLGATE_NOTE_TOKEN;
  if (token === undefined || token === '') {
    err('--note: no TOLLGATE_NOTE_TOKEN, so the merge request gets no note\n');
    return EXIT.ok;
  }
  const baseUrl = given(env, 'CI_SERVER_URL');
  const projectId = given(env, 'CI_MERGE_REQUEST_PROJECT_ID');
  const mergeRequestIid = given(env, 'CI_MERGE_REQUEST_IID');
  const pipelineId = Number(given(env, 'CI_PIPELINE_ID'));
  if (!Number.isSafeInteger(pipelineId)) throw new UsageError('--note: CI_PIPELINE_ID is no number');
  try {
    checkBaseUrl(baseUrl);
    const deps = { baseUrl, token: async () => token, fetch: send, clock: systemClock };
    // A run of a newer pipeline has the last word.
    await keepNote(text, { projectId, mergeRequestIid, about: 'check, pipeline', version: pipelineId }, deps);
    return EXIT.ok;
  } catch (error) {
    err(`--note: the merge request's note may be out of date: ${reasonText(error)}\n`);
    return EXIT.failed;
  }
}

function given(env: TerminalIo['env'], name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new UsageError(`--note: ${name} is not set; expected a job of a merge request's pipeline`);
}

function reasonText(error: unknown): string {
  if (error instanceof GitLabError && error.code === 'gitlab_refused')
    return `GitLab refuses TOLLGATE_NOTE_TOKEN${error.status === undefined ? '' : ` (${error.status})`}; expected a project or group token with the scope api and the role Developer`;
  return error instanceof Error ? error.message : String(error);
}
