/** A GitLab to sign in with: a real OpenID provider with GitLab's claims, and the REST API of users and memberships. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import {
  type AccountClaims,
  type Adapter,
  type AdapterPayload,
  type Configuration,
  Provider,
} from 'oidc-provider';
import { DEVICE_GRANT, deviceGrant, page } from './device-grant.ts';

export interface GitLabUser {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  /** @default 'active' */
  state?: string;
  memberships: readonly GitLabMembership[];
}

interface GitLabMembership {
  readonly groupId: number;
  readonly path: string;
  /** 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner. */
  readonly level: number;
}

export interface SignInGitLab {
  /** Issuer of the ID tokens and root of the REST API, `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The application for terminals. */
  readonly deviceClientId: string;
  /** REST callers send it as `PRIVATE-TOKEN`. */
  readonly token: string;
  readonly users: Map<number, GitLabUser>;
  /** Answers the REST API with 503. */
  silent: boolean;
  /** Path and query of each call of the REST API. */
  readonly calls: string[];
  stop(): Promise<void>;
}

interface SignInGitLabOptions {
  readonly redirectUrl: string;
  readonly users: readonly GitLabUser[];
  /** @default 120, as GitLab's */
  readonly idTokenTtlSeconds?: number;
  /** Forgets the last sign-in, so that one browser can sign in as several users. @default false */
  readonly asksEachTime?: boolean;
  /** For codes of devices. @default the machine's clock */
  readonly nowMs?: () => number;
}

const CLAIMS = 'https://gitlab.org/claims/groups';
const PER_PAGE = 100;
/** GitLab's paths. */
const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  jwks: '/oauth/discovery/keys',
  userinfo: '/oauth/userinfo',
};

/**
 * Listens on loopback. `/interaction/<uid>` lists the users as links; a link signs in as that user without a question, as
 * an application does that GitLab's administrator trusts.
 */
export async function startSignInGitLab(options: SignInGitLabOptions): Promise<SignInGitLab> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gitlab: SignInGitLab = {
    url,
    clientId: 'tollgate',
    deviceClientId: 'tollgate-terminal',
    clientSecret: randomBytes(24).toString('base64url'),
    token: randomBytes(24).toString('base64url'),
    users: new Map(options.users.map((user) => [user.id, user])),
    silent: false,
    calls: [],
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  const provider = new Provider(url, configurationOf(gitlab, options));
  const app = new Hono();
  userRoutes(app, gitlab);
  const { nowMs = Date.now, asksEachTime = false } = options;
  deviceGrant(app, { provider, url, users: gitlab.users, nowMs });
  const signIn = provider.callback();
  const bindings = (c: Context) => c.env as HttpBindings;

  app.get('/interaction/:uid', (c) => {
    const uid = c.req.param('uid');
    const links = [...gitlab.users.values()].map(
      ({ id, username }) => `<li><a href="/interaction/${uid}/${id}">${username}</a></li>`,
    );
    return c.html(page('Sign in as', `<ul>${links.join('')}</ul>`));
  });
  app.get('/interaction/:uid/:chosen', async (c) => {
    const accountId = c.req.param('chosen');
    const result = accountId === 'decline' ? { error: 'access_denied' } : { login: { accountId } };
    const { incoming, outgoing } = bindings(c);
    await provider.interactionFinished(incoming as never, outgoing as never, result);
    return RESPONSE_ALREADY_SENT;
  });
  app.all('*', async (c) => {
    const { incoming, outgoing } = bindings(c);
    if (asksEachTime && c.req.path === ROUTES.authorization) delete incoming.headers.cookie;
    await signIn(incoming as never, outgoing as never);
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c) => c.text(String(error), 400));
  server.on('request', getRequestListener(app.fetch, { autoCleanupIncoming: false }));
  return gitlab;
}

