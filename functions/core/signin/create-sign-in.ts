/** Pending sign-ins. The browser keeps them in sealed cookies, so abandoned ones leave no data here. */
import { hkdfSync } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { Log } from '../environment/environment.ts';
import { CALLBACK_PATH, ownAddress } from './config.ts';
import { DeviceSignIn, GitLabSignIn } from './gitlab-sign-in.ts';
import { JobTokens } from './job-tokens.ts';
import { type RoleSource, type SessionStore, type SignInEnv, SignInError } from './model.ts';
import {
  bearerOf,
  idCookie,
  plainPage,
  type RateLimit,
  type RenderNotice,
  rateLimit,
  refusals,
  requireUser,
  safeReturnTo,
} from './require-user.ts';
import { newId, ownSessions, type RandomBytes, SESSION_MS, Sessions, secretHashOf } from './sessions.ts';

interface PendingSignIn {
  /** Ties GitLab's answer to our question. */
  readonly state: string;
  readonly nonce: string;
  /** PKCE: proves that the code returns from the same browser. */
  readonly codeVerifier: string;
  /** Path and query below our own address. */
  readonly returnTo: string;
}

interface PendingSignInsDeps {
  /** Secret of the application registered in GitLab; the key follows from it. Another secret ends what is pending. */
  readonly clientSecret: () => Promise<string>;
  readonly clock: { nowMs(): number };
  /** `__Host-`: https only, this host only, whole site. False for a console on the own machine. */
  readonly secure: boolean;
}

/** GitLab asks for a password and a second factor meanwhile. */
const PENDING_SECONDS = 10 * 60;
/** Tabs of one browser; their cookies come with every request, and all headers together must stay below 10 KB. */
const TABS_MAX = 5;
const KEY_USE = 'tollgate pending sign-in';
const KEY_BYTES = 32;
const NAME_CHARACTERS = 16;
const SEALED = /^[\w.-]{1,4000}$/;

/**
 * A cookie for each sign-in, named by its state, so that tabs do not overwrite each other's. It is sealed (AES-256-GCM)
 * though only its own browser has it: with the verifier in it a cookie that got lost would be worth a code that got lost, too.
 * It may come back more than once; the code it redeems is good once, at GitLab.
 */
class PendingSignIns {
  readonly #deps: PendingSignInsDeps;
  readonly #prefix: string;
  readonly #options: {
    readonly path: '/';
    readonly httpOnly: true;
    readonly secure: boolean;
    readonly sameSite: 'Lax';
  };

  constructor(deps: PendingSignInsDeps) {
    this.#deps = deps;
    this.#prefix = `${deps.secure ? '__Host-' : ''}tollgate-signin-`;
    // Lax, not Strict: the way back from GitLab starts on another site.
    this.#options = { path: '/', httpOnly: true, secure: deps.secure, sameSite: 'Lax' };
  }

  /** Gives it to the browser for ten minutes. */
  async keep(c: Context, { state, nonce, codeVerifier, returnTo }: PendingSignIn): Promise<void> {
    const sealed = await new EncryptJWT({ state, nonce, codeVerifier, returnTo })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor(this.#deps.clock.nowMs() / 1_000) + PENDING_SECONDS)
      .encrypt(await this.#key());
    const begun = Object.keys(getCookie(c)).filter((name) => name.startsWith(this.#prefix));
    // With this many tabs, all but the new one were abandoned.
    if (begun.length >= TABS_MAX) for (const name of begun) deleteCookie(c, name, this.#options);
    setCookie(c, this.#nameOf(state), sealed, { ...this.#options, maxAge: PENDING_SECONDS });
  }

  /** Undefined: this browser began none with this state, or more than ten minutes ago. */
  async of(c: Context, state: string): Promise<PendingSignIn | undefined> {
    const sealed = getCookie(c, this.#nameOf(state));
    if (sealed === undefined || !SEALED.test(sealed)) return undefined;
    const pending = await this.#opened(sealed);
    return pending?.state === state ? pending : undefined;
  }

  forget(c: Context, state: string): void {
    deleteCookie(c, this.#nameOf(state), this.#options);
  }

  async #opened(sealed: string): Promise<PendingSignIn | undefined> {
    try {
      const { payload } = await jwtDecrypt<Partial<PendingSignIn>>(sealed, await this.#key(), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
        currentDate: new Date(this.#deps.clock.nowMs()),
      });
      const { state, nonce, codeVerifier, returnTo } = payload;
      return isText(state) && isText(nonce) && isText(codeVerifier) && isText(returnTo)
        ? { state, nonce, codeVerifier, returnTo }
        : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  async #key(): Promise<Uint8Array> {
    return new Uint8Array(hkdfSync('sha256', await this.#deps.clientSecret(), '', KEY_USE, KEY_BYTES));
  }

  #nameOf(state: string): string {
    return `${this.#prefix}${secretHashOf(state).slice(0, NAME_CHARACTERS)}`;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

const DEVICE_CODE = /^[\w.~-]{1,500}$/;

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
  const perMinute = (max: number): RateLimit => rateLimit({ max, windowMs: MINUTE_MS, clock });
  const {
    signInLimit = perMinute(SIGN_INS_PER_MINUTE),
    sessionLimit = perMinute(REQUESTS_PER_MINUTE),
    strangerLimit = perMinute(STRANGERS_PER_MINUTE),
    jobLimit = perMinute(JOBS_PER_MINUTE),
  } = options;
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

  const device = (): DeviceSignIn => {
    const { issuer, fetch, deviceClientId: clientId } = options;
    if (clientId !== undefined) return new DeviceSignIn({ issuer, clientId, fetch });
    throw new SignInError(
      'no_device_sign_in',
      'This console lets nobody sign in from a terminal.',
      'The team that runs Tollgate registers an application for it and sets deviceClientId.',
    );
  };

  routes.post('/signin/device', async (c) => c.json(await device().begin()));

  // 202 until the person has allowed it, then the session's id, which is sent as a bearer token.
  routes.post('/signin/device/session', async (c) => {
    const body: { readonly deviceCode?: unknown } | null = await c.req.json().catch(() => null);
    const deviceCode = body?.deviceCode;
    if (typeof deviceCode !== 'string' || !DEVICE_CODE.test(deviceCode))
      throw new SignInError('sign_in_invalid', 'This is no code of a device.', 'Run tollgate login again.');
    const answer = await device().ask(deviceCode);
    if ('wait' in answer) return c.json(answer, 202);
    const session = await sessions.open(answer.userId, undefined, { terminal: true });
    log.info('signed in from a terminal', { userId: answer.userId, session: secretHashOf(session) });
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
    sessionCookie.read(c) === undefined ? await refuse(c, 'goodbye') : c.redirect('/', 302),
  );

  return { routes, requireUser: guard };
}

const expired = (): SignInError =>
  new SignInError(
    'sign_in_expired',
    'This sign-in was begun more than ten minutes ago, in another browser, or is already over.',
    'Sign in again; the browser has to accept cookies from here.',
  );
