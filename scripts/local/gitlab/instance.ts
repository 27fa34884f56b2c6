import type { Context, Hono } from 'hono';
import type { LocalGroup } from './places.ts';
import { runnerOf } from './runners.ts';
import type { GitLabState } from './state.ts';

/** The set-up of an instance, where it differs from one with every feature. */
export interface InstanceSettings {
  /** @default 'ultimate' */
  readonly licence?: 'ultimate' | 'premium' | 'none';
  /** True if the token is an administrator's. @default true */
  readonly administrator?: boolean;
  /** Scopes of the token. @default api and admin_mode */
  readonly scopes?: readonly string[];
  /** Day on which the token expires, e.g. `2027-01-01`. @default none */
  readonly expiresAt?: string;
  /** Groups that exist from the beginning. @default none */
  readonly groups?: readonly LocalGroup[];
  /** Overrides of `GET /application/settings`. */
  readonly applicationSettings?: Readonly<Record<string, unknown>>;
  /** @default all three flags of the job router are on */
  readonly flags?: Readonly<Record<string, 'on' | 'off' | 'conditional'>>;
  /** @default 'wss://kas.gitlab.localhost' */
  readonly routerUrl?: string | null;
  /** A runner token that discovery accepts. @default none */
  readonly runnerToken?: string;
  /** Disables webhooks after repeated failures; off by default on Self-Managed. @default false */
  readonly disablesHooks?: boolean;
}

/** Older builds do not know the last one. */
const ROUTER_FLAGS = ['job_router', 'job_router_instance_runners', 'job_router_admission_control'] as const;
/** Runners call it with their own token. */
export const DISCOVERY_PATH = '/runners/router/discovery';
const ROUTER_URL = 'wss://kas.gitlab.localhost';

export const isAdministrator = ({ settings }: GitLabState): boolean => settings.administrator ?? true;
export const licenceOf = ({ settings }: GitLabState) => settings.licence ?? 'ultimate';
export const forbidden = (c: Context): Response => c.json({ message: '403 Forbidden' }, 403);

/** Metadata, licence, flags, settings, the caller's token and the address of the job router. */
export function instanceRoutes(app: Hono, state: GitLabState): void {
  const { settings, version } = state;
  const routerUrl = () => (settings.routerUrl === undefined ? ROUTER_URL : settings.routerUrl);
  const flags = (): Readonly<Record<string, string>> =>
    settings.flags ?? Object.fromEntries(ROUTER_FLAGS.map((name) => [name, 'on']));
  const forAdministrators = (body: () => object | null) => (c: Context) =>
    isAdministrator(state) ? c.json(body()) : forbidden(c);

  app.get('/metadata', (c) => {
    const externalUrl = routerUrl();
    const isOn = externalUrl !== null;
    return c.json({
      version: `${version}.0-ee`,
      revision: 'ceb07b24cb0',
      kas: {
        ...{ enabled: isOn, externalUrl, version: isOn ? `${version}.0` : null },
        externalK8sProxyUrl: isOn ? 'https://kas.gitlab.localhost/k8s-proxy' : null,
      },
      enterprise: true,
    });
  });
  app.get(
    '/license',
    forAdministrators(() => (licenceOf(state) === 'none' ? null : { ...LICENCE, plan: licenceOf(state) })),
  );
  app.get(
    '/features',
    forAdministrators(() =>
      Object.entries(flags()).map(([name, flag]) => ({
        ...{ name, state: flag, definition: definitionOf(name) },
        gates: [{ key: 'boolean', value: flag === 'on' }],
      })),
    ),
  );
  app.get(
    '/features/definitions',
    forAdministrators(() =>
      ROUTER_FLAGS.map((name) => ({ ...definitionOf(name), milestone: '18.9', log_state_changes: null })),
    ),
  );
  app.get(
    '/application/settings',
    forAdministrators(() => ({ ...APPLICATION_SETTINGS, ...settings.applicationSettings })),
  );
  app.get('/personal_access_tokens/self', (c) =>
    c.json({
      ...{ id: 4, name: 'setup', description: null, revoked: false, active: true, user_id: 1 },
      ...{ created_at: '2026-11-20T08:50:25.000Z', last_used_at: '2026-11-21T17:57:08.000Z' },
      scopes: settings.scopes ?? ['api', 'admin_mode'],
      expires_at: settings.expiresAt ?? null,
    }),
  );
  app.get(DISCOVERY_PATH, (c) => {
    const token = c.req.header('runner-token') ?? '';
    const isKnown = token === settings.runnerToken || runnerOf(state, token) !== undefined;
    if (token === '' || !isKnown) return forbidden(c);
    if (routerUrl() === null || flags().job_router_instance_runners !== 'on')
      return c.json({ message: '501 Job Router is not available. Please contact your administrator.' }, 501);
    return c.json({ server_url: routerUrl() });
  });
}

