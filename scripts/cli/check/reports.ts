import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { keepNote } from '../../../functions/core/gitlab/keep-note.ts';
import { checkBaseUrl } from '../../../functions/core/gitlab/rest-call.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch } from '../command-fetch.ts';
import { codedReasonText, ruleJson } from '../evaluation/rule-text.ts';
import type { JobCheck } from './job-check.ts';
import type { LiveCheck } from './live-check.ts';
import { countOf, type PipelineCheck, resultOf, unreadBy } from './pipeline-check.ts';

const SEVERITY = { enforce: 'blocker', warn: 'minor', shadow: 'info' } as const;

/**
 * Lists violations at the jobs' lines, and unread parts. Equal findings of a matrix are one entry. The fingerprint is
 * the same for the same job and finding, in any place: GitLab uses it to find new ones.
 *
 * @param folder - of the pipeline, from the repository's root; '' for the root.
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
export function codeQuality({ jobs, currency, pipeline }: PipelineCheck, folder: string): readonly object[] {
  const entryOf = (
    job: JobCheck['job'] | undefined,
    check_name: string,
    severity: string,
    what: readonly string[],
    description: string,
  ) => {
    const { file, line } = job?.place ?? { file: '.gitlab-ci.yml', line: 1 };
    const path = posix.join(folder, file);
    const parts = JSON.stringify([path, check_name, ...what]);
    const fingerprint = createHash('sha256').update(parts).digest('hex').slice(0, 32);
    return { description, check_name, fingerprint, severity, location: { path, lines: { begin: line } } };
  };
  const unread = (job: JobCheck['job'] | undefined, text: string) =>
    entryOf(job, 'not-read', 'minor', [text], text);
  const entries = [
    ...pipeline.notRead.map((what) => unread(undefined, `Not sure: ${what}`)),
    ...jobs.flatMap(({ job, rejects, watched }) => [
      ...unreadBy(job)
        .filter((what) => !pipeline.notRead.includes(what))
        .map((what) => unread(job, `Job "${job.definedAs}" is not sure: ${what}`)),
      ...[...rejects, ...watched].map(({ rule, mode, reason }) => {
        const text = codedReasonText(reason, currency);
        const verb = mode === 'enforce' ? 'would be rejected' : `is watched (${mode})`;
        const description = `Job "${job.definedAs}" ${verb} by rule ${rule}: ${text}`;
        return entryOf(job, rule, SEVERITY[mode], [job.definedAs, mode, text], description);
      }),
    ]),
  ];
  return [...Map.groupBy(entries, ({ fingerprint }) => fingerprint).values()].flatMap(
    ([first]) => first ?? [],
  );
}

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
    result: resultOf(check),
    total: totalJson(check),
    ...(before !== undefined && { before: totalJson(before) }),
    limits: check.limits.map(({ counter: _, ...ask }) => ask),
    ...(now !== undefined && { now }),
    notRead: pipeline.notRead,
    bridges: pipeline.bridges,
    problems: pipeline.problems,
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
  const token = env.TOLLGATE_NOTE_TOKEN ?? '';
  if (token === '') {
    err('--note: no TOLLGATE_NOTE_TOKEN, so the merge request gets no note\n');
    return EXIT.ok;
  }
  const given = (name: string): string => {
    const value = env[name] ?? '';
    if (value !== '') return value;
    throw new UsageError(`--note: ${name} is not set; expected a job of a merge request's pipeline`);
  };
  const baseUrl = given('CI_SERVER_URL');
  const projectId = given('CI_MERGE_REQUEST_PROJECT_ID');
  const mergeRequestIid = given('CI_MERGE_REQUEST_IID');
  const version = Number(given('CI_PIPELINE_ID'));
  try {
    checkBaseUrl(baseUrl);
    const deps = { baseUrl, token: async () => token, fetch: send, clock: systemClock };
    await keepNote(text, { projectId, mergeRequestIid, about: 'check, pipeline', version }, deps);
    return EXIT.ok;
  } catch (error) {
    const isRefused = error instanceof GitLabError && error.code === 'gitlab_refused';
    const reason = isRefused
      ? `GitLab refuses TOLLGATE_NOTE_TOKEN (${error.status}); expected a project or group token with the scope api and the role Developer`
      : String(error instanceof Error ? error.message : error);
    err(`--note: the merge request's note may be out of date: ${reason}\n`);
    return EXIT.failed;
  }
}
