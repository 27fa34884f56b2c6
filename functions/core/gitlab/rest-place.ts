import { isRecord } from '../../../policies/document/reading.ts';
import type { GitLabGroup, GitLabProject } from './gitlab-directory.ts';
import { JobReader } from './job-reader.ts';
import { withoutAbsent } from './without-absent.ts';

/**
 * Reads a group of `GET /groups` or `GET /groups/:id`; undefined if it lacks its id or its path.
 *
 * @see https://docs.gitlab.com/api/groups/#list-groups
 */
export function parseRestGroup(body: unknown): GitLabGroup | undefined {
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
export function parseRestProject(body: unknown): GitLabProject | undefined {
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

/** A level nobody knows is as good as none. */
function visibilityIn(read: JobReader): string | undefined {
  const visibility = read.label('visibility');
  return visibility !== undefined && VISIBILITIES.includes(visibility) ? visibility : undefined;
}
