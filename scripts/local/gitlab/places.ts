import type { Context, Hono } from 'hono';
import { displayName, isoText } from './bodies.ts';
import { isAdministrator, keysetPageById, listPage, noKeyset } from './instance.ts';
import type { GitLabState } from './state.ts';

export interface LocalGroup {
  readonly id: number;
  /** Absent: a top-level group. */
  readonly parentId?: number;
  /** The last part of its full path. */
  readonly path: string;
  /** @default 'private' */
  readonly visibility?: string;
}

interface LocalProject {
  readonly id: number;
  /** A group, or a personal namespace. */
  readonly namespaceId: number;
  /** The last part of its full path. */
  readonly path: string;
  /** @default 'private' */
  readonly visibility?: string;
  /** @default 'main' */
  readonly defaultBranch?: string;
  /** Unix ms. @default the beginning of 1970 */
  readonly updatedAtMs?: number;
}

/** Groups, projects and personal namespaces. The maps may be changed from outside, as users change GitLab. */
export class PlaceBook {
  readonly groups: Map<number, LocalGroup>;
  readonly projects = new Map<number, LocalProject>();
  /** Personal namespaces: user name by id. */
  readonly users = new Map<number, string>();

  constructor(groups: readonly LocalGroup[] = []) {
    this.groups = new Map(groups.map((group) => [group.id, group]));
  }

  /** Adds a project at a full path, with the groups that are missing on the way. */
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

  /** Full path of a group or of a personal namespace. */
  pathOf(namespaceId: number): string {
    const group = this.groups.get(namespaceId);
    if (group === undefined) return this.users.get(namespaceId) ?? `gone-${namespaceId}`;
    return group.parentId === undefined ? group.path : `${this.pathOf(group.parentId)}/${group.path}`;
  }

  group(idOrPath: string): LocalGroup | undefined {
    const isAsked = ({ id }: LocalGroup) => this.pathOf(id) === idOrPath;
    return this.groups.get(Number(idOrPath)) ?? [...this.groups.values()].find(isAsked);
  }

  project(idOrPath: string): LocalProject | undefined {
    const isAsked = (each: LocalProject) => `${this.pathOf(each.namespaceId)}/${each.path}` === idOrPath;
    return this.projects.get(Number(idOrPath)) ?? [...this.projects.values()].find(isAsked);
  }
}

/** GitLab returns at most this many projects inside `GET /groups/:id`. */
const PROJECTS_IN_GROUP_MAX = 100;
const CREATED_AT = isoText(Date.UTC(2026, 0, 1));

/**
 * `GET /groups`, `/projects` and one of each, by id or by encoded path. Any other token is not a member of anything
 * and sees only what is not private.
 *
 * @see https://docs.gitlab.com/api/groups/#list-all-groups
 * @see https://docs.gitlab.com/api/rest/#keyset-based-pagination
 */
