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
  errors,
  Provider,
} from 'oidc-provider';
import type { Directory } from '../../../policies/directory.ts';

export interface GitLabUser {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  state?: string;
  /** Levels: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner. */
  memberships: readonly { readonly groupId: number; readonly path: string; readonly level: number }[];
}

export type SignInGitLab = Awaited<ReturnType<typeof startSignInGitLab>>;

interface SignInGitLabOptions {
  readonly redirectUrl: string;
  readonly users: readonly GitLabUser[];
  readonly idTokenTtlSeconds?: number;
  /** Forgets the last sign-in, so that one browser can sign in as several users. @default false */
  readonly asksEachTime?: boolean;
  readonly nowMs?: () => number;
}

const CLAIMS = 'https://gitlab.org/claims/groups';
const PER_PAGE = 100;
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
export async function startSignInGitLab(options: SignInGitLabOptions) {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gitlab = {
    ...{ url, clientId: 'tollgate', deviceClientId: 'tollgate-terminal' },
    clientSecret: randomBytes(24).toString('base64url'),
    token: randomBytes(24).toString('base64url'),
    users: new Map(options.users.map((user) => [user.id, user])),
    silent: false,
    calls: [] as string[],
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  const provider = new Provider(url, configurationOf(gitlab, options));
  const app = new Hono();
  userRoutes(app, gitlab);
  const { nowMs = Date.now, asksEachTime = false } = options;
  deviceGrant(app, provider, gitlab, nowMs);
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

function userRoutes(app: Hono, gitlab: SignInGitLab): void {
  const route = (path: string, answer: (c: Context, user: GitLabUser) => Response) =>
    app.get(`/api/v4/users/:id${path}`, (c) => {
      const user = gitlab.users.get(Number(c.req.param('id')));
      return user === undefined ? c.json({ message: '404 User Not Found' }, 404) : answer(c, user);
    });
  app.use('/api/v4/*', async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    gitlab.calls.push(`${pathname}${search}`);
    if (gitlab.silent) return c.json({}, 503);
    const isKnown = c.req.header('private-token') === gitlab.token;
    return isKnown ? next() : c.json({ message: '401 Unauthorized' }, 401);
  });
  route('', (c, { id, username, name, state = 'active' }) =>
    c.json({ id, username, name, state, is_admin: false }),
  );
  route('/memberships', (c, { memberships }) => {
    // Without the type GitLab lists requests for access as well, so no caller may leave it out.
    if (c.req.query('type') !== 'Namespace') return c.json({ message: 'type is missing' }, 400);
    const pageNumber = Number(c.req.query('page') ?? 1);
    const end = pageNumber * PER_PAGE;
    const body = memberships.slice(end - PER_PAGE, end).map(({ groupId, path, level }) => ({
      ...{ source_id: groupId, source_name: path, source_type: 'Namespace', access_level: level },
    }));
    return c.json(body, 200, { 'x-next-page': memberships.length > end ? String(pageNumber + 1) : '' });
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
  const stored = new Map<string, AdapterPayload>();
  return (kind) => ({
    upsert: async (id, payload) => void stored.set(`${kind} ${id}`, payload),
    find: async (id) => stored.get(`${kind} ${id}`),
    findByUid: async (uid) =>
      [...stored].find(([key, payload]) => key.startsWith(`${kind} `) && payload.uid === uid)?.[1],
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = stored.get(`${kind} ${id}`);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
    },
    destroy: async (id) => void stored.delete(`${kind} ${id}`),
    async revokeByGrantId(grantId) {
      for (const [key, payload] of [...stored]) if (payload.grantId === grantId) stored.delete(key);
    },
  });
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const EXPIRES_IN_SECONDS = 300;
const INTERVAL_SECONDS = 5;

interface Device {
  readonly userCode: string;
  readonly begunAtMs: number;
  askedAtMs: number;
  intervalMs: number;
  answer?: number | 'decline';
}

const refused = (code: string): Error => new errors.CustomOIDCProviderError(code, code);

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><title>GitLab</title><h1>${title}</h1>${body}`;

function deviceGrant(app: Hono, provider: Provider, { url, users }: SignInGitLab, nowMs: () => number): void {
  const devices = new Map<string, Device>();

  app.post('/oauth/authorize_device', (c) => {
    const code = randomBytes(24).toString('base64url');
    const userCode = randomBytes(4).toString('hex').toUpperCase();
    const intervalMs = INTERVAL_SECONDS * 1_000;
    devices.set(code, { userCode, begunAtMs: nowMs(), askedAtMs: Number.NEGATIVE_INFINITY, intervalMs });
    return c.json({
      ...{ device_code: code, user_code: userCode, verification_uri: `${url}/oauth/device` },
      verification_uri_complete: `${url}/oauth/device?user_code=${userCode}`,
      ...{ expires_in: EXPIRES_IN_SECONDS, interval: INTERVAL_SECONDS },
    });
  });
  app.get('/oauth/device', (c) => {
    const code = /^[0-9A-F]{8}$/.exec(c.req.query('user_code') ?? '')?.[0] ?? '';
    const choices = [...users.values()].map(({ id, username }) => [id, username] as const);
    const links = [...choices, ['decline', 'Decline'] as const].map(
      ([path, text]) => `<li><a href="/oauth/device/${path}?user_code=${code}">${text}</a></li>`,
    );
    return c.html(page(`Allow the terminal with the code ${code} as`, `<ul>${links.join('')}</ul>`));
  });
  app.get('/oauth/device/:chosen', (c) => {
    const user = users.get(Number(c.req.param('chosen')));
    const code = c.req.query('user_code');
    for (const device of devices.values())
      if (device.userCode === code) device.answer = user?.id ?? 'decline';
    const title = user === undefined ? 'Declined' : `Allowed as ${user.username}`;
    return c.html(page(title, 'Go back to the terminal.'));
  });

  const redeem = (code: string): number => {
    const device = devices.get(code);
    if (device === undefined) throw refused('invalid_grant');
    const atMs = nowMs();
    if (atMs - device.begunAtMs >= EXPIRES_IN_SECONDS * 1_000) throw refused('expired_token');
    const isEarly = atMs - device.askedAtMs < device.intervalMs;
    device.askedAtMs = atMs;
    if (isEarly) {
      device.intervalMs += INTERVAL_SECONDS * 1_000;
      throw refused('slow_down');
    }
    if (device.answer === undefined) throw refused('authorization_pending');
    devices.delete(code);
    if (device.answer === 'decline') throw refused('access_denied');
    return device.answer;
  };
  const grantTokens: Parameters<Provider['registerGrantType']>[1] = async (c) => {
    const { client, params } = c.oidc;
    if (client === undefined) throw refused('invalid_client');
    const accountId = String(redeem(String(params?.device_code)));
    const grant = new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope('openid');
    const about = { accountId, client, grantId: await grant.save(), scope: 'openid', gty: 'device_code' };
    const token = new provider.AccessToken(about as ConstructorParameters<Provider['AccessToken']>[0]);
    c.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: 7_200, scope: 'openid' };
  };
  provider.registerGrantType(DEVICE_GRANT, grantTokens, 'device_code');
}

const ADMINS = 7;
const FINANCE = 8;
const DEVELOPER = 30;
const MAINTAINER = 40;
/** The group with the small budget in policies/limits.yaml. */
const OWNED_GROUP = 101;

export async function openLocalSignIn(redirectUrl: string, directory: Directory | undefined) {
  const own: { readonly id: number; readonly path: string } | undefined = ownedGroup(directory);
  const person = (id: number, name: string, level = 0, group = own): GitLabUser => ({
    ...{ id, name, username: name.toLowerCase().replace(' ', '-') },
    memberships: level === 0 || group === undefined ? [] : [{ groupId: group.id, path: group.path, level }],
  });
  const users = [
    person(41, 'Fiona Finance', DEVELOPER, { id: FINANCE, path: 'finance' }),
    person(42, 'Olaf Owner', MAINTAINER),
    person(43, 'Dana Developer', DEVELOPER),
    person(44, 'Ada Admin', DEVELOPER, { id: ADMINS, path: 'tollgate-admins' }),
    person(45, 'Sam Stranger'),
  ];
  return {
    gitlab: await startSignInGitLab({ redirectUrl, users, asksEachTime: true }),
    roles: { adminGroupId: ADMINS, financeGroupId: FINANCE },
    people: users,
  };
}

/** Prefers a subgroup: its owner then sees less than everything. */
function ownedGroup(directory: Directory | undefined) {
  const groups = [...(directory?.groupById.values() ?? [])].filter(({ personal }) => !personal);
  return (
    groups.find(({ id }) => id === OWNED_GROUP) ??
    groups.find(({ parentId }) => parentId !== undefined) ??
    groups[0]
  );
}

export type LocalSignIn = Awaited<ReturnType<typeof openLocalSignIn>>;
