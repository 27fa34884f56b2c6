import { z } from 'zod';
import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  GitLabError,
  type GitLabGroup,
  type GitLabProject,
  type JobList,
  type JobsPage,
  type JobTruth,
  type Page,
  type RunnersPage,
} from './gitlab.ts';
import { JobReader, QUEUED_SECONDS_MAX, type UnreadableJob } from './job-reader.ts';
import {
  checkBaseUrl,
  pageOf,
  pageQuery,
  type RestCallDeps,
  readFound,
  readPage,
  restCall,
  restChange,
} from './rest-call.ts';

const WithId = z.object({ id: z.int().positive() });

export type GitLab = ReturnType<typeof createGitLab>;

/**
 * Reads jobs and runners through GitLab's REST API, each call with its own timeout. A single job that cannot be read is an error.
 * Every call throws {@link GitLabError}.
 *
 * @throws {Error} if `baseUrl` is no plain http or https address.
 */
export function createGitLab(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  // Pages by id do not shift while jobs start and end. Versions without them say so once.
  let keyset = true;

  return {
    /** `GET /projects/:id/jobs/:job_id`. `undefined`: GitLab knows no such job (404). */
    async job(projectId: number, jobId: number): Promise<JobTruth | undefined> {
      const path = `/projects/${projectId}/jobs/${jobId}`;
      const answer = await restCall(path, new URLSearchParams(), deps);
      if (answer.status === 404) return undefined;
      const truth = parseRestJob(readFound(path, answer), { projectId });
      if (!('problems' in truth)) return truth;
      throw new GitLabError('gitlab_unreadable', `GET ${path}: ${truth.problems.join('; ')}`);
    },

    /**
     * Lists jobs, newest first by id. The list of a runner also has jobs without admission requests. Both lists need an
     * administrator's token of scope `read_api`.
     *
     * @param options - `page` is `next` of the previous page; absent: the first.
     */
    async listJobs(
      list: JobList,
      { status, page }: { readonly status?: 'running'; readonly page?: string | undefined },
    ): Promise<JobsPage> {
      const path = `/${list}/jobs`;
      const [kind, id] = list.split('/');
      const [filter, idName] = kind === 'runners' ? ['status', 'runnerId'] : ['scope[]', 'projectId'];
      const asked = { order_by: 'id', sort: 'desc', ...(status !== undefined && { [filter]: status }) };
      const byId = page === undefined && keyset;
      let answer = await restCall(
        path,
        pageQuery(byId ? { ...asked, pagination: 'keyset' } : asked, page),
        deps,
      );
      if (answer.status === 405 && byId) {
        keyset = false;
        answer = await restCall(path, pageQuery(asked, page), deps);
      }
      // The runner or project was deleted. Its jobs are found one by one, or not at all.
      if (answer.status === 404) return { jobs: [] };
      return pageOf('jobs', path, answer, (entry) => {
        const truth = parseRestJob(entry, { [idName]: Number(id) });
        return 'problems' in truth ? undefined : truth;
      });
    },

    runners: ({ page }: { readonly page?: string | undefined }): Promise<RunnersPage> =>
      readPage('runnerIds', '/runners/all', pageQuery({}, page), idIn, deps),
  };
}

const idIn = (entry: unknown): number | undefined => WithId.safeParse(entry).data?.id;

/**
 * Reads a job of the REST API, either from `GET /projects/:id/jobs` or `GET /projects/:id/jobs/:job_id`, whose `project` has
 * no id, or from `GET /runners/:id/jobs`, which has no runner. None has the runner's tags: `tag_list` is what the job asked for.
 *
 * @see https://docs.gitlab.com/api/jobs/#get-a-single-job
 */
