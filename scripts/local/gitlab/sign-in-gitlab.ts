/** A GitLab to sign in with: a real OpenID provider with GitLab's claims, and the part of its REST API that says who is in what. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type AccountClaims,
  type Adapter,
  type AdapterPayload,
  type Configuration,
  Provider,
} from 'oidc-provider';
import {
  answerDevice,
  DEVICE_GRANT,
  type DeviceBook,
  deviceBook,
  serveDeviceGrant,
  showDevicePage,
} from './device-grant.ts';

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
  readonly devices: DeviceBook;
  /** What `PRIVATE-TOKEN` has to be. */
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
  /** Forgets who signed in last, so that one browser can be one person after the other. @default false */
  readonly asksEachTime?: boolean;
  /** For codes of devices. @default the machine's */
  readonly nowMs?: () => number;
}

const CLAIMS = 'https://gitlab.org/claims/groups';
const PER_PAGE = 100;
/** As GitLab has them. */
const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  jwks: '/oauth/discovery/keys',
  userinfo: '/oauth/userinfo',
};

/**
 * Listens on loopback. `/interaction/<uid>` lists the users as links; whoever follows one is signed in as that user and
 * asked nothing more, as by an application that GitLab's administrator trusts.
 */
export async function startSignInGitLab(options: SignInGitLabOptions): Promise<SignInGitLab> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gitlab: SignInGitLab = {
    url,
    clientId: 'tollgate',
    deviceClientId: 'tollgate-terminal',
    devices: deviceBook(options.nowMs ?? Date.now),
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
  serveDeviceGrant(provider, gitlab.devices);
  const signIn = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const asked = new URL(request.url ?? '/', url);
    const { pathname } = asked;
    if (pathname === '/oauth/authorize_device') answerDevice(response, url, gitlab.devices);
    else if (/^\/oauth\/device(\/|$)/.test(pathname))
      showDevicePage(response, asked, gitlab.users, gitlab.devices);
    else if (pathname.startsWith('/api/v4/')) answerRest(request, response, gitlab);
    else if (pathname.startsWith('/interaction/')) {
      chooseUser(pathname, request, response, provider, gitlab).catch((error: unknown) => {
        response.writeHead(400).end(String(error));
      });
    } else {
      if (pathname === ROUTES.authorization && options.asksEachTime === true) delete request.headers.cookie;
      signIn(request, response);
    }
  });
  return gitlab;
}

function configurationOf(
  { clientId, clientSecret, deviceClientId, users }: SignInGitLab,
  { redirectUrl, idTokenTtlSeconds = 120 }: SignInGitLabOptions,
): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    adapter: adapters(),
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUrl],
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        client_id: deviceClientId,
        redirect_uris: [],
        response_types: [],
        grant_types: [DEVICE_GRANT],
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
      AccessToken: 7_200,
      AuthorizationCode: 600,
      IdToken: idTokenTtlSeconds,
      Interaction: 3_600,
      Session: 86_400,
      Grant: 86_400,
    },
    findAccount(_, sub) {
      const user = users.get(Number(sub));
      return user && { accountId: sub, claims: () => claimsOf(user) };
    },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session?.accountId ?? '',
        clientId: oidc.client?.clientId ?? '',
      });
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
    sub: String(id),
    name,
    nickname: username,
    preferred_username: username,
    groups: paths,
    groups_direct: paths,
    [`${CLAIMS}/owner`]: at(50),
    [`${CLAIMS}/maintainer`]: at(40),
    [`${CLAIMS}/developer`]: at(30),
  };
}

async function chooseUser(
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
  provider: Provider,
  { users }: SignInGitLab,
): Promise<void> {
  const [, , uid, chosen] = pathname.split('/');
  if (chosen === 'decline') {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  if (chosen !== undefined) {
    await provider.interactionFinished(request, response, { login: { accountId: chosen } });
    return;
  }
  const links = [...users.values()].map(
    ({ id, username }) => `<li><a href="/interaction/${uid}/${id}">${username}</a></li>`,
  );
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(
    `<!doctype html><html lang="en"><title>GitLab</title><h1>Sign in as</h1><ul>${links.join('')}</ul>`,
  );
}

/** `GET /users/:id` and `GET /users/:id/memberships`, as an administrator sees them. */
function answerRest(request: IncomingMessage, response: ServerResponse, gitlab: SignInGitLab): void {
  const url = new URL(request.url ?? '/', gitlab.url);
  gitlab.calls.push(`${url.pathname}${url.search}`);
  const { status, body, nextPage } = restAnswer(url, request.headers['private-token'], gitlab);
  response.writeHead(status, { 'content-type': 'application/json', 'x-next-page': nextPage ?? '' });
  response.end(JSON.stringify(body));
}

interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly nextPage?: string;
}

function restAnswer({ pathname, searchParams }: URL, token: unknown, gitlab: SignInGitLab): RestAnswer {
  if (gitlab.silent) return { status: 503, body: {} };
  if (token !== gitlab.token) return { status: 401, body: { message: '401 Unauthorized' } };
  const [, id, list] = /^\/api\/v4\/users\/(\d+)(\/memberships)?$/.exec(pathname) ?? [];
  const user = gitlab.users.get(Number(id));
  if (user === undefined) return { status: 404, body: { message: '404 User Not Found' } };
  if (list === undefined) {
    const { username, name, state = 'active' } = user;
    return { status: 200, body: { id: user.id, username, name, state, is_admin: false } };
  }
  // A question without the type lists requests for access as well, at GitLab; nobody may ask so.
  if (searchParams.get('type') !== 'Namespace') return { status: 400, body: { message: 'type is missing' } };
  const page = Number(searchParams.get('page') ?? 1);
  const first = (page - 1) * PER_PAGE;
  const body = user.memberships.slice(first, first + PER_PAGE).map(({ groupId, path, level }) => ({
    source_id: groupId,
    source_name: path,
    source_type: 'Namespace',
    access_level: level,
  }));
  const isLast = user.memberships.length <= first + PER_PAGE;
  return { status: 200, body, ...(!isLast && { nextPage: String(page + 1) }) };
}

/** What the provider keeps, for as long as it runs. */
function adapters(): (kind: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  const isOf = (grantId: string) => (entry: [string, AdapterPayload]) => entry[1].grantId === grantId;
  return (kind) => ({
    async upsert(id, payload) {
      kept.set(`${kind} ${id}`, payload);
    },
    async find(id) {
      return kept.get(`${kind} ${id}`);
    },
    async findByUid(uid) {
      return [...kept].find(([key, { uid: its }]) => key.startsWith(`${kind} `) && its === uid)?.[1];
    },
    async findByUserCode() {
      return undefined;
    },
    async consume(id) {
      const payload = kept.get(`${kind} ${id}`);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
    },
    async destroy(id) {
      kept.delete(`${kind} ${id}`);
    },
    async revokeByGrantId(grantId) {
      for (const [key] of [...kept].filter(isOf(grantId))) kept.delete(key);
    },
  });
}
