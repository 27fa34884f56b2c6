import { hkdfSync } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { z } from 'zod';
import type { Log } from '../environment/environment.ts';
import { CALLBACK_PATH, ownAddress } from './config.ts';
import type { SessionStore } from './dynamo-session-store.ts';
import { deviceSignIn, type GitLabSignInDeps, gitlabSignIn } from './gitlab-sign-in.ts';
import { jobTokenReader } from './job-tokens.ts';
import { type RoleSource, type SignInEnv, SignInError } from './model.ts';
import {
  cookieKind,
  idCookie,
  type RateLimit,
  type RenderNotice,
  rateLimit,
  readBearer,
  refusals,
  requireUser,
  safeReturnTo,
} from './require-user.ts';
import { createSessions, hashSecret, newId, ownSessions, type RandomBytes, SESSION_MS } from './sessions.ts';

/** `state` ties GitLab's answer to our question; the verifier (PKCE) proves that the code returns from the same browser. */
const text = z.string();
const PendingSchema = z.object({ state: text, nonce: text, codeVerifier: text, returnTo: text });
type PendingSignIn = z.infer<typeof PendingSchema>;

const PENDING_SECONDS = 10 * 60;
/** Tabs of one browser; their cookies come with every request, and all headers together must stay below 10 KB. */
const TABS_MAX = 5;
const SEALED = /^[\w.-]{1,4000}$/;

/**
 * A cookie for each sign-in, named by its state, so that tabs do not overwrite each other's. Sealed with a key made of the client
 * secret: with the verifier in it, a lost cookie would be worth a lost code.
 */
