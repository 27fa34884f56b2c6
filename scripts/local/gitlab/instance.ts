import type { Context, Hono } from 'hono';
import type { LocalGroup } from './places.ts';
import { runnerOf } from './runners.ts';
import type { GitLabState } from './state.ts';

export interface InstanceSettings {
  readonly licence?: 'ultimate' | 'premium' | 'none';
  readonly administrator?: boolean;
  readonly scopes?: readonly string[];
  readonly expiresAt?: string;
  readonly groups?: readonly LocalGroup[];
  readonly flags?: Readonly<Record<string, 'on' | 'off' | 'conditional'>>;
  readonly routerUrl?: string | null;
  /** Disables webhooks after repeated failures; off by default on Self-Managed. @default false */
  readonly disablesHooks?: boolean;
}

/** Older builds do not know the last one. */
const ROUTER_FLAGS = ['job_router', 'job_router_instance_runners', 'job_router_admission_control'] as const;
export const DISCOVERY_PATH = '/runners/router/discovery';
const ROUTER_URL = 'wss://kas.gitlab.localhost';

export const isAdministrator = ({ settings }: GitLabState): boolean => settings.administrator ?? true;
export const licenceOf = ({ settings }: GitLabState) => settings.licence ?? 'ultimate';
export const forbidden = (c: Context): Response => c.json({ message: '403 Forbidden' }, 403);

export function instanceRoutes(app: Hono, state: GitLabState): void {
  const { settings, version } = state;
  const routerUrl = () => (settings.routerUrl === undefined ? ROUTER_URL : settings.routerUrl);
  const flags = (): Readonly<Record<string, string>> =>
    settings.flags ?? Object.fromEntries(ROUTER_FLAGS.map((name) => [name, 'on']));
  const forAdministrators: Readonly<Record<string, () => object | null>> = {
    '/license': () =>
      licenceOf(state) === 'none' ? null : { id: 2, plan: licenceOf(state), expired: false },
    '/features': () =>
      Object.entries(flags()).map(([name, flag]) => ({ name, state: flag, definition: { name } })),
    '/features/definitions': () => ROUTER_FLAGS.map((name) => ({ name, default_enabled: false })),
  };
  for (const [path, body] of Object.entries(forAdministrators))
    app.get(path, (c) => (isAdministrator(state) ? c.json(body()) : forbidden(c)));

  app.get('/metadata', (c) => {
    const externalUrl = routerUrl();
    const kasVersion = externalUrl === null ? null : `${version}.0`;
    return c.json({
      ...{ version: `${version}.0-ee`, enterprise: true },
      kas: { enabled: externalUrl !== null, externalUrl, version: kasVersion },
    });
  });
  app.get('/personal_access_tokens/self', (c) =>
    c.json({
      ...{ id: 4, name: 'setup', revoked: false, active: true, user_id: 1 },
      scopes: settings.scopes ?? ['api', 'admin_mode'],
      expires_at: settings.expiresAt ?? null,
    }),
  );
  app.get(DISCOVERY_PATH, (c) => {
    const token = c.req.header('runner-token') ?? '';
    if (runnerOf(state, token) === undefined) return forbidden(c);
    if (routerUrl() === null || flags().job_router_instance_runners !== 'on')
      return c.json({ message: '501 Job Router is not available. Please contact your administrator.' }, 501);
    return c.json({ server_url: routerUrl() });
  });
}

const PER_PAGE = 20;
const PER_PAGE_MAX = 100;
/** GitLab does not count lists longer than this. */
const COUNTED_MAX = 10_000;

interface RestPage<Entry> {
  readonly entries: readonly Entry[];
  readonly headers: Readonly<Record<string, string>>;
}

export function listPage<Entry>(
  c: Context,
  all: readonly Entry[],
  entity: (entry: Entry) => object,
  paged: (all: readonly Entry[], url: URL) => RestPage<Entry> = numberedPage,
): Response {
  const { entries, headers } = paged(all, new URL(c.req.url));
  return c.json(entries.map(entity), 200, headers);
}

export const notFound = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

/** @returns a function that adds routes below `base`. They answer 404 if `find` finds nothing. */
export const routesBelow =
  <Found>(app: Hono, base: string, find: (c: Context) => Found | undefined) =>
  (method: string, path: string, answer: (c: Context, found: Found) => Response | Promise<Response>) =>
    app.on(method, `${base}${path}`, (c) => {
      const found = find(c);
      return found === undefined ? notFound(c) : answer(c, found);
    });

/** Pages by number: they shift when an entry is added or removed in between, as GitLab's do. */
export function numberedPage<Entry>(all: readonly Entry[], url: URL): RestPage<Entry> {
  const perPage = perPageOf(url);
  const page = Math.max(1, Math.trunc(Number(url.searchParams.get('page'))) || 1);
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const next = page < pages ? String(page + 1) : '';
  return {
    entries: all.slice((page - 1) * perPage, page * perPage),
    headers: {
      ...{ 'x-page': String(page), 'x-per-page': String(perPage), 'x-next-page': next },
      ...(all.length <= COUNTED_MAX && { 'x-total': String(all.length), 'x-total-pages': String(pages) }),
      ...(next !== '' && nextLink(url, 'page', next)),
    },
  };
}

type WithId = { readonly id: number };

/** Pages by a cursor at the last id, newest first: nothing shifts. `Link` is the only header. */
export function keysetPage<Entry extends WithId>(newestFirst: readonly Entry[], url: URL): RestPage<Entry> {
  const cursor = url.searchParams.get('cursor');
  return idPage(
    newestFirst.filter(({ id }) => cursor === null || id < Number(cursor)),
    url,
    'cursor',
  );
}

export function idPage<Entry extends WithId>(all: readonly Entry[], url: URL, name: string): RestPage<Entry> {
  const perPage = perPageOf(url);
  const entries = all.slice(0, perPage);
  const last = all.length > perPage ? entries.at(-1) : undefined;
  return { entries, headers: last === undefined ? {} : nextLink(url, name, String(last.id)) };
}

function nextLink(url: URL, name: string, value: string): { readonly link: string } {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return { link: `<${next}>; rel="next"` };
}

function perPageOf(url: URL): number {
  const wanted = Math.trunc(Number(url.searchParams.get('per_page'))) || PER_PAGE;
  return Math.min(PER_PAGE_MAX, Math.max(1, wanted));
}
