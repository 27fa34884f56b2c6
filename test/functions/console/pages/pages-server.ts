import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { createAssets } from '../../../../functions/console/pages/assets.ts';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import type { PagesDeps } from '../../../../functions/console/pages/page-deps.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import type { Roles, SignInEnv, User } from '../../../../functions/core/signin/model.ts';
import { pageHeaders } from '../../../../functions/core/signin/require-user.ts';
import type { OwnSessions } from '../../../../functions/core/signin/sessions.ts';
import { aPolicy } from '../../../policies/documents.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { type FakeDesk, fakeDesk } from './fake-desk.ts';
import { type Amount, fakeRead } from './fake-read.ts';
import { NOW_MS, ZONE } from './rows.ts';

const NOBODY: Roles = { admin: false, finance: false, ownedGroupIds: [], viewerGroupIds: [] };

export const PEOPLE = {
  fiona: { id: 1, username: 'fiona', name: 'Fiona Finance', roles: { ...NOBODY, finance: true } },
  ada: { id: 5, username: 'ada', name: 'Ada Admin', roles: { ...NOBODY, admin: true } },
  olaf: {
    id: 2,
    username: 'olaf',
    name: 'Olaf Owner',
    roles: { ...NOBODY, ownedGroupIds: [101], viewerGroupIds: [101] },
  },
  dev: { id: 3, username: 'dev', name: 'Dev Eloper', roles: { ...NOBODY, viewerGroupIds: [101] } },
  nobody: { id: 4, username: 'nobody', name: 'No Body', roles: NOBODY },
} as const;

export type Person = keyof typeof PEOPLE;

const TOKEN = 'token-of-this-session';

export interface PagesServer {
  readonly origin: string;
  readonly desk: FakeDesk;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const SESSIONS: OwnSessions = {
  list: async () => [
    { handle: 'a', isTerminal: false, isThis: true, beganAgoMs: 130 * MINUTE_MS, seenAgoMs: 0 },
    { handle: 'b', isTerminal: true, isThis: false, beganAgoMs: 300 * MINUTE_MS, seenAgoMs: 12 * MINUTE_MS },
    { handle: 'c', isTerminal: false, isThis: false, beganAgoMs: 95 * MINUTE_MS, seenAgoMs: 40 * MINUTE_MS },
  ],
  end: async () => 1,
};

/** The real pages behind the real headers; who is signed in stands in a cookie. */
export function pagesApp(
  amount: Amount,
  more: Partial<PagesDeps> = {},
): { readonly app: Hono<SignInEnv>; readonly desk: FakeDesk } {
  const desk = fakeDesk(amount === 'empty' ? [] : undefined);
  const clock = { nowMs: () => NOW_MS };
  let uploads = 0;
  const newId = (): string => {
    uploads += 1;
    return `u${uploads}`;
  };
  const pages = createPages({
    desk,
    read: fakeRead(amount, desk),
    policy: aPolicy(),
    directory: async () => undefined,
    sessions: SESSIONS,
    uploads: createUploads({ table: memoryLimitTable(), clock, newId }),
    clock,
    zone: ZONE,
    origin: 'https://budget.example.com',
    log: silentLog,
    ...more,
  });
  const app = new Hono<SignInEnv>();
  app.use(pageHeaders());
  app.route('/', createAssets());
  app.use(async (c, next) => {
    const person = /person=(\w+)/.exec(c.req.header('cookie') ?? '')?.[1] ?? 'fiona';
    const user: User = { ...PEOPLE[person as Person], sessionId: 's', csrfToken: TOKEN };
    c.set('user', user);
    // As `requireUser` does: no form without its token.
    if (c.req.method !== 'GET' && (await c.req.parseBody()).csrf !== TOKEN)
      return c.text('not from here', 403);
    return next();
  });
  app.route('/', pages);
  return { app, desk };
}

export async function startPages(amount: Amount, more: Partial<PagesDeps> = {}): Promise<PagesServer> {
  const { app, desk } = pagesApp(amount, more);
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    desk,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
