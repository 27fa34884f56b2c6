import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { GitLabError } from './gitlab.ts';
import type { GitLabDirectory, GitLabGroup, GitLabProject, ProjectsPage } from './gitlab-directory.ts';
import { JobReader } from './job-reader.ts';
import { checkBaseUrl, pageEnd, readFound, readList } from './rest-answers.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';
import { pageQuery } from './rest-pages.ts';

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