export function placeRoutes(app: Hono, state: GitLabState): void {
  const { places, instanceUrl } = state;
  const isVisible = ({ visibility = 'private' }: LocalGroup | LocalProject): boolean =>
    isAdministrator(state) || visibility !== 'private';
  const group = (each: LocalGroup) => groupEntity(each, places, instanceUrl);
  const simpleProject = (each: LocalProject) => simpleProjectEntity(each, places, instanceUrl);
  const project = (each: LocalProject) => ({
    ...simpleProject(each),
    ...{ archived: false, jobs_enabled: true, shared_runners_enabled: true },
    updated_at: isoText(each.updatedAtMs ?? 0),
  });
  const missing = (c: Context, what: string) => c.json({ message: `404 ${what} Not Found` }, 404);

  app.get('/groups', (c) => {
    // GitLab pages groups by key only for unauthenticated callers.
    if (c.req.query('pagination') === 'keyset') return noKeyset(c);
    const order = c.req.query('order_by') ?? 'name';
    if (!['name', 'path', 'id', 'similarity'].includes(order))
      return c.json({ error: 'order_by does not have a valid value' }, 400);
    const isTopOnly = c.req.query('top_level_only') === 'true';
    const groups = [...places.groups.values()].filter(
      (each) => isVisible(each) && !(isTopOnly && each.parentId !== undefined),
    );
    groups.sort((a, b) => (order === 'id' ? a.id - b.id : a.path.localeCompare(b.path) || a.id - b.id));
    if (c.req.query('sort') === 'desc') groups.reverse();
    return listPage(c, groups, group);
  });
  app.get('/groups/:id', (c) => {
    const found = places.group(c.req.param('id'));
    if (found === undefined || !isVisible(found)) return missing(c, 'Group');
    if (c.req.query('with_projects') === 'false') return c.json(group(found));
    const inside = [...places.projects.values()].filter(
      (each) => each.namespaceId === found.id && isVisible(each),
    );
    const projects = inside.slice(0, PROJECTS_IN_GROUP_MAX).map(project);
    return c.json({ ...group(found), projects, shared_projects: [] });
  });

  app.get('/projects', (c) => {
    const url = new URL(c.req.url);
    const entity = c.req.query('simple') === 'true' ? simpleProject : project;
    const order = c.req.query('order_by') ?? 'created_at';
    const asked = filterProjects([...places.projects.values()].filter(isVisible), url.searchParams);
    if (c.req.query('pagination') === 'keyset') {
      if (order !== 'id') return noKeyset(c);
      const ascending = asked.map(({ id }) => id).sort((a, b) => a - b);
      const { entries, headers } = keysetPageById(ascending, url);
      return c.json(entries.flatMap((id) => places.projects.get(id) ?? []).map(entity), 200, headers);
    }
    const age = ({ updatedAtMs = 0 }: LocalProject) => (order === 'updated_at' ? updatedAtMs : 0);
    asked.sort((a, b) => age(a) - age(b) || a.id - b.id);
    if (c.req.query('sort') !== 'asc') asked.reverse();
    return listPage(c, asked, entity);
  });
  app.get('/projects/:id', (c) => {
    const found = places.project(c.req.param('id'));
    return found === undefined || !isVisible(found) ? missing(c, 'Project') : c.json(project(found));
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

function groupEntity({ id, parentId, path, visibility }: LocalGroup, places: PlaceBook, url: string) {
  const fullPath = places.pathOf(id);
  return {
    ...{ id, name: displayName(path), path, description: '', visibility: visibility ?? 'private' },
    ...{ share_with_group_lock: false, avatar_url: null, request_access_enabled: false },
    ...{ web_url: `${url}/groups/${fullPath}`, repository_storage: 'default' },
    full_name: fullPath.split('/').map(displayName).join(' / '),
    ...{ full_path: fullPath, parent_id: parentId ?? null, created_at: CREATED_AT },
  };
}

function simpleProjectEntity(project: LocalProject, places: PlaceBook, url: string) {
  const { id, namespaceId, path } = project;
  const namespace = places.pathOf(namespaceId);
  const slug = namespace.split('/').at(-1) ?? '';
  const isGroup = places.groups.has(namespaceId);
  const webUrl = `${url}/${namespace}/${path}`;
  return {
    ...{ id, description: null, name: displayName(path), path, path_with_namespace: `${namespace}/${path}` },
    name_with_namespace: [...namespace.split('/'), path].map(displayName).join(' / '),
    ...{ created_at: CREATED_AT, default_branch: project.defaultBranch ?? 'main', tag_list: [], topics: [] },
    ssh_url_to_repo: `git@${new URL(url).hostname}:${namespace}/${path}.git`,
    ...{ http_url_to_repo: `${webUrl}.git`, web_url: webUrl, avatar_url: null, star_count: 0 },
    last_activity_at: isoText(project.updatedAtMs ?? 0),
    visibility: project.visibility ?? 'private',
    namespace: {
      ...{ id: namespaceId, name: displayName(slug), path: slug, kind: isGroup ? 'group' : 'user' },
      ...{ full_path: namespace, parent_id: places.groups.get(namespaceId)?.parentId ?? null },
      ...{ avatar_url: null, web_url: isGroup ? `${url}/groups/${namespace}` : `${url}/${namespace}` },
    },
  };
}