const LICENCE = {
  ...{ id: 2, created_at: '2026-01-27T23:21:58.674Z', starts_at: '2026-01-27', expires_at: '2027-01-27' },
  ...{ historical_max: 300, maximum_user_count: 300, expired: false, overage: 0, user_limit: 400 },
  ...{ active_users: 300, add_ons: {} },
  licensee: { Name: 'Local Person', Email: 'local@example.com', Company: 'Local' },
};

const APPLICATION_SETTINGS = {
  ...{ id: 1, signup_enabled: true, admin_mode: false, silent_mode_enabled: false },
  allow_local_requests_from_hooks_and_services: false,
  allow_local_requests_from_web_hooks_and_services: false,
  allow_local_requests_from_system_hooks: true,
  outbound_local_requests_whitelist: [],
  ...{ project_jobs_api_rate_limit: 600, runner_jobs_request_api_limit: 2_000 },
  ...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
};

const definitionOf = (name: string): object => ({
  ...{ name, rollout_issue_url: null, group: 'group::runner core', type: 'wip', default_enabled: false },
  introduced_by_url: 'https://gitlab.com/gitlab-org/gitlab/-/merge_requests/218229',
});

/** GitLab's defaults and bounds. */
const PER_PAGE = 20;
/** GitLab does not count lists longer than this. */
const COUNTED_MAX = 10_000;
const PER_PAGE_MAX = 100;

/** One page, and the headers that lead to the others. */
interface RestPage<Entry> {
  readonly entries: readonly Entry[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers one numbered page of a list. */
export function listPage<Entry>(
  c: Context,
  all: readonly Entry[],
  entity: (entry: Entry) => object,
): Response {
  const { entries, headers } = numberedPage(all, new URL(c.req.url));
  return c.json(
    entries.map((entry) => entity(entry)),
    200,
    headers,
  );
}

export const notFound = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

export const noKeyset = (c: Context): Response =>
  c.json({ error: 'Keyset pagination is not yet available for this type of request' }, 405);

/** Pages by number: they shift when an entry is added or removed in between, as GitLab's do. */
export function numberedPage<Entry>(all: readonly Entry[], url: URL): RestPage<Entry> {
  const perPage = perPageOf(url);
  const page = Math.max(1, Math.trunc(Number(url.searchParams.get('page'))) || 1);
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const next = page < pages ? String(page + 1) : '';
  return {
    entries: all.slice((page - 1) * perPage, page * perPage),
    headers: {
      'x-page': String(page),
      'x-per-page': String(perPage),
      'x-next-page': next,
      'x-prev-page': page > 1 ? String(page - 1) : '',
      ...(all.length <= COUNTED_MAX && {
        'x-total': String(all.length),
        'x-total-pages': String(pages),
      }),
      ...(next !== '' && { link: nextLink(url, 'page', next) }),
    },
  };
}

/** Pages by a cursor at the last id: nothing shifts. `Link` is the only header. */
export function keysetPage(ascending: readonly number[], url: URL): RestPage<number> {
  const perPage = perPageOf(url);
  const { ids, isLast } = olderThan(ascending, readCursor(url.searchParams.get('cursor')), perPage);
  const last = ids.at(-1);
  return {
    entries: ids,
    headers: isLast || last === undefined ? {} : { link: nextLink(url, 'cursor', cursorAt(last)) },
  };
}

/** Pages by the last id, in either order: the link has `id_after` or `id_before`. */
export function keysetPageById(ascending: readonly number[], url: URL): RestPage<number> {
  const perPage = perPageOf(url);
  const rising = url.searchParams.get('sort') === 'asc';
  const ids = rising ? ascending : ascending.toReversed();
  const entries = ids.slice(0, perPage);
  const last = ids.length > perPage ? entries.at(-1) : undefined;
  const link =
    last === undefined ? {} : { link: nextLink(url, rising ? 'id_after' : 'id_before', String(last)) };
  return { entries, headers: link };
}

/** Ids below `id` in descending order; without `id`, from the highest. */
function olderThan(
  ascending: readonly number[],
  id: number | undefined,
  count: number,
): { readonly ids: readonly number[]; readonly isLast: boolean } {
  const older = id === undefined ? ascending.length : countBelow(ascending, id);
  return { ids: ascending.slice(Math.max(0, older - count), older).reverse(), isLast: older <= count };
}

function nextLink(url: URL, name: string, value: string): string {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return `<${next}>; rel="next"`;
}

function perPageOf(url: URL): number {
  const asked = Math.trunc(Number(url.searchParams.get('per_page'))) || PER_PAGE;
  return Math.min(PER_PAGE_MAX, Math.max(1, asked));
}

const cursorAt = (id: number): string =>
  Buffer.from(JSON.stringify({ id: String(id), _kd: 'n' })).toString('base64url');

function readCursor(cursor: string | null): number | undefined {
  if (cursor === null) return undefined;
  const { id } = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  return Number(id);
}

/** The number of ascending ids below `id`. */
function countBelow(ascending: readonly number[], id: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
