import type { Hono } from 'hono';
import { isoText } from './bodies.ts';
import { idPage, isAdministrator, listPage } from './instance.ts';
import type { GitLabState } from './state.ts';

export interface LocalGroup {
  readonly id: number;
  readonly parentId?: number;
  readonly path: string;
  readonly visibility?: string;
}

interface LocalProject {
  readonly id: number;
  readonly namespaceId: number;
  readonly path: string;
  readonly visibility?: string;
  readonly defaultBranch?: string;
  readonly updatedAtMs?: number;
}

/** Groups, projects and personal namespaces. The maps may be changed from outside, as users change GitLab. */
export class PlaceBook {
  readonly groups: Map<number, LocalGroup>;
  readonly projects = new Map<number, LocalProject>();
  readonly users = new Map<number, string>();

  constructor(groups: readonly LocalGroup[] = []) {
    this.groups = new Map(groups.map((group) => [group.id, group]));
  }

  putProject({ id, path, defaultBranch }: { id: number; path: string; defaultBranch?: string }): void {
    const slugs = path.split('/');
    const own = slugs.pop() ?? '';
    let parentId: number | undefined;
    for (const slug of slugs) parentId = this.#groupIn(parentId, slug);
    const branch = defaultBranch === undefined ? {} : { defaultBranch };
    this.projects.set(id, { id, namespaceId: parentId ?? 0, path: own, ...branch });
  }

  #groupIn(parentId: number | undefined, path: string): number {
    const found = [...this.groups.values()].find((each) => each.parentId === parentId && each.path === path);
    if (found !== undefined) return found.id;
    const id = Math.max(0, ...this.groups.keys(), ...this.users.keys()) + 1;
    this.groups.set(id, { id, path, ...(parentId !== undefined && { parentId }) });
    return id;
  }

  pathOf(namespaceId: number): string {
    const group = this.groups.get(namespaceId);
    if (group === undefined) return this.users.get(namespaceId) ?? `gone-${namespaceId}`;
    return group.parentId === undefined ? group.path : `${this.pathOf(group.parentId)}/${group.path}`;
  }

  pathOfProject({ namespaceId, path }: LocalProject): string {
    return `${this.pathOf(namespaceId)}/${path}`;
  }
}

/**
 * `GET /groups`, `/projects`, and one project by id or by encoded path. Any other token is not a member of anything and sees
 * only what is not private.
 *
 * @see https://docs.gitlab.com/api/groups/#list-all-groups
 * @see https://docs.gitlab.com/api/rest/#keyset-based-pagination
 */
export function placeRoutes(app: Hono, state: GitLabState): void {
  const { places } = state;
  const isVisible = ({ visibility = 'private' }: LocalGroup | LocalProject): boolean =>
    isAdministrator(state) || visibility !== 'private';
  const group = ({ id, parentId, path, visibility = 'private' }: LocalGroup) => ({
    ...{ id, name: path, path, visibility, full_path: places.pathOf(id), parent_id: parentId ?? null },
  });
  const project = (each: LocalProject) => {
    const { id, namespaceId, path, visibility = 'private', defaultBranch = 'main', updatedAtMs = 0 } = each;
    const kind = places.groups.has(namespaceId) ? 'group' : 'user';
    return {
      ...{ id, name: path, path, path_with_namespace: places.pathOfProject(each), visibility },
      ...{ default_branch: defaultBranch, archived: false, updated_at: isoText(updatedAtMs) },
      namespace: { id: namespaceId, kind, full_path: places.pathOf(namespaceId) },
    };
  };
  app.get('/groups', (c) => {
    const isTopOnly = c.req.query('top_level_only') === 'true';
    const groups = [...places.groups.values()].filter(
      (each) => isVisible(each) && !(isTopOnly && each.parentId !== undefined),
    );
    return listPage(
      c,
      groups.sort((a, b) => a.id - b.id),
      group,
    );
  });

  app.get('/projects', (c) => {
    const after = Number(c.req.query('id_after') ?? 0);
    // GitLab ignores `updated_after` in any other order.
    const isByChange = c.req.query('order_by') === 'updated_at';
    const sinceMs = isByChange ? Date.parse(c.req.query('updated_after') ?? '') : Number.NEGATIVE_INFINITY;
    const found = [...places.projects.values()].filter(
      (each) => isVisible(each) && each.id > after && (each.updatedAtMs ?? 0) > sinceMs,
    );
    if (c.req.query('pagination') === 'keyset') {
      found.sort((a, b) => a.id - b.id);
      return listPage(c, found, project, (all, url) => idPage(all, url, 'id_after'));
    }
    found.sort((a, b) => (b.updatedAtMs ?? 0) - (a.updatedAtMs ?? 0) || b.id - a.id);
    return listPage(c, found, project);
  });
  app.get('/projects/:id', (c) => {
    const id = c.req.param('id');
    const found =
      places.projects.get(Number(id)) ??
      [...places.projects.values()].find((each) => places.pathOfProject(each) === id);
    return found === undefined || !isVisible(found)
      ? c.json({ message: '404 Project Not Found' }, 404)
      : c.json(project(found));
  });
}
