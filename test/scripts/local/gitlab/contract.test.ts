/** Each answer of the local GitLab against GitLab's documentation, in both directions: nothing is missing, nothing is made up. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { handClock } from '../../../../scripts/local/clock.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { DOCUMENTED, type DocumentedEntity } from './documented-api.ts';

const VERSIONS = ['18.9', '18.11', '19.4'] as const;
const HOOK = { url: 'https://x.example.com/hook', name: 'Tollgate', push_events: false, job_events: true };

interface RouteExample {
  /** As the router of the stand-in has it. */
  readonly route: string;
  /** Asked for; as `route` where it has no parameters. */
  readonly path?: string;
  readonly body?: object;
  readonly status: number;
  /** Undefined: an answer without a body. */
  readonly is: keyof typeof DOCUMENTED | undefined;
  /** By number, or by id. */
  readonly pages?: 'offset' | 'keyset';
  /** The version the route came with. */
  readonly since?: '18.10';
}

/** In an order in which each finds what it needs. */
const EXAMPLES: readonly RouteExample[] = [
  { route: 'GET /metadata', status: 200, is: 'metadata' },
  { route: 'GET /license', status: 200, is: 'licence' },
  { route: 'GET /features', status: 200, is: 'feature' },
  { route: 'GET /features/definitions', status: 200, is: 'featureDefinition' },
  { route: 'GET /application/settings', status: 200, is: 'settings' },
  { route: 'GET /personal_access_tokens/self', status: 200, is: 'accessToken' },
  { route: 'GET DISCOVERY_PATH', path: '/runners/router/discovery', status: 200, is: 'discovery' },
  { route: 'GET /groups', status: 200, is: 'group', pages: 'offset' },
  { route: 'GET /groups/:id', path: '/groups/3', status: 200, is: 'groupDetail' },
  { route: 'GET /groups/:id', path: '/groups/shop%2Fweb-team', status: 200, is: 'groupDetail' },
  { route: 'GET /projects', status: 200, is: 'project', pages: 'offset' },
  {
    route: 'GET /projects',
    path: '/projects?simple=true',
    status: 200,
    is: 'simpleProject',
    pages: 'offset',
  },
  {
    route: 'GET /projects',
    path: '/projects?simple=true&pagination=keyset&order_by=id&sort=asc',
    status: 200,
    is: 'simpleProject',
    pages: 'keyset',
  },
  { route: 'GET /projects/:id', path: '/projects/7', status: 200, is: 'project' },
  { route: 'GET /projects/:id', path: '/projects/shop%2Fweb', status: 200, is: 'project' },
  { route: 'GET /projects/:projectId/jobs/:jobId', path: '/projects/7/jobs/1', status: 200, is: 'job' },
  {
    route: 'POST /runner_controllers',
    body: { description: 'a', state: 'dry_run' },
    status: 201,
    is: 'controller',
  },
  { route: 'GET /runner_controllers', status: 200, is: 'controller', pages: 'offset' },
  {
    route: 'GET /runner_controllers/:id',
    path: '/runner_controllers/3',
    status: 200,
    is: 'controllerDetail',
  },
  {
    route: 'PUT /runner_controllers/:id',
    path: '/runner_controllers/3',
    body: { state: 'enabled' },
    status: 200,
    is: 'controller',
  },
  {
    route: 'POST /runner_controllers/:id/tokens',
    path: '/runner_controllers/3/tokens',
    body: { description: 't' },
    status: 201,
    is: 'madeControllerToken',
  },
  {
    route: 'GET /runner_controllers/:id/tokens',
    path: '/runner_controllers/3/tokens',
    status: 200,
    is: 'controllerToken',
    pages: 'offset',
  },
  {
    route: 'DELETE /runner_controllers/:id/tokens/:token',
    path: '/runner_controllers/3/tokens/1',
    status: 204,
    is: undefined,
  },
  {
    route: 'POST /runner_controllers/:id/scopes/runners/:runner',
    path: '/runner_controllers/3/scopes/runners/5',
    status: 201,
    is: 'runnerScope',
    since: '18.10',
  },
  {
    route: 'GET /runner_controllers/:id/scopes',
    path: '/runner_controllers/3/scopes',
    status: 200,
    is: 'scopes',
  },
  {
    route: 'POST /runner_controllers/:id/scopes/instance',
    path: '/runner_controllers/2/scopes/instance',
    status: 201,
    is: 'instanceScope',
  },
  {
    route: 'DELETE /runner_controllers/:id/scopes/instance',
    path: '/runner_controllers/2/scopes/instance',
    status: 204,
    is: undefined,
  },
  { route: 'DELETE /runner_controllers/:id', path: '/runner_controllers/3', status: 204, is: undefined },
  { route: 'POST /groups/:group/hooks', path: '/groups/3/hooks', body: HOOK, status: 201, is: 'hook' },
  { route: 'GET /groups/:group/hooks', path: '/groups/3/hooks', status: 200, is: 'hook', pages: 'offset' },
  { route: 'PUT /groups/:group/hooks/:hook', path: '/groups/3/hooks/1', body: HOOK, status: 200, is: 'hook' },
  {
    route: 'POST /groups/:group/hooks/:hook/test/job_events',
    path: '/groups/3/hooks/1/test/job_events',
    status: 201,
    is: 'testedHook',
  },
  {
    route: 'GET /groups/:group/hooks/:hook/events',
    path: '/groups/3/hooks/1/events',
    status: 200,
    is: 'hookEvent',
    pages: 'offset',
  },
  {
    route: 'POST /groups/:group/hooks/:hook/events/:event/resend',
    path: '/groups/3/hooks/1/events/1/resend',
    status: 201,
    is: 'resentEvent',
  },
  { route: 'DELETE /groups/:group/hooks/:hook', path: '/groups/3/hooks/1', status: 204, is: undefined },
];