function pendingSignIns(clientSecret: () => Promise<string>, clock: { nowMs(): number }, secure: boolean) {
  const { full: prefix, options } = cookieKind('tollgate-signin-', secure);
  const key = async (): Promise<Uint8Array> =>
    new Uint8Array(hkdfSync('sha256', await clientSecret(), '', 'tollgate pending sign-in', 32));
  const cookieName = (state: string): string => `${prefix}${hashSecret(state).slice(0, 16)}`;
  return {
    async keep(c: Context, pending: PendingSignIn): Promise<void> {
      const sealed = await new EncryptJWT({ ...pending })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(Math.floor(clock.nowMs() / 1_000) + PENDING_SECONDS)
        .encrypt(await key());
      const begun = Object.keys(getCookie(c)).filter((name) => name.startsWith(prefix));
      // With this many tabs, all but the new one were abandoned.
      if (begun.length >= TABS_MAX) for (const name of begun) deleteCookie(c, name, options);
      setCookie(c, cookieName(pending.state), sealed, { ...options, maxAge: PENDING_SECONDS });
    },
    /** Undefined: this browser began none with this state, or more than ten minutes ago. */
    async of(c: Context, state: string): Promise<PendingSignIn | undefined> {
      const sealed = getCookie(c, cookieName(state));
      if (sealed === undefined || !SEALED.test(sealed)) return undefined;
      const opened = await jwtDecrypt(sealed, await key(), {
        ...{ keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        ...{ requiredClaims: ['exp'], currentDate: new Date(clock.nowMs()) },
      }).catch((error: unknown) => {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      });
      const { data } = PendingSchema.safeParse(opened?.payload);
      return data?.state === state ? data : undefined;
    },
    forget: (c: Context, state: string): void => void deleteCookie(c, cookieName(state), options),
  };
}

export interface SignInOptions extends GitLabSignInDeps {
  /** Client id of the non-confidential application, scope `openid`. @default no sign-in from terminals */
  readonly deviceClientId?: string;
  readonly sessions: SessionStore;
  readonly roles: RoleSource;
  readonly random: RandomBytes;
  /** The caller's address, e.g. Lambda's `sourceIp`; never from a header of the caller. */
  readonly addressOf: (c: Context) => string;
  readonly log: Log;
  readonly render: RenderNotice;
  readonly signInLimit?: RateLimit;
  readonly sessionLimit?: RateLimit;
}

export type SignIn = ReturnType<typeof createSignIn>;

const SIGN_INS_PER_MINUTE = 30;
const REQUESTS_PER_MINUTE = 600;
const JOBS_PER_MINUTE = 60;

/** Nothing is stored before the sign-in ends; then the browser has a session cookie of 256 random bits, and the table its hash. */
export function createSignIn(options: SignInOptions) {
  const { clock, random, sessions: store, log } = options;
  const { origin, secure } = ownAddress(options.redirectUrl);
  const gitlab = gitlabSignIn(options);
  const sessions = createSessions(store, options.roles, clock, random);
  const perMinute = (max: number): RateLimit => rateLimit({ max, windowMs: 60_000, clock });
  const { signInLimit = perMinute(SIGN_INS_PER_MINUTE), sessionLimit = perMinute(REQUESTS_PER_MINUTE) } =
    options;
  const readJob = jobTokenReader({ issuer: options.issuer, audience: origin, fetch: options.fetch, clock });
  const sessionCookie = idCookie('tollgate-session', secure);
  const pendings = pendingSignIns(options.clientSecret, clock, secure);
  const refuse = refusals(options.render);
  const guard = requireUser({
    ...{ sessions, sessionCookie, sessionLimit, readJob, origin, refuse, log },
    jobLimit: perMinute(JOBS_PER_MINUTE),
  });

  const routes = new Hono<SignInEnv>();

  routes.onError((error, c) => {
    if (error instanceof SignInError) {
      log.warn('sign-in refused', { code: error.code, reason: error.sentence });
      return refuse(c, error);
    }
    // Another's message could quote a token.
    log.error('sign-in failed', { error: error.name });
    return refuse(c, 'broken');
  });

  routes.use('/signin/*', async (c, next) => {
    const waitSeconds = signInLimit.take(options.addressOf(c));
    if (waitSeconds !== undefined) return refuse(c, { waitSeconds });
    c.header('cache-control', 'no-store');
    c.header('referrer-policy', 'no-referrer');
    return next();
  });

  const device = () => {
    const { issuer, fetch, deviceClientId: clientId } = options;
    if (clientId !== undefined) return deviceSignIn({ issuer, clientId, fetch });
    throw new SignInError(
      'no_device_sign_in',
      'This console does not allow sign-in from a terminal.',
      'The team that runs Tollgate registers an application for it and sets deviceClientId.',
    );
  };

  routes.post('/signin/device', async (c) => c.json(await device().begin()));

  // 202 until the person has allowed it, then the session's id, which is sent as a bearer token.
  routes.post('/signin/device/session', async (c) => {
    const body: { readonly deviceCode?: unknown } | null = await c.req.json().catch(() => null);
    const deviceCode = body?.deviceCode;
    if (typeof deviceCode !== 'string' || !/^[\w.~-]{1,500}$/.test(deviceCode))
      throw new SignInError('sign_in_invalid', 'This is no code of a device.', 'Run tollgate login again.');
    const answer = await device().ask(deviceCode);
    if ('wait' in answer) return c.json(answer, 202);
    const session = await sessions.open(answer.userId, undefined, { terminal: true });
    log.info('signed in from a terminal', { userId: answer.userId, session: hashSecret(session) });
    return c.json({ session });
  });

  routes.get('/signin', async (c) => {
    const checks = { state: newId(random), nonce: newId(random), codeVerifier: newId(random) };
    const address = await gitlab.begin(checks);
    await pendings.keep(c, { ...checks, returnTo: safeReturnTo(c.req.query('returnTo')) });
    return c.redirect(String(address), 302);
  });

  routes.get(CALLBACK_PATH, async (c) => {
    const state = c.req.query('state');
    const pending = state === undefined ? undefined : await pendings.of(c, state);
    if (pending === undefined)
      throw new SignInError(
        'sign_in_expired',
        'This sign-in was begun more than ten minutes ago, in another browser, or is already over.',
        'Sign in again; the browser has to accept cookies from here.',
      );
    const userId = await gitlab.finish(new URL(c.req.url).searchParams, pending);
    const id = await sessions.open(userId, sessionCookie.read(c));
    pendings.forget(c, pending.state);
    sessionCookie.write(c, id, SESSION_MS / 1_000);
    log.info('signed in', { userId, session: hashSecret(id) });
    return c.redirect(pending.returnTo, 303);
  });

  routes.post('/signout', guard, async (c) => {
    const id = readBearer(c) ?? sessionCookie.read(c);
    if (c.req.query('everywhere') === 'yes') await ownSessions(store, clock).end(c.var.user, 'all');
    if (id !== undefined) await sessions.end(id);
    sessionCookie.clear(c);
    return c.redirect('/signout', 303);
  });

  routes.get('/signout', async (c) =>
    sessionCookie.read(c) === undefined ? await refuse(c, 'goodbye') : c.redirect('/', 302),
  );

  return { routes, requireUser: guard };
}
