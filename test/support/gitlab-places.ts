/** The groups and projects of a GitLab, behind its REST API: a `fetch` that answers like it, pages and headers included. */
export interface StubGroup {
  readonly id: number;
  readonly parentId?: number;
  /** The last part of its path. */
  readonly slug: string;
  readonly visibility?: string;
}

export interface StubProject {
  readonly id: number;
  /** A group, or a personal namespace. */
  readonly namespaceId: number;
  readonly slug: string;
  readonly visibility?: string;
  readonly updatedAtMs?: number;
}

export interface GitLabPlaces {
  readonly groups: Map<number, StubGroup>;
  readonly projects: Map<number, StubProject>;
  /** Personal namespaces: id and user name. */
  readonly users: Map<number, string>;
  readonly fetch: typeof fetch;
  /** Path and query of each call. */
  readonly calls: string[];
  /** Answers the next calls with this status; absent: as usual. */
  fault: { status: number; readonly headers?: Record<string, string>; calls: number } | undefined;
  /** Called before each answer. */
  before: (call: string) => void;
  pathOf(groupId: number): string;
}

export function gitlabPlaces(): GitLabPlaces {
  const groups = new Map<number, StubGroup>();
  const projects = new Map<number, StubProject>();
  const users = new Map<number, string>();
  const calls: string[] = [];

  const pathOf = (groupId: number): string => {
    const group = groups.get(groupId);
    if (group === undefined) return `gone-${groupId}`;
    return group.parentId === undefined ? group.slug : `${pathOf(group.parentId)}/${group.slug}`;
  };

  const groupBody = ({ id, parentId, slug, visibility = 'private' }: StubGroup): unknown => ({
    id,
    name: slug,
    path: slug,
    full_path: pathOf(id),
    full_name: slug,
    parent_id: parentId ?? null,
    visibility,
    web_url: `https://gitlab.example.com/groups/${pathOf(id)}`,
  });

  const projectBody = ({ id, namespaceId, slug, visibility = 'private' }: StubProject): unknown => {
    const user = users.get(namespaceId);
    const full_path = user ?? pathOf(namespaceId);
    const parent_id = groups.get(namespaceId)?.parentId ?? null;
    return {
      id,
      name: slug,
      path: slug,
      path_with_namespace: `${full_path}/${slug}`,
      visibility,
      namespace: { id: namespaceId, kind: user === undefined ? 'group' : 'user', full_path, parent_id },
    };
  };

  const page = (
    url: URL,
    bodies: readonly unknown[],
    numbered: boolean,
    ids: readonly number[],
  ): Response => {
    const perPage = Number(url.searchParams.get('per_page') ?? 20);
    const number = Number(url.searchParams.get('page') ?? 1);
    const first = numbered ? (number - 1) * perPage : 0;
    const some = bodies.slice(first, first + perPage);
    const more = bodies.length > first + perPage;
    const next = new URL(url);
    if (numbered) next.searchParams.set('page', String(number + 1));
    else next.searchParams.set('id_after', String(ids[first + perPage - 1]));
    const headers = new Headers(more ? { link: `<${next}>; rel="next"` } : {});
    if (numbered) headers.set('x-next-page', more ? String(number + 1) : '');
    return new Response(JSON.stringify(some), { headers });
  };

  const answer = (url: URL): Response => {
    const [, what, id] = /\/api\/v4\/(groups|projects)(?:\/(\d+))?$/.exec(url.pathname) ?? [];
    if (id !== undefined) {
      const group = what === 'groups' ? groups.get(Number(id)) : undefined;
      const project = what === 'projects' ? projects.get(Number(id)) : undefined;
      const body = group === undefined ? project && projectBody(project) : groupBody(group);
      return body === undefined ? new Response('{}', { status: 404 }) : new Response(JSON.stringify(body));
    }
    const query = url.searchParams;
    if (what === 'groups') {
      const all = [...groups.values()].sort((a, b) => a.id - b.id);
      return page(url, all.map(groupBody), true, []);
    }
    if (query.has('updated_after')) {
      const since = Date.parse(query.get('updated_after') ?? '');
      const some = [...projects.values()]
        .filter(({ updatedAtMs = 0 }) => updatedAtMs > since)
        .sort((a, b) => (b.updatedAtMs ?? 0) - (a.updatedAtMs ?? 0));
      return page(url, some.map(projectBody), true, []);
    }
    const after = Number(query.get('id_after') ?? 0);
    const some = [...projects.values()].filter((project) => project.id > after).sort((a, b) => a.id - b.id);
    const window = some.slice(0, Number(query.get('per_page')) + 1);
    return page(
      url,
      window.map(projectBody),
      false,
      window.map((project) => project.id),
    );
  };

  const places: GitLabPlaces = {
    groups,
    projects,
    users,
    calls,
    fault: undefined,
    before: () => {},
    pathOf,
    fetch: async (input) => {
      const url = new URL(String(input));
      calls.push(`${url.pathname}${url.search}`);
      places.before(`${url.pathname}${url.search}`);
      const { fault } = places;
      if (fault !== undefined && fault.calls > 0) {
        fault.calls -= 1;
        return new Response('{}', { status: fault.status, ...(fault.headers && { headers: fault.headers }) });
      }
      return answer(url);
    },
  };
  return places;
}

/** `roots` trees of groups, two levels deep, `groups` in all, with so many projects spread over them. */
export function fillPlaces(
  places: GitLabPlaces,
  { roots, groups, projects }: { roots: number; groups: number; projects: number },
): void {
  for (let id = 1; id <= groups; id += 1) {
    const parentId = id <= roots ? undefined : 1 + ((id - 1) % roots);
    places.groups.set(id, { id, slug: `g${id}`, ...(parentId !== undefined && { parentId }) });
  }
  for (let id = 1; id <= projects; id += 1) {
    places.projects.set(id, { id, namespaceId: 1 + (id % groups), slug: `p${id}` });
  }
}
