import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type GitLab, GitLabError, type JobsPage } from './gitlab.ts';
import { JobReader, QUEUED_SECONDS_MAX, type UnreadableJob } from './job-reader.ts';
import type { JobTruth } from './job-truth.ts';
import { checkBaseUrl, pageEnd, readFound, readList } from './rest-answers.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';
import { pageQuery } from './rest-pages.ts';

/**
 * GitLab over its REST API. An entry of a list that cannot be read is left out and counted in the page's `unreadable`: one
 * odd job must not hide the other 99. A single job that cannot be read is an error.
 *
 * @throws {Error} if `baseUrl` is no plain http or https address.
 */
export function createGitLab(deps: RestCallDeps): GitLab {
  checkBaseUrl(deps.baseUrl);
  const call = (path: string, query: URLSearchParams) => restCall(path, query, deps);
  // Pages by id do not shift while jobs start and end. Versions without them say so once.
  let keyset = true;

  return {
    async job(projectId, jobId) {
      const path = `/projects/${projectId}/jobs/${jobId}`;
      const answer = await call(path, new URLSearchParams());
      if (answer.status === 404) return undefined;
      const truth = parseRestJob(readFound(path, answer), { projectId });
      if (!('problems' in truth)) return truth;
      throw new GitLabError('gitlab_unreadable', `GET ${path}: ${truth.problems.join('; ')}`);
    },

    async listJobs(list, { status, page }) {
      const path = `/${list}/jobs`;
      const [kind, id] = list.split('/');
      const [filter, idName] = kind === 'runners' ? ['status', 'runnerId'] : ['scope[]', 'projectId'];
      const asked = { order_by: 'id', sort: 'desc', ...(status !== undefined && { [filter]: status }) };
      const byId = page === undefined && keyset;
      let answer = await call(path, pageQuery(byId ? { ...asked, pagination: 'keyset' } : asked, page));
      if (answer.status === 405 && byId) {
        keyset = false;
        answer = await call(path, pageQuery(asked, page));
      }
      // The runner or project was deleted. Its jobs are found one by one, or not at all.
      if (answer.status === 404) return { jobs: [] };
      return jobsPage(readList(path, answer), { [idName]: Number(id) }, answer.headers);
    },

    async runners({ page }) {
      const path = '/runners/all';
      const answer = await call(path, pageQuery({}, page));
      const entries = readList(path, answer);
      const runnerIds = entries.flatMap((entry) => runnerId(entry) ?? []);
      return { runnerIds, ...pageEnd(entries.length - runnerIds.length, answer.headers) };
    },
  };
}

function jobsPage(entries: readonly unknown[], known: AskedFor, headers: Headers): JobsPage {
  const jobs: JobTruth[] = [];
  for (const entry of entries) {
    const truth = parseRestJob(entry, known);
    if (!('problems' in truth)) jobs.push(truth);
  }
  return { jobs, ...pageEnd(entries.length - jobs.length, headers) };
}

function runnerId(entry: unknown): number | undefined {
  const id = isRecord(entry) ? entry.id : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** Fields from the request that the response lacks. */
interface AskedFor {
  readonly projectId?: number;
  readonly runnerId?: number;
}

/**
 * Reads a job of the REST API, either from `GET /projects/:id/jobs` or `GET /projects/:id/jobs/:job_id`, whose `project` has
 * no id, or from `GET /runners/:id/jobs`, which has no runner. None has the runner's tags: `tag_list` is what the job asked for.
 *
 * @see https://docs.gitlab.com/api/jobs/#get-a-single-job
 */
export function parseRestJob(body: unknown, asked: AskedFor): JobTruth | UnreadableJob {
  if (!isRecord(body)) return { problems: ['a job is not a JSON object'] };
  const read = new JobReader(body);
  const pipeline = read.object('pipeline');
  const projectId = asked.projectId ?? read.labelled('project').id('id') ?? pipeline.requiredId('project_id');
  const truth: JobTruth = {
    jobId: read.requiredId('id'),
    projectId,
    status: read.status('status'),
    ...withoutAbsent({
      projectPath: read.labelled('project').label('path_with_namespace'),
      jobName: read.label('name'),
      jobStage: read.label('stage'),
      pipelineId: pipeline.id('id'),
      userId: read.object('user').id('id'),
      ref: read.label('ref'),
      runnerId: read.object('runner').id('id') ?? asked.runnerId,
      createdAtMs: read.instantMs('created_at'),
      startedAtMs: read.instantMs('started_at'),
      finishedAtMs: read.instantMs('finished_at'),
      durationSeconds: read.seconds('duration'),
      queuedSeconds: read.secondsUpTo('queued_duration', QUEUED_SECONDS_MAX),
      failureReason: read.word('failure_reason'),
    }),
  };
  return read.problems.length > 0 ? { problems: read.problems } : truth;
}
