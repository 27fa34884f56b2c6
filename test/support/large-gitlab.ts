import type { GitLabProject } from '../../functions/core/gitlab/gitlab.ts';
import type { GitLabDirectory } from '../../functions/core/gitlab/rest-gitlab.ts';

const PER_PAGE = 100;

/** A GitLab whose groups and projects are made as they are asked for, so that only Tollgate's own memory counts. */
export function largeGitLab({
  roots,
  groups,
  projects,
}: {
  roots: number;
  groups: number;
  projects: number;
}): {
  readonly gitlab: GitLabDirectory;
  readonly calls: { groups: number; projects: number };
} {
  const calls = { groups: 0, projects: 0 };
  const groupOf = (id: number) => {
    const parentId = id <= roots ? undefined : 1 + ((id - 1) % roots);
    const path = parentId === undefined ? `group-${id}` : `group-${parentId}/team-${id}`;
    return { id, path, visibility: 'private', ...(parentId !== undefined && { parentId }) };
  };
  const projectOf = (id: number): GitLabProject => {
    const namespace = groupOf(1 + (id % groups));
    return {
      id,
      slug: `service-${id}`,
      visibility: 'internal',
      namespace: { id: namespace.id, path: namespace.path, personal: false },
    };
  };
  const from = <T>(first: number, last: number, make: (id: number) => T): T[] =>
    Array.from({ length: Math.max(0, Math.min(PER_PAGE, last - first + 1)) }, (_, at) => make(first + at));
  return {
    calls,
    gitlab: {
      groups: async ({ page = '1' }) => {
        calls.groups += 1;
        const first = (Number(page) - 1) * PER_PAGE + 1;
        const more = first + PER_PAGE <= groups;
        return { groups: from(first, groups, groupOf), ...(more && { next: String(Number(page) + 1) }) };
      },
      projects: async ({ afterId, page }) => {
        calls.projects += 1;
        const first = (page === undefined ? Math.max(0, afterId) : Number(page)) + 1;
        const more = first + PER_PAGE <= projects;
        return {
          projects: from(first, projects, projectOf),
          ...(more && { next: String(first + PER_PAGE - 1) }),
        };
      },
      projectsChanged: async () => {
        calls.projects += 1;
        return { projects: [] };
      },
      project: async (id) => (id <= projects ? projectOf(id) : undefined),
    },
  };
}
