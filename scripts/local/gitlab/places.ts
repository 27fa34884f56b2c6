import type { Context, Hono } from 'hono';
import { isoText } from './bodies.ts';
import { isAdministrator, keysetPageById, listPage, noKeyset } from './instance.ts';
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

/** GitLab returns at most this many projects inside `GET /groups/:id`. */
const PROJECTS_IN_GROUP_MAX = 100;

/**
 * `GET /groups`, `/projects` and one of each, by id or by encoded path. Any other token is not a member of anything
 * and sees only what is not private.
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
  const missing = (c: Context, what: string) => c.json({ message: `404 ${what} Not Found` }, 404);
  const found = <Place extends LocalGroup | LocalProject>(
    c: Context,
    all: ReadonlyMap<number, Place>,
    pathOf: (place: Place) => string,
  ): Place | undefined => {
    const asked = c.req.param('id') ?? '';
    const place = all.get(Number(asked)) ?? [...all.values()].find((each) => pathOf(each) === asked);
    return place !== undefined && isVisible(place) ? place : undefined;
  };

  app.get('/groups', (c) => {
    // GitLab pages groups by key only for unauthenticated callers.
    if (c.req.query('pagination') === 'keyset') return noKeyset(c);
    const order = c.req.query('order_by') ?? 'name';
    const isTopOnly = c.req.query('top_level_only') === 'true';
    const groups = [...places.groups.values()].filter(
      (each) => isVisible(each) && !(isTopOnly && each.parentId !== undefined),
    );
    groups.sort((a, b) => (order === 'id' ? a.id - b.id : a.path.localeCompare(b.path) || a.id - b.id));
    if (c.req.query('sort') === 'desc') groups.reverse();
    return listPage(c, groups, group);
  });
  app.get('/groups/:id', (c) => {
    const asked = found(c, places.groups, ({ id }) => places.pathOf(id));
    if (asked === undefined) return missing(c, 'Group');
    if (c.req.query('with_projects') === 'false') return c.json(group(asked));
    const inside = [...places.projects.values()].filter(
      (each) => each.namespaceId === asked.id && isVisible(each),
    );
    return c.json({ ...group(asked), projects: inside.slice(0, PROJECTS_IN_GROUP_MAX).map(project) });
  });

  app.get('/projects', (c) => {
    const url = new URL(c.req.url);
    const order = c.req.query('order_by') ?? 'created_at';
    const asked = filterProjects([...places.projects.values()].filter(isVisible), url.searchParams);
    if (c.req.query('pagination') === 'keyset') {
      if (order !== 'id') return noKeyset(c);
      const ascending = asked.map(({ id }) => id).sort((a, b) => a - b);
      const { entries, headers } = keysetPageById(ascending, url);
      return c.json(entries.flatMap((id) => places.projects.get(id) ?? []).map(project), 200, headers);
    }
    const age = ({ updatedAtMs = 0 }: LocalProject) => (order === 'updated_at' ? updatedAtMs : 0);
    asked.sort((a, b) => age(a) - age(b) || a.id - b.id);
    if (c.req.query('sort') !== 'asc') asked.reverse();
    return listPage(c, asked, project);
  });
  app.get('/projects/:id', (c) => {
    const asked = found(c, places.projects, (each) => places.pathOfProject(each));
    return asked === undefined ? missing(c, 'Project') : c.json(project(asked));
  });
}

function filterProjects(projects: readonly LocalProject[], query: URLSearchParams): LocalProject[] {
  const after = Number(query.get('id_after') ?? 0);
  const before = Number(query.get('id_before') ?? Number.POSITIVE_INFINITY);
  // GitLab ignores `updated_after` in any other order.
  const since = query.get('order_by') === 'updated_at' ? query.get('updated_after') : null;
  const sinceMs = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  return projects.filter(({ id, updatedAtMs = 0 }) => id > after && id < before && updatedAtMs > sinceMs);
}