function aGitLab(version: (typeof VERSIONS)[number]) {
  const local = createLocalGitLab({
    clock: handClock(1_000),
    random: Math.random,
    token: 'glpat-local',
    version,
    administration: {
      groups: [
        { id: 3, path: 'shop' },
        { id: 4, parentId: 3, path: 'web-team' },
      ],
      runnerToken: 'glrt-local',
    },
    controllers: [{ id: 2, state: 'disabled' }],
    deliver: async () => new Response(null, { status: 200 }),
  });
  local.addRunner({ id: 5, type: 'instance_type' });
  local.places.projects.set(7, { id: 7, namespaceId: 3, path: 'web' });
  local.places.projects.set(8, { id: 8, namespaceId: 4, path: 'api' });
  local.create({ id: 1, projectId: 7, projectPath: 'shop/web', name: 'test' });
  return (method: string, path: string, body?: object) =>
    local.fetch(`http://gitlab.localhost/api/v4${path}`, {
      method,
      headers: {
        'private-token': 'glpat-local',
        'runner-token': 'glrt-local',
        'content-type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const isKnown = (version: string, since: string | undefined): boolean =>
  since === undefined || version.localeCompare(since, 'en', { numeric: true }) >= 0;

/** What is there and not documented, documented and not there, or of another kind. */
function differences(
  answer: unknown,
  { fields, since = {}, inPart }: DocumentedEntity,
  version: string,
): string[] {
  const entry: unknown = Array.isArray(answer) ? answer[0] : answer;
  if (kindOf(entry) !== 'object') return [`a ${kindOf(entry)} instead of an entry`];
  const at = (path: string): unknown =>
    path
      .split('.')
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], entry);
  const names = new Set(Object.keys(fields).map((path) => path.split('.')[0]));
  const madeUp = Object.keys(entry as object).filter((name) => !names.has(name));
  return [
    ...madeUp.map((name) => `${name} is not documented`),
    ...Object.entries(fields).flatMap(([path, type]) => {
      const kind = kindOf(at(path));
      if (!isKnown(version, since[path]))
        return kind === 'undefined' ? [] : [`${path} came with ${since[path]}`];
      if (kind === 'undefined' && type.startsWith('?')) return [];
      return type.replace('?', '').split('|').includes(kind) ? [] : [`${path} is ${kind}, not ${type}`];
    }),
    ...(inPart === undefined || Object.keys(entry as object).length > 5 ? [] : ['hardly anything is there']),
  ];
}

const PAGED = ['x-page', 'x-per-page', 'x-next-page', 'x-prev-page', 'x-total', 'x-total-pages'];

test.each(VERSIONS)('GitLab %s answers each route as its documentation shows', async (version) => {
  const ask = aGitLab(version);
  for (const { route, path, body, status, is, pages, since } of EXAMPLES) {
    const [method = '', plain = ''] = route.split(' ');
    const asked = path ?? plain;
    const answer = await ask(method, asked, body);
    if (!isKnown(version, since)) {
      expect([route, answer.status]).toEqual([route, 404]);
      continue;
    }
    const text = await answer.text();
    expect([route, asked, answer.status]).toEqual([route, asked, status]);
    if (is === undefined) expect([route, text]).toEqual([route, '']);
    else expect([route, differences(JSON.parse(text), DOCUMENTED[is], version)]).toEqual([route, []]);
    if (pages === 'offset')
      expect([route, PAGED.filter((name) => !answer.headers.has(name))]).toEqual([route, []]);
    if (pages === 'keyset')
      expect([route, PAGED.filter((name) => answer.headers.has(name))]).toEqual([route, []]);
  }
});

test('every route of these files has its example', () => {
  const files = ['controllers', 'webhooks', 'instance', 'places'];
  const played = files.flatMap((name) => {
    const file = new URL(`../../../../scripts/local/gitlab/${name}.ts`, import.meta.url);
    const routes = readFileSync(file, 'utf8').matchAll(
      /\bapp\.(get|post|put|delete)\(\s*(?:'([^']+)'|(\w+))/g,
    );
    return [...routes].map(([, method = '', path, named]) => `${method.toUpperCase()} ${path ?? named}`);
  });
  expect(played.length).toBeGreaterThan(25);
  const shown = new Set(EXAMPLES.map(({ route }) => route));
  expect(played.filter((route) => !shown.has(route))).toEqual([]);
});

test('where the next page begins: a number, or the last id that was seen', async () => {
  const ask = aGitLab('19.4');
  const numbered = await ask('GET', '/projects?per_page=1');
  expect(numbered.headers.get('link')).toMatch(/[?&]page=2>; rel="next"/);
  const rising = await ask('GET', '/projects?per_page=1&pagination=keyset&order_by=id&sort=asc');
  expect(rising.headers.get('link')).toMatch(/[?&]id_after=7>; rel="next"/);
  const falling = await ask('GET', '/projects?per_page=1&pagination=keyset&order_by=id&sort=desc');
  expect(falling.headers.get('link')).toMatch(/[?&]id_before=8>; rel="next"/);
  const last = await ask('GET', '/projects?per_page=1&pagination=keyset&order_by=id&sort=asc&id_after=7');
  expect([last.headers.has('link'), await last.json()]).toEqual([false, [expect.anything()]]);
});

test('what changed is told only in the order of changes, and whoever forgets it gets everything', async () => {
  const ask = aGitLab('19.4');
  const changed = await ask('GET', '/projects?updated_after=2026-01-01T00:00:00Z&order_by=updated_at');
  const all = await ask('GET', '/projects?updated_after=2026-01-01T00:00:00Z');
  expect([await changed.json(), await all.json()]).toMatchObject([[], [{ id: 8 }, { id: 7 }]]);
});

test.each([
  ['/groups/99', 404],
  ['/projects/99', 404],
  ['/groups?pagination=keyset&order_by=name&sort=asc', 405],
  ['/projects?pagination=keyset&order_by=updated_at', 405],
  ['/groups?order_by=size', 400],
  ['/groups/99/hooks', 404],
])('GET %s is answered %i', async (path, status) => {
  expect((await aGitLab('19.4')('GET', path)).status).toBe(status);
});
