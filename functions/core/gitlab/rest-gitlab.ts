import { z } from 'zod';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { GitLabError, type GitLabJob, type JobList, type JobsPage, type RunnersPage } from './gitlab.ts';
import { isId, isLabel, parseRestJob } from './job-reader.ts';
import {
  checkBaseUrl,
  pageOf,
  pageQuery,
  type RestCallDeps,
  readOne,
  readPage,
  restCall,
  restOnce,
} from './rest-call.ts';

const WithId = z.object({ id: z.int().positive() });
const ListedId = WithId.transform(({ id }) => id);

const restJob = (fields: Parameters<typeof parseRestJob>[1]) =>
  z.unknown().transform((body, context): GitLabJob => {
    const job = parseRestJob(body, fields);
    if (!('problems' in job)) return job;
    for (const problem of job.problems) context.addIssue({ code: 'custom', path: problem.split(' ', 1) });
    return z.NEVER;
  });

export type GitLab = ReturnType<typeof createGitLab>;

/** Every call throws {@link GitLabError}. @throws {Error} if `baseUrl` is no plain http or https address */
export function createGitLab(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  // Pages by id do not shift while jobs start and end. Versions without them say so once.
  let keyset = true;

  return {
    job: (projectId: number, jobId: number): Promise<GitLabJob | undefined> =>
      readOne(`/projects/${projectId}/jobs/${jobId}`, restJob({ projectId }), deps),

    /** Newest first by id; a runner's list has jobs without admission requests, too. Needs an administrator's token of scope `read_api`. */
    async listJobs(
      list: JobList,
      { status, page }: { readonly status?: 'running'; readonly page?: string | undefined },
    ): Promise<JobsPage> {
      const path = `/${list}/jobs`;
      const [kind, id] = list.split('/');
      const [filter, idName] = kind === 'runners' ? ['status', 'runnerId'] : ['scope[]', 'projectId'];
      const fields = { order_by: 'id', sort: 'desc', ...(status !== undefined && { [filter]: status }) };
      const byId = page === undefined && keyset;
      let answer = await restCall(
        path,
        pageQuery(byId ? { ...fields, pagination: 'keyset' } : fields, page),
        deps,
      );
      if (answer.status === 405 && byId) {
        keyset = false;
        answer = await restCall(path, pageQuery(fields, page), deps);
      }
      // The runner or project was deleted. Its jobs are found one by one, or not at all.
      if (answer.status === 404) return { jobs: [] };
      return pageOf('jobs', path, answer, restJob({ [idName]: Number(id) }));
    },

    runners: ({ page }: { readonly page?: string | undefined }): Promise<RunnersPage> =>
      readPage('runnerIds', '/runners/all', pageQuery({}, page), ListedId, deps),
  };
}

export type GitLabDirectory = ReturnType<typeof createGitLabDirectory>;

/**
 * Needs `read_api` and an administrator: another's token sees less than there is, which looks like deletions.
 * @throws {Error} if `baseUrl` is no plain http or https address
 */
export function createGitLabDirectory(deps: RestCallDeps) {
  checkBaseUrl(deps.baseUrl);
  // A tenth of the fields, and the visibility and the namespace are among them.
  const projectsPage = (fields: Readonly<Record<string, string>>, page?: string) =>
    readPage('projects', '/projects', pageQuery({ simple: 'true', ...fields }, page), RestProject, deps);

  return {
    /** By id, in numbered pages: a group that is deleted meanwhile moves another one past the reader. */
    groups({ page }: { readonly page?: string | undefined }) {
      const fields = { all_available: 'true', order_by: 'id', sort: 'asc' };
      return readPage('groups', '/groups', pageQuery(fields, page), RestGroup, deps);
    },
    projects({ afterId, page }: { readonly afterId: number; readonly page?: string | undefined }) {
      const keyset = { pagination: 'keyset', order_by: 'id', sort: 'asc' };
      return projectsPage(page === undefined ? { ...keyset, id_after: String(afterId) } : keyset, page);
    },
    /** Changed since then (Unix ms, by GitLab's clock), the latest first: one that changes meanwhile comes twice. */
    projectsChanged({ sinceMs, page }: { readonly sinceMs: number; readonly page?: string | undefined }) {
      const updated_after = new Date(sinceMs).toISOString();
      return projectsPage({ updated_after, order_by: 'updated_at', sort: 'desc' }, page);
    },
    project: (id: number) => readOne(`/projects/${id}`, RestProject, deps),
  };
}

const requiredId = z.custom<number>(isId);
const optionalId = requiredId.nullish().transform((id) => id ?? undefined);
const requiredLabel = z.custom<string>(isLabel);
const visibility = z.enum(['private', 'internal', 'public']).optional().catch(undefined);

/** @see https://docs.gitlab.com/api/groups/#list-groups */
const RestGroup = z
  .object({ id: requiredId, full_path: requiredLabel, parent_id: optionalId, visibility })
  .transform(({ id, full_path: path, parent_id: parentId, visibility }) => ({
    ...{ id, path, ...withoutAbsent({ parentId, visibility }) },
  }));

export type GitLabGroup = z.output<typeof RestGroup>;

/** Older versions answer `simple=true` without the visibility. @see https://docs.gitlab.com/api/projects/#list-all-projects */
const RestProject = z
  .object({
    id: requiredId,
    path: requiredLabel,
    namespace: z.object({ id: requiredId, full_path: requiredLabel, kind: z.unknown().optional() }),
    visibility,
  })
  .transform(({ id, path: slug, namespace: { id: namespaceId, full_path: path, kind }, visibility }) => ({
    ...{ id, slug, ...withoutAbsent({ visibility }) },
    namespace: { id: namespaceId, path, personal: kind === 'user' },
  }));

export type GitLabProject = z.output<typeof RestProject>;

export type RetryOutcome =
  | { readonly outcome: 'retried'; readonly newJobId: number }
  | { readonly outcome: 'refused'; readonly why: string }
  /** It may or may not have done it: GitLab retries a job once, so that it can be asked again. */
  | { readonly outcome: 'unheard'; readonly why: string; readonly retryAfterMs?: number };

const RETRY_TIMEOUT_MS = 5_000;

/** `POST /projects/:id/jobs/:job_id/retry`: GitLab makes a new job of it, once. Needs scope `api` and the role Developer. */
export async function retryJob(projectId: number, jobId: number, deps: RestCallDeps): Promise<RetryOutcome> {
  try {
    const path = `/projects/${projectId}/jobs/${jobId}/retry`;
    const { status, body } = await restOnce('POST', path, undefined, RETRY_TIMEOUT_MS, deps);
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
