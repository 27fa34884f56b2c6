import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type { Log } from '../environment/index.ts';
import { plainPage, type RenderNotice } from './answers.ts';
import { bearerOf, idCookie } from './cookies.ts';
import { deviceRoutes } from './device-routes.ts';
import { DeviceSignIn } from './device-sign-in.ts';
import { GitLabSignIn } from './gitlab-sign-in.ts';
import { JobTokens } from './job-tokens.ts';
import { CALLBACK_PATH, ownAddress } from './own-address.ts';
import { ownSessions } from './own-sessions.ts';
import { PendingSignIns } from './pending-sign-ins.ts';
import { type RateLimit, rateLimit } from './rate-limit.ts';
import { refusals } from './refusals.ts';
import { requireUser } from './require-user.ts';
import { safeReturnTo } from './return-to.ts';
import type { RoleSource } from './role-source.ts';
import { newId, type RandomBytes, secretHashOf } from './secret-ids.ts';
import type { SessionStore } from './session-store.ts';
import { SESSION_MS, Sessions } from './sessions.ts';
import { SignInError } from './sign-in-error.ts';
import type { SignInEnv } from './user.ts';

export interface SignInOptions {
  /** GitLab's address as it names itself, e.g. `https://gitlab.example.com`. */
  readonly issuer: string;
  /** Id of the application registered in GitLab, confidential, scope `openid`, with `redirectUrl`. */
  readonly clientId: string;
  readonly clientSecret: () => Promise<string>;
  /**
   * Id of the non-confidential application for terminals, scope `openid`. @default no sign-in from terminals
   */
  readonly deviceClientId?: string;
  /** `https://budget.example.com/signin/callback`; plain http only on the own machine. */
  readonly redirectUrl: string;
  readonly fetch: typeof fetch;
  readonly sessions: SessionStore;
  readonly roles: RoleSource;
  readonly clock: { nowMs(): number };
  /** Cryptographic, such as `randomBytes`. */
  readonly random: RandomBytes;
  /** The caller's address, e.g. Lambda's `sourceIp`; never from a header of the caller. */
  readonly addressOf: (c: Context) => string;
  readonly log: Log;
  /** Renders a page with one sentence. @default plain */
  readonly render?: RenderNotice;
  /** @default 30 a minute from one address */
  readonly signInLimit?: RateLimit;
  /** @default 600 a minute in one session */
  readonly sessionLimit?: RateLimit;
  /** For cookies that open no session. @default 300 a minute from one address */
  readonly strangerLimit?: RateLimit;
  /** For jobs that ask by their own token. @default 60 a minute of one project */
  readonly jobLimit?: RateLimit;
}

export interface SignIn {
  /** `GET /signin?returnTo=/path`, `GET /signin/callback`, `POST /signout` (with the CSRF token; `?everywhere=yes` ends all sessions of the user), `GET /signout`. */
  readonly routes: Hono<SignInEnv>;
  /** Before everything that needs a user; sets `c.var.user`, checks every method that changes something for forgery. */
  readonly requireUser: MiddlewareHandler<SignInEnv>;
}

const MINUTE_MS = 60_000;
/** A person needs one; an office behind one address a few. */
const SIGN_INS_PER_MINUTE = 30;
/** Ten a second: more than a page needs, less than what hurts. */
const REQUESTS_PER_MINUTE = 600;
/**
 * Covers an office that returns from lunch with a few tabs each. A browser sends an expired cookie once,
 * because it is cleared.
 */
const STRANGERS_PER_MINUTE = 300;
/** A job asks once. */
const JOBS_PER_MINUTE = 60;

/**
 * Sign-in with GitLab. During the sign-in, each browser tab has its own sealed cookie for ten minutes, with
 * state, nonce and PKCE verifier; nothing is stored. Then the browser gets a session cookie of 256 random
 * bits, and the table stores only its hash.
 *
 * @throws {Error} if an address is neither https nor local.
 */
