/** A console behind the sign-in, over HTTP on loopback, with a GitLab beside it and a clock that tests turn. */

import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { renderNotice } from '../../../../functions/console/pages/problem-page.tsx';
import type { LogFields } from '../../../../functions/core/environment/environment.ts';
import { createSignIn, type SignInOptions } from '../../../../functions/core/signin/create-sign-in.ts';
import { gitlabRoles } from '../../../../functions/core/signin/gitlab-roles.ts';
import type { SignInEnv } from '../../../../functions/core/signin/model.ts';
import { pageHeaders } from '../../../../functions/core/signin/require-user.ts';
import {
  type GitLabUser,
  type SignInGitLab,
  startSignInGitLab,
} from '../../../../scripts/local/gitlab/sign-in-gitlab.ts';
import { serveOnLoopback } from '../../../../scripts/local/loopback.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';

export const ADMINS = 7;
const FINANCE = 8;

export const USERS = {
  ada: {
    id: 41,
    username: 'ada',
    name: 'Ada',
    memberships: [{ groupId: ADMINS, path: 'tollgate-admins', level: 10 }],
  },
  fin: {
    id: 42,
    username: 'fin',
    name: 'Fin',
    memberships: [{ groupId: FINANCE, path: 'company/finance', level: 30 }],
  },
  mara: {
    id: 43,
    username: 'mara',
    name: 'Mara',
    memberships: [
      { groupId: 101, path: 'company/shop', level: 40 },
      { groupId: 102, path: 'company/data', level: 30 },
      { groupId: 103, path: 'company/legal', level: 10 },
    ],
  },
} as const satisfies Record<string, GitLabUser>;

export interface Desk {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly gitlab: SignInGitLab;
  /** Everything that was logged, as one text. */
  logged(): string;
  advance(ms: number): void;
  stop(): Promise<void>;
}

export interface DeskOptions extends Partial<SignInOptions> {
  readonly idTokenTtlSeconds?: number;
}

export async function openDesk({ idTokenTtlSeconds, ...overrides }: DeskOptions = {}): Promise<Desk> {
  let offsetMs = 0;
  const clock = {
    nowMs: () => Date.now() + offsetMs,
    monotonicMs: () => performance.now(),
    sleep: () => Promise.resolve(),
  };
  const lines: string[] = [];
  const note = (message: string, fields: LogFields = {}): void => {
    lines.push(JSON.stringify({ message, ...fields }));
  };
  let app = new Hono<SignInEnv>();
  const server = await serveOnLoopback({ fetch: (request) => app.fetch(request) });
  const { url } = server;
  const redirectUrl = `${url}/signin/callback`;
  const gitlab = await startSignInGitLab({
    redirectUrl,
    users: Object.values(USERS).map((user) => ({ ...user })),
    ...(idTokenTtlSeconds !== undefined && { idTokenTtlSeconds }),
  });
  const rest = { baseUrl: gitlab.url, token: async () => gitlab.token, fetch, clock };
  const { routes, requireUser } = createSignIn({
    issuer: gitlab.url,
    clientId: gitlab.clientId,
    clientSecret: async () => gitlab.clientSecret,
    redirectUrl,
    fetch,
    sessions: memorySessionStore(),
    roles: gitlabRoles({ adminGroupId: ADMINS, financeGroupId: FINANCE }, rest),
    clock,
    random: randomBytes,
    render: renderNotice,
    addressOf: () => 'somewhere',
    log: { info: note, warn: note, error: note },
    ...overrides,
  });
  app = new Hono<SignInEnv>();
  app.use(pageHeaders());
  app.route('/', routes);
  app.use(requireUser);
  app.get('/', (c) => c.json(c.var.user));
  app.get('/groups/:id', (c) => c.json(c.var.user));
  app.get('/api/me', (c) => c.json(c.var.user));
  app.post('/limits', async (c) => c.text(`changed ${JSON.stringify(await c.req.parseBody())}`));
  app.post('/api/limits', async (c) => c.json(await c.req.json()));
  return {
    url,
    gitlab,
    logged: () => lines.join('\n'),
    advance: (ms) => {
      offsetMs += ms;
    },
    async stop() {
      await gitlab.stop();
      await server.stop();
    },
  };
}
