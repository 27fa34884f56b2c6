import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { keepNote } from '../../../functions/core/gitlab/keep-note.ts';
import { checkBaseUrl } from '../../../functions/core/gitlab/rest-call.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { commandFetch } from '../command-fetch.ts';
import type { ShownCheck } from './check-sections.ts';
import type { JobCheck } from './job-check.ts';
import {
  countOf,
  findingsOf,
  type PipelineCheck,
  resultOf,
  unreadBy,
  unreadOfJobs,
} from './pipeline-check.ts';

const SEVERITY = { enforce: 'blocker', warn: 'minor', shadow: 'info', off: 'info' } as const;

/**
 * Equal findings of a matrix are one entry. The fingerprint is the same for the same job and finding, in any place:
 * GitLab uses it to find new ones.
 *
 * @param folder - of the pipeline, from the repository's root; '' for the root.
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
export function codeQuality(check: PipelineCheck, folder: string): readonly object[] {
  const entry = (
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
  const unread = (text: string, job?: JobCheck['job']) => entry(job, 'not-read', 'minor', [text], text);
  const entries = [
    ...check.pipeline.notRead.map((what) => unread(`Not sure: ${what}`)),
    ...unreadOfJobs(check).map(([what, job]) => unread(`Job "${job.definedAs}" is not sure: ${what}`, job)),
    ...findingsOf(check)
      .filter(({ kind }) => kind !== 'cannot tell')
      .map(({ check: { job }, rule, mode, text }) => {
        const verb = mode === 'enforce' ? 'would be rejected' : `is watched (${mode})`;
        const description = `Job "${job.definedAs}" ${verb} by rule ${rule}: ${text}`;
        return entry(job, rule, SEVERITY[mode], [job.definedAs, mode, text], description);
      }),
  ];
  const equal = Map.groupBy(entries, ({ fingerprint }) => fingerprint);
  return [...equal.values()].flatMap(([first]) => first ?? []);
}

/** The check for scripts: one object. Amounts in whole units, money in micro-units. */
export function checkJson(
  { check, before, now }: ShownCheck,
  about: Readonly<Record<string, unknown>>,
): object {
  const { pipeline } = check;
  return {
    ...about,
    currency: check.currency,
    jobs: check.jobs.map(jobJson),
    result: resultOf(check),
    total: totalJson(check),
    ...(before && { before: totalJson(before) }),
    limits: check.limits.map(({ counter: _, ...ask }) => ask),
    ...withoutAbsent({ now }),
    notRead: pipeline.notRead,
    bridges: pipeline.bridges,
    problems: pipeline.problems,
    created: pipeline.isCreated,
    createdDependsOn: pipeline.workflowDependsOn,
    leftOut: pipeline.leftOut.map(({ name, place }) => ({ name, ...place })),
  };
}

const totalJson = (check: PipelineCheck): object => ({
  jobs: check.jobs.length,
  costMicros: check.costMicros,
  rejected: countOf(check, 'rejected'),
  notSure: countOf(check, 'not sure'),
  ok: countOf(check, 'ok'),
});

function jobJson({ job, terms, verdict, rejects, watched, untold, asks, results }: JobCheck): object {
  const { name, stage, place, dependsOn, environment } = job;
  const { runnerClass, estimateSeconds, costMicros } = terms;
  return {
    ...{ name, stage, ...place, ...withoutAbsent({ dependsOn, environment }) },
    ...{ runnerClass, estimateSeconds, costMicros, verdict, notRead: unreadBy(job), rejects, watched },
    cannotTell: untold,
    asks: asks.map(({ counter: _, ...ask }) => ask),
    rules: results.map(({ claims: _, ...result }) => result),
  };
}

/** Updates the merge request's note. Without a token, as in forks, it does nothing. */
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