function parseRestJob(
  body: unknown,
  asked: { readonly projectId?: number; readonly runnerId?: number },
): JobTruth | UnreadableJob {
  if (!isRecord(body)) return { problems: ['a job is not a JSON object'] };
  const read = new JobReader(body);
  const pipeline = read.object('pipeline');
  const projectId = asked.projectId ?? read.object('project').id('id') ?? pipeline.requiredId('project_id');
  const truth: JobTruth = {
    jobId: read.requiredId('id'),
    projectId,
    status: read.status('status'),
    ...withoutAbsent({
      projectPath: read.object('project').label('path_with_namespace'),
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
      queuedSeconds: read.upTo(QUEUED_SECONDS_MAX, 'queued_duration'),
      failureReason: read.word('failure_reason'),
    }),
  };
  return read.problems.length > 0 ? { problems: read.problems } : truth;
}

export type GitLabDirectory = ReturnType<typeof createGitLabDirectory>;

/**
 * Groups and projects over GitLab's REST API, with the calls' own back-off. An entry that cannot be read is left out and
 * counted; a single one that cannot be read is an error. The token needs `read_api` and an administrator: another's sees
 * less than there is, which looks like deletions.
 *
 * @throws {Error} if `baseUrl` is no plain http or https address.
 * @see https://docs.gitlab.com/api/rest/#supported-resources (groups have no pages by key for those who sign in)
 */
export function createGitLabDirectory(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  // Few fields: a tenth of them, and the visibility and the namespace are among them.
  const projectsPage = (asked: Readonly<Record<string, string>>, page?: string) =>
    readPage('projects', '/projects', pageQuery({ simple: 'true', ...asked }, page), parseRestProject, deps);

  return {
    /** By id, in numbered pages: a group that is deleted meanwhile moves another one past the reader. */
    groups({ page }: { readonly page?: string | undefined }): Promise<Page<'groups', GitLabGroup>> {
      const asked = { all_available: 'true', order_by: 'id', sort: 'asc' };
      return readPage('groups', '/groups', pageQuery(asked, page), parseRestGroup, deps);
    },
    /** By id, in pages by key: all projects after `afterId`. */
    projects({ afterId, page }: { readonly afterId: number; readonly page?: string | undefined }) {
      const keyset = { pagination: 'keyset', order_by: 'id', sort: 'asc' };
      return projectsPage(page === undefined ? { ...keyset, id_after: String(afterId) } : keyset, page);
    },
    /** Changed since then (Unix ms, by GitLab's clock), the latest first: one that changes meanwhile comes twice. */
    projectsChanged({ sinceMs, page }: { readonly sinceMs: number; readonly page?: string | undefined }) {
      const updated_after = new Date(sinceMs).toISOString();
      return projectsPage({ updated_after, order_by: 'updated_at', sort: 'desc' }, page);
    },
    async project(id: number): Promise<GitLabProject | undefined> {
      const path = `/projects/${id}`;
      const answer = await restCall(path, new URLSearchParams(), deps);
      if (answer.status === 404) return undefined;
      const parsed = parseRestProject(readFound(path, answer));
      if (parsed !== undefined) return parsed;
      throw new GitLabError('gitlab_unreadable', `GET ${path}: expected at least an id and a path`);
    },
  };
}

/**
 * Reads a group of `GET /groups`; undefined if it lacks its id or its path.
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

/** An unknown level counts as none. */
const visibilityIn = (read: JobReader): string | undefined =>
  ['private', 'internal', 'public'].find((each) => each === read.label('visibility'));

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
    const made = WithId.safeParse(body);
    if (made.success) return { outcome: 'retried', newJobId: made.data.id };
    return { outcome: 'refused', why: `GitLab answered ${status}` };
  } catch (error) {
    if (!(error instanceof GitLabError)) throw error;
    const { code, status, retryAfterMs } = error;
    if (status === 403)
      return {
        outcome: 'refused',
        why: 'GitLab answered 403: the token may not retry it, or the job cannot be retried (again)',
      };
    const why = status === undefined ? code : `GitLab answered ${status}`;
    return { outcome: 'unheard', why, ...withoutAbsent({ retryAfterMs }) };
  }
}
