import { expect, test } from 'vitest';
import { createGitLabDirectory } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const TOKEN = 'glpat-a-token-nobody-may-see';

/** The local GitLab below a path of its own, and what it was asked. */
function gitlabPlaces(options: { readonly administrator?: boolean } = {}) {
  const local = createLocalGitLab({ random: () => 0.5, token: TOKEN, administration: options });
  const calls: string[] = [];
  const reach: typeof fetch = (input, init) => {
    const { origin, pathname, search } = new URL(String(input));
    calls.push(`${pathname}${search}`);
    return local.fetch(`${origin}${pathname.replace('/git/', '/')}${search}`, init);
  };
  return { book: local.places, calls, fetch: reach };
}

const client = (fetch: typeof globalThis.fetch) =>
  createGitLabDirectory({
    baseUrl: 'https://gitlab.example.com/git',
    token: async () => TOKEN,
    fetch,
    clock: manualClock(),
    random: () => 0.5,
  });

const answering =
  (body: unknown, init: ResponseInit = {}): typeof fetch =>
  async () =>
    new Response(JSON.stringify(body), init);

test('all groups come once, in pages by number', async () => {
  const places = gitlabPlaces();
  fillPlaces(places.book, { roots: 5, groups: 250, projects: 0 });
  const gitlab = client(places.fetch);
  const ids: number[] = [];
  let page: string | undefined;
  for (let pages = 1; pages <= 3; pages += 1) {
    const got = await gitlab.groups(page === undefined ? {} : { page });
    ids.push(...got.groups.map(({ id }) => id));
    page = got.next;
  }
  expect(page).toBeUndefined();
  expect(ids).toEqual(Array.from({ length: 250 }, (_, at) => at + 1));
  expect(places.calls[0]).toBe('/git/api/v4/groups?all_available=true&order_by=id&sort=asc&per_page=100');
});

test('projects come by key from any id on, with few fields', async () => {
  const places = gitlabPlaces();
  fillPlaces(places.book, { roots: 1, groups: 10, projects: 250 });
  const gitlab = client(places.fetch);
  const first = await gitlab.projects({ afterId: 99 });
  const second = await gitlab.projects({ afterId: 99, page: first.next ?? '' });
  expect([first.projects[0]?.id, first.projects.length, second.projects.at(-1)?.id, second.next]).toEqual([
    100,
    100,
    250,
    undefined,
  ]);
  for (const call of places.calls)
    expect(call).toMatch(/simple=true&pagination=keyset&order_by=id&sort=asc|id_after=199/);
});

test('changed projects are asked for by the order GitLab wants with the filter, the latest first', async () => {
  const places = gitlabPlaces();
  fillPlaces(places.book, { roots: 1, groups: 2, projects: 0 });
  const atMs = Date.parse('2026-11-21T12:00:00Z');
  for (const id of [1, 2, 3]) {
    places.book.projects.set(id, { id, namespaceId: 1, path: `p${id}`, updatedAtMs: atMs + id * 1_000 });
  }
  const { projects } = await client(places.fetch).projectsChanged({ sinceMs: atMs + 1_000 });
  expect(projects.map(({ id }) => id)).toEqual([3, 2]);
  expect(decodeURIComponent(places.calls[0] ?? '')).toContain(
    'updated_after=2026-11-21T12:00:01.000Z&order_by=updated_at&sort=desc',
  );
});

test('a project that GitLab does not know is undefined', async () => {
  expect(await client(gitlabPlaces().fetch).project(2)).toBeUndefined();
});

test.each([
  { what: 'no path', entry: { id: 1 } },
  { what: 'no id', entry: { full_path: 'acme' } },
  { what: 'a parent that is no id', entry: { id: 1, full_path: 'acme', parent_id: 'x' } },
  { what: 'no object', entry: 'acme' },
])('a group with $what is left out and counted', async ({ entry }) => {
  const gitlab = client(answering([entry, { id: 2, full_path: 'beta', visibility: 'odd' }]));
  expect(await gitlab.groups({})).toEqual({ groups: [{ id: 2, path: 'beta' }], unreadable: 1 });
});
