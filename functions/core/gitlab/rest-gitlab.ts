import { z } from 'zod';
import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  type GitLab,
  type GitLabDirectory,
  GitLabError,
  type GitLabGroup,
  type GitLabProject,
  type JobsPage,
  type JobTruth,
  type ProjectsPage,
} from './gitlab.ts';
import { JobReader, QUEUED_SECONDS_MAX, type UnreadableJob } from './job-reader.ts';
import {
  checkBaseUrl,
  pageEnd,
  pageQuery,
  type RestCallDeps,
  readFound,
  readList,
  restCall,
  restChange,
} from './rest-call.ts';

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

/** A tenth of the fields, and the visibility and the namespace are among them. */
const FEW_FIELDS = { simple: 'true' } as const;

/**
 * Groups and projects over GitLab's REST API, with the calls' own back-off. An entry that cannot be read is left out and
 * counted; a single one that cannot be read is an error. The token needs `read_api` and an administrator: another's sees
 * less than there is, which looks like deletions.
 *
 * @throws {Error} if `baseUrl` is no plain http or https address.
 * @see https://docs.gitlab.com/api/rest/#supported-resources (groups have no pages by key for those who sign in)
 */
export function createGitLabDirectory(deps: RestCallDeps): GitLabDirectory {
  checkBaseUrl(deps.baseUrl);
  const call = (path: string, query: URLSearchParams) => restCall(path, query, deps);

  const projectsPage = async (
    asked: Readonly<Record<string, string>>,
    page?: string,
  ): Promise<ProjectsPage> => {
    const path = '/projects';
    const answer = await call(path, pageQuery({ ...FEW_FIELDS, ...asked }, page));
    const entries = readList(path, answer);
    const projects = entries.flatMap((entry) => parseRestProject(entry) ?? []);
    return { projects, ...pageEnd(entries.length - projects.length, answer.headers) };
  };

  const single = async <T>(path: string, parse: (body: unknown) => T | undefined): Promise<T | undefined> => {
    // GitLab lists a group's projects by default; for projects the parameter has no effect.
    const answer = await call(path, new URLSearchParams({ with_projects: 'false' }));
    if (answer.status === 404) return undefined;
    const parsed = parse(readFound(path, answer));
    if (parsed !== undefined) return parsed;
    throw new GitLabError('gitlab_unreadable', `GET ${path}: expected at least an id and a path`);
  };

  return {
    async groups({ page }) {
      const path = '/groups';
      const asked = { all_available: 'true', order_by: 'id', sort: 'asc' };
      const answer = await call(path, pageQuery(asked, page));
      const entries = readList(path, answer);
      const groups = entries.flatMap((entry) => parseRestGroup(entry) ?? []);
      return { groups, ...pageEnd(entries.length - groups.length, answer.headers) };
    },

    projects({ afterId, page }) {
      const keyset = { pagination: 'keyset', order_by: 'id', sort: 'asc' };
      return projectsPage(page === undefined ? { ...keyset, id_after: String(afterId) } : keyset, page);
    },

    projectsChanged({ sinceMs, page }) {
      const updated_after = new Date(sinceMs).toISOString();
      return projectsPage({ updated_after, order_by: 'updated_at', sort: 'desc' }, page);
    },

    group: (id) => single(`/groups/${id}`, parseRestGroup),
    project: (id) => single(`/projects/${id}`, parseRestProject),
  };
}

/**
 * Reads a group of `GET /groups` or `GET /groups/:id`; undefined if it lacks its id or its path.
 *
 * @see https://docs.gitlab.com/api/groups/#list-groups
 */
function parseRestGroup(body: unknown): GitLabGroup | undefined {
  if (!isRecord(body)) return undefined;
  const read = new JobReader(body);
  const id = read.requiredId('id');
  const path = read.label('full_path');
  const parentId = read.id('parent_id');
  if (path === undefined || read.problems.length > 0) return undefined;
  return { id, path, ...withoutAbsent({ parentId, visibility: visibilityIn(read) }) };
}

/**
 * Reads a project of `GET /projects` (also with `simple=true`, which older versions answer without the visibility) or
 * `GET /projects/:id`; undefined if it lacks its id, its path or its namespace.
 *
 * @see https://docs.gitlab.com/api/projects/#list-all-projects
 */
function parseRestProject(body: unknown): GitLabProject | undefined {
  if (!isRecord(body)) return undefined;
  const read = new JobReader(body);
  const id = read.requiredId('id');
  const slug = read.label('path');
  const namespace = read.object('namespace');
  const namespaceId = namespace.requiredId('id');
  const namespacePath = namespace.label('full_path');
  if (slug === undefined || namespacePath === undefined || read.problems.length > 0) return undefined;
  return {
    id,
    slug,
    namespace: { id: namespaceId, path: namespacePath, personal: namespace.label('kind') === 'user' },
    ...withoutAbsent({ visibility: visibilityIn(read) }),
  };
}

const VISIBILITIES: readonly string[] = ['private', 'internal', 'public'];

/** An unknown level counts as none. */
function visibilityIn(read: JobReader): string | undefined {
  const visibility = read.label('visibility');
  return visibility !== undefined && VISIBILITIES.includes(visibility) ? visibility : undefined;
}

const retriedSchema = z.object({ id: z.int().positive() });

export type RetryOutcome =
  | { readonly outcome: 'retried'; readonly newJobId: number }
  /** It will not do it later, either. */
  | { readonly outcome: 'refused'; readonly why: string }
  /** It may or may not have done it: GitLab retries a job once, so that it can be asked again. */
  | { readonly outcome: 'unheard'; readonly why: string; readonly retryAfterMs?: number };

const RETRY_TIMEOUT_MS = 5_000;

/** `POST /projects/:id/jobs/:job_id/retry`: GitLab makes a new job of it, once. Needs scope `api` and the role Developer. */
export async function retryJob(projectId: number, jobId: number, deps: RestCallDeps): Promise<RetryOutcome> {
  try {
    const path = `/projects/${projectId}/jobs/${jobId}/retry`;
    const { status, body } = await restChange('POST', path, undefined, RETRY_TIMEOUT_MS, deps);
    const made = retriedSchema.safeParse(body);
    if (made.success) return { outcome: 'retried', newJobId: made.data.id };
    return {
      outcome: 'refused',
      why: `GitLab answered ${status}${status === 404 ? ': it has no such job' : ''}`,
    };
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    const { code, status, retryAfterMs } = error;
    if (status === 403)
      return {
        outcome: 'refused',
        why: 'GitLab answered 403: the token may not retry it, or the job cannot be retried (again)',
      };
    const why = status === undefined ? code : `GitLab answered ${status}`;
    return { outcome: 'unheard', why, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
}