/** `GET /users/:id` and `GET /users/:id/memberships`, as an administrator sees them. */
function userRoutes(app: Hono, gitlab: SignInGitLab): void {
  const userOf = (c: Context): GitLabUser | undefined => gitlab.users.get(Number(c.req.param('id')));
  const missing = (c: Context) => c.json({ message: '404 User Not Found' }, 404);
  app.use('/api/v4/*', async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    gitlab.calls.push(`${pathname}${search}`);
    if (gitlab.silent) return c.json({}, 503);
    return c.req.header('private-token') === gitlab.token
      ? next()
      : c.json({ message: '401 Unauthorized' }, 401);
  });
  app.get('/api/v4/users/:id', (c) => {
    const user = userOf(c);
    if (user === undefined) return missing(c);
    const { id, username, name, state = 'active' } = user;
    return c.json({ id, username, name, state, is_admin: false });
  });
  app.get('/api/v4/users/:id/memberships', (c) => {
    const user = userOf(c);
    if (user === undefined) return missing(c);
    // Without the type GitLab lists requests for access as well, so no caller may leave it out.
    if (c.req.query('type') !== 'Namespace') return c.json({ message: 'type is missing' }, 400);
    const pageNumber = Number(c.req.query('page') ?? 1);
    const end = pageNumber * PER_PAGE;
    const body = user.memberships.slice(end - PER_PAGE, end).map(({ groupId, path, level }) => ({
      ...{ source_id: groupId, source_name: path, source_type: 'Namespace', access_level: level },
    }));
    const next = user.memberships.length > end ? String(pageNumber + 1) : '';
    return c.json(body, 200, { 'x-next-page': next });
  });
}

function configurationOf(
  { clientId, clientSecret, deviceClientId, users }: SignInGitLab,
  { redirectUrl, idTokenTtlSeconds = 120 }: SignInGitLabOptions,
): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    adapter: memoryAdapter(),
    clients: [
      {
        ...{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUrl] },
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        ...{ client_id: deviceClientId, redirect_uris: [], response_types: [], grant_types: [DEVICE_GRANT] },
        token_endpoint_auth_method: 'none',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(24).toString('base64url')] },
    claims: {
      openid: ['sub', 'name', 'nickname', 'preferred_username', 'groups', 'groups_direct'].concat(
        ['owner', 'maintainer', 'developer'].map((level) => `${CLAIMS}/${level}`),
      ),
    },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    routes: ROUTES,
    ttl: {
      ...{ AccessToken: 7_200, AuthorizationCode: 600, IdToken: idTokenTtlSeconds },
      ...{ Interaction: 3_600, Session: 86_400, Grant: 86_400 },
    },
    findAccount(_, sub) {
      const user = users.get(Number(sub));
      return user && { accountId: sub, claims: () => claimsOf(user) };
    },
    async loadExistingGrant({ oidc }) {
      const accountId = oidc.session?.accountId ?? '';
      const grant = new oidc.provider.Grant({ accountId, clientId: oidc.client?.clientId ?? '' });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  };
}

function claimsOf({ id, username, name, memberships }: GitLabUser): AccountClaims {
  const at = (level: number): string[] =>
    memberships.filter((one) => one.level === level).map(({ path }) => path);
  const paths = memberships.map(({ path }) => path);
  return {
    ...{ sub: String(id), name, nickname: username, preferred_username: username },
    ...{ groups: paths, groups_direct: paths },
    [`${CLAIMS}/owner`]: at(50),
    [`${CLAIMS}/maintainer`]: at(40),
    [`${CLAIMS}/developer`]: at(30),
  };
}

/** The provider's own adapter for memory warns that it is for development. */
function memoryAdapter(): (kind: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return (kind) => ({
    upsert: async (id, payload) => void kept.set(`${kind} ${id}`, payload),
    find: async (id) => kept.get(`${kind} ${id}`),
    findByUid: async (uid) =>
      [...kept].find(([key, payload]) => key.startsWith(`${kind} `) && payload.uid === uid)?.[1],
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = kept.get(`${kind} ${id}`);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
    },
    destroy: async (id) => void kept.delete(`${kind} ${id}`),
    async revokeByGrantId(grantId) {
      for (const [key, payload] of [...kept]) if (payload.grantId === grantId) kept.delete(key);
    },
  });
}