export function createSignIn(options: SignInOptions): SignIn {
  const { clock, random, sessions: store, log, render = plainPage } = options;
  const { origin, secure } = ownAddress(options.redirectUrl);
  const gitlab = new GitLabSignIn(options);
  const sessions = new Sessions({ store, roles: options.roles, clock, random });
  const signInLimit =
    options.signInLimit ?? rateLimit({ max: SIGN_INS_PER_MINUTE, windowMs: MINUTE_MS, clock });
  const sessionLimit =
    options.sessionLimit ?? rateLimit({ max: REQUESTS_PER_MINUTE, windowMs: MINUTE_MS, clock });
  const strangerLimit =
    options.strangerLimit ?? rateLimit({ max: STRANGERS_PER_MINUTE, windowMs: MINUTE_MS, clock });
  const jobLimit = options.jobLimit ?? rateLimit({ max: JOBS_PER_MINUTE, windowMs: MINUTE_MS, clock });
  const jobs = new JobTokens({ issuer: options.issuer, audience: origin, fetch: options.fetch, clock });
  const sessionCookie = idCookie('tollgate-session', { secure });
  const pendings = new PendingSignIns({ clientSecret: options.clientSecret, clock, secure });
  const refuse = refusals(render);
  const guard = requireUser({
    ...{ sessions, sessionCookie, sessionLimit, strangerLimit, jobs, jobLimit, origin, refuse, log },
    addressOf: options.addressOf,
  });

  const routes = new Hono<SignInEnv>();

  routes.onError((error, c) => {
    if (error instanceof SignInError) {
      log.warn('sign-in refused', { code: error.code, reason: error.sentence });
      return refuse.signIn(c, error);
    }
    // Another's message could quote a token.
    log.error('sign-in failed', { error: error.name });
    return refuse.broken(c);
  });

  routes.use('/signin/*', async (c, next) => {
    const waitSeconds = signInLimit.take(options.addressOf(c));
    if (waitSeconds !== undefined) return refuse.tooMany(c, waitSeconds);
    c.header('cache-control', 'no-store');
    c.header('referrer-policy', 'no-referrer');
    return next();
  });

  const { issuer, fetch, deviceClientId: clientId } = options;
  const device = clientId === undefined ? undefined : new DeviceSignIn({ issuer, clientId, fetch });
  routes.route('/', deviceRoutes({ device, sessions, log }));

  routes.get('/signin', async (c) => {
    const checks = { state: newId(random), nonce: newId(random), codeVerifier: newId(random) };
    const address = await gitlab.begin(checks);
    await pendings.keep(c, { ...checks, returnTo: safeReturnTo(c.req.query('returnTo')) });
    return c.redirect(String(address), 302);
  });

  routes.get(CALLBACK_PATH, async (c) => {
    const state = c.req.query('state');
    const pending = state === undefined ? undefined : await pendings.of(c, state);
    if (pending === undefined) throw expired();
    const userId = await gitlab.finish(new URL(c.req.url).searchParams, pending);
    const id = await sessions.open(userId, sessionCookie.read(c));
    pendings.forget(c, pending.state);
    sessionCookie.write(c, id, SESSION_MS / 1_000);
    log.info('signed in', { userId, session: secretHashOf(id) });
    return c.redirect(pending.returnTo, 303);
  });

  routes.post('/signout', guard, async (c) => {
    const id = bearerOf(c) ?? sessionCookie.read(c);
    // A terminal asks so; pages have a form of their own.
    if (c.req.query('everywhere') === 'yes') await ownSessions(store, clock).end(c.var.user, 'all');
    if (id !== undefined) await sessions.end(id);
    sessionCookie.clear(c);
    return c.redirect('/signout', 303);
  });

  // A user who is still signed in sees no sign-out message.
  routes.get('/signout', async (c) =>
    sessionCookie.read(c) === undefined ? await refuse.goodbye(c) : c.redirect('/', 302),
  );

  return { routes, requireUser: guard };
}

const expired = (): SignInError =>
  new SignInError(
    'sign_in_expired',
    'This sign-in was begun more than ten minutes ago, in another browser, or is already over.',
    'Sign in again; the browser has to accept cookies from here.',
  );
