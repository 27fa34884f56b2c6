import type { Context, Hono } from 'hono';
import type { Administration } from './administration.ts';
import { projectName } from './made-up.ts';
import { keysetPageById, numberedPage } from './pagination.ts';
import type { LocalGroup, LocalProject, PlaceBook } from './place-book.ts';
import { isoText } from './times.ts';

const MADE_AT_MS = Date.UTC(2026, 0, 1);

/**
 * `GET /groups`, `/projects` and one of each, by id or by encoded path. Administrators see all; the token of somebody else is
 * no member of anything here and sees what is not private.
 *
 * @see https://docs.gitlab.com/api/groups/#list-all-groups
 * @see https://docs.gitlab.com/api/rest/#keyset-based-pagination
 */
export function placeRoutes(
  app: Hono,
  book: PlaceBook,
  administration: Administration,
  instanceUrl: string,
): void {
  const isSeen = ({ visibility = 'private' }: LocalGroup | LocalProject): boolean =>
    administration.isAdministrator || visibility !== 'private';
  const noKeyset = (c: Context): Response =>
    c.json({ error: 'Keyset pagination is not yet available for this type of request' }, 405);
  const bodies = placeBodies(book, instanceUrl);

  app.get('/groups', (c) => {
    // By key for strangers only.
    if (c.req.query('pagination') === 'keyset') return noKeyset(c);
    const order = c.req.query('order_by') ?? 'name';
    if (!['name', 'path', 'id', 'similarity'].includes(order))
      return c.json({ error: 'order_by does not have a valid value' }, 400);
    const groups = [...book.groups.values()].filter(
      (group) => isSeen(group) && (c.req.query('top_level_only') !== 'true' || group.parentId === undefined),
    );
    groups.sort((a, b) => (order === 'id' ? a.id - b.id : a.path.localeCompare(b.path) || a.id - b.id));
    if (c.req.query('sort') === 'desc') groups.reverse();
    const { entries, headers } = numberedPage(groups, new URL(c.req.url));
    return c.json(entries.map(bodies.group), 200, headers);
  });
  app.get('/groups/:id', (c) => {
    const group = book.group(c.req.param('id'));
    if (group === undefined || !isSeen(group)) return c.json({ message: '404 Group Not Found' }, 404);
    if (c.req.query('with_projects') === 'false') return c.json(bodies.group(group));
    const inside = [...book.projects.values()].filter(({ namespaceId }) => namespaceId === group.id);
    const projects = inside.filter(isSeen).slice(0, 100).map(bodies.project);
    return c.json({ ...bodies.group(group), projects, shared_projects: [] });
  });

  app.get('/projects', (c) => {
    const url = new URL(c.req.url);
    const body = c.req.query('simple') === 'true' ? bodies.simpleProject : bodies.project;
    const order = c.req.query('order_by') ?? 'created_at';
    const asked = projectsAsked([...book.projects.values()].filter(isSeen), url.searchParams);
    if (c.req.query('pagination') === 'keyset') {
      if (order !== 'id') return noKeyset(c);
      const ascending = asked.map(({ id }) => id).sort((a, b) => a - b);
      const { entries, headers } = keysetPageById(ascending, url);
      return c.json(entries.flatMap((id) => book.projects.get(id) ?? []).map(body), 200, headers);
    }
    asked.sort((a, b) =>
      order === 'updated_at' ? (a.updatedAtMs ?? 0) - (b.updatedAtMs ?? 0) || a.id - b.id : a.id - b.id,
    );
    if (c.req.query('sort') !== 'asc') asked.reverse();
    const { entries, headers } = numberedPage(asked, url);
    return c.json(entries.map(body), 200, headers);
  });
  app.get('/projects/:id', (c) => {
    const project = book.project(c.req.param('id'));
    if (project === undefined || !isSeen(project)) return c.json({ message: '404 Project Not Found' }, 404);
    return c.json(bodies.project(project));
  });
}

function projectsAsked(projects: readonly LocalProject[], query: URLSearchParams): LocalProject[] {
  const after = Number(query.get('id_after') ?? 0);
  const before = Number(query.get('id_before') ?? Number.POSITIVE_INFINITY);
  // In any other order GitLab takes no notice of it.
  const since = query.get('order_by') === 'updated_at' ? query.get('updated_after') : null;
  const sinceMs = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  return projects.filter(({ id, updatedAtMs = 0 }) => id > after && id < before && updatedAtMs > sinceMs);
}

const placeBodies = (book: PlaceBook, instanceUrl: string) => {
  const group = ({ id, parentId, path, visibility = 'private' }: LocalGroup): object => {
    const fullPath = book.pathOf(id);
    return {
      id,
      name: projectName(path),
      path,
      description: '',
      visibility,
      share_with_group_lock: false,
      avatar_url: null,
      web_url: `${instanceUrl}/groups/${fullPath}`,
      request_access_enabled: false,
      repository_storage: 'default',
      full_name: fullPath.split('/').map(projectName).join(' / '),
      full_path: fullPath,
      parent_id: parentId ?? null,
      created_at: isoText(MADE_AT_MS),
    };
  };
  const simpleProject = (project: LocalProject): object => {
    const { id, namespaceId, path } = project;
    const at = book.pathOf(namespaceId);
    const kind = book.groups.has(namespaceId) ? 'group' : 'user';
    return {
      id,
      description: null,
      name: projectName(path),
      name_with_namespace: [...at.split('/'), path].map(projectName).join(' / '),
      path,
      path_with_namespace: `${at}/${path}`,
      created_at: isoText(MADE_AT_MS),
      default_branch: project.defaultBranch ?? 'main',
      tag_list: [],
      topics: [],
      ssh_url_to_repo: `git@${new URL(instanceUrl).hostname}:${at}/${path}.git`,
      http_url_to_repo: `${instanceUrl}/${at}/${path}.git`,
      web_url: `${instanceUrl}/${at}/${path}`,
      avatar_url: null,
      star_count: 0,
      last_activity_at: isoText(project.updatedAtMs ?? MADE_AT_MS),
      visibility: project.visibility ?? 'private',
      namespace: {
        id: namespaceId,
        name: projectName(at.split('/').at(-1) ?? ''),
        path: at.split('/').at(-1),
        kind,
        full_path: at,
        parent_id: book.groups.get(namespaceId)?.parentId ?? null,
        avatar_url: null,
        web_url: kind === 'group' ? `${instanceUrl}/groups/${at}` : `${instanceUrl}/${at}`,
      },
    };
  };
  const project = (each: LocalProject): object => ({
    ...simpleProject(each),
    archived: false,
    jobs_enabled: true,
    shared_runners_enabled: true,
    updated_at: isoText(each.updatedAtMs ?? MADE_AT_MS),
  });
  return { group, simpleProject, project };
};
