import { isRecord } from '../../../policies/document/reading.ts';
import { type GitLab, GitLabError, type JobsPage } from './gitlab.ts';
import type { JobTruth } from './job-truth.ts';
import { checkBaseUrl, found, list, pageEnd } from './rest-answers.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';
import { parseRestJob } from './rest-job.ts';
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
      const truth = parseRestJob(found(path, answer), { projectId });
      if (!('problems' in truth)) return truth;
      throw new GitLabError('gitlab_unreadable', `GET ${path}: ${truth.problems.join('; ')}`);
    },

    async jobsOfRunner(runnerId, { status, page }) {
      const path = `/runners/${runnerId}/jobs`;
      const asked = { order_by: 'id', sort: 'desc', ...(status !== undefined && { status }) };
      const byId = page === undefined && keyset;
      let answer = await call(path, pageQuery(byId ? { ...asked, pagination: 'keyset' } : asked, page));
      if (answer.status === 405 && byId) {
        keyset = false;
        answer = await call(path, pageQuery(asked, page));
      }
      // The runner was deleted; what it ran is found job by job.
      if (answer.status === 404) return { jobs: [] };
      return jobsPage(list(path, answer), runnerId, answer.headers);
    },

    async runners({ page }) {
      const path = '/runners/all';
      const answer = await call(path, pageQuery({}, page));
      const entries = list(path, answer);
      const runnerIds = entries.flatMap((entry) => runnerId(entry) ?? []);
      return { runnerIds, ...pageEnd(entries.length - runnerIds.length, answer.headers) };
    },
  };
}

function jobsPage(entries: readonly unknown[], runnerId: number, headers: Headers): JobsPage {
  const jobs: JobTruth[] = [];
  for (const entry of entries) {
    const truth = parseRestJob(entry, { runnerId });
    if (!('problems' in truth)) jobs.push(truth);
  }
  return { jobs, ...pageEnd(entries.length - jobs.length, headers) };
}

function runnerId(entry: unknown): number | undefined {
  const id = isRecord(entry) ? entry.id : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}
