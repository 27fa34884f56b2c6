import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { NONCE, type SecureHeadersVariables, secureHeaders } from 'hono/secure-headers';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Log } from '../environment/environment.ts';
import type { JobTokenReader } from './job-tokens.ts';
import { type SignInEnv, SignInError } from './model.ts';
import type { Sessions } from './sessions.ts';

const LENGTH_MAX = 1_000;
/** Base to distinguish own paths from other addresses; `.invalid` is reserved. */
const HERE = 'https://here.invalid';

/** Always below our own address: `/` for `//evil.example`, `/\evil.example` or `https:evil.example`. */
export function safeReturnTo(path: string | undefined): string {
  if (path === undefined || path.length > LENGTH_MAX || !/^\/(?![/\\])/.test(path)) return '/';
  // A browser drops tabs and line ends inside an address, so that `/\t/evil.example` would be one.
  if (/[\p{Cc}\\]/u.test(path) || !URL.canParse(path, HERE)) return '/';
  const { origin, pathname, search } = new URL(path, HERE);
  // Dots in a path can leave two slashes at its start.
  if (origin !== HERE || pathname.startsWith('//')) return '/';
  return /^\/sign(in|out)(\/|$)/.test(pathname) ? '/' : `${pathname}${search}`;
}

export interface RateLimit {
  take(key: string): number | undefined;
}

/** Keys in memory: 1 MB at most. Callers with more addresses share a count. */
const KEYS_MAX = 10_000;

/** Fixed windows in memory, so each process counts separately; a counter in the table would cost a write per refused request. */
export function rateLimit(options: {
  readonly max: number;
  readonly windowMs: number;
  readonly clock: { nowMs(): number };
}): RateLimit {
  const { max, windowMs, clock } = options;
  let counts = new Map<string, number>();
  let endsAtMs = Number.NEGATIVE_INFINITY;
  return {
    take(key) {
      const nowMs = clock.nowMs();
      if (nowMs >= endsAtMs) {
        counts = new Map();
        endsAtMs = nowMs + windowMs;
      }
      const name = counts.has(key) || counts.size < KEYS_MAX ? key : '';
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return count > max ? Math.max(1, Math.ceil((endsAtMs - nowMs) / 1_000)) : undefined;
    },
  };
}

/** Scripts and styles from here or with the request's nonce, forms to here, no frames, no caches. Use it once, around all routes. */
export function pageHeaders(): MiddlewareHandler<{ Variables: SecureHeadersVariables }> {
  const secured = secureHeaders({
    contentSecurityPolicy: {
      ...{ defaultSrc: ["'none'"], scriptSrc: ["'self'", NONCE], styleSrc: ["'self'", NONCE] },
      ...{ imgSrc: ["'self'"], connectSrc: ["'self'"], formAction: ["'self'"] },
      ...{ frameAncestors: ["'none'"], baseUri: ["'none'"] },
    },
    // A year. Browsers ignore it where the console runs without https.
    strictTransportSecurity: 'max-age=31536000',
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    crossOriginOpenerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
  });
  return async (c, next) => {
    await secured(c, async () => {
      await next();
      if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
    });
  };
}

interface SignInNotice {
  readonly code: string;
  readonly title: string;
  readonly sentence: string;
  readonly remedy: string;
  readonly link?: { readonly href: string; readonly text: string };
}

export type RenderNotice = (notice: SignInNotice) => string | Promise<string>;

const wantsPage = (c: Context): boolean =>
  !c.req.path.startsWith('/api/') && (c.req.header('accept') ?? '').includes('text/html');

const SIGN_IN = { href: '/signin', text: 'Sign in with GitLab' } as const;
const HOME = { href: '/', text: 'To the overview' } as const;

const NOTICES = {
  signedOut: {
    ...{ status: 401, code: 'signed_out', title: 'Signed out', link: SIGN_IN },
    sentence: 'You are not signed in, or your session has ended.',
    remedy: 'Sign in with GitLab and do it again; nothing was changed.',
  },
  forged: {
    ...{ status: 403, code: 'not_from_here', title: 'Not accepted', link: HOME },
    sentence: 'This did not come from a page of this session, so nothing was changed.',
    remedy: 'Load the page again and send it again.',
  },
  broken: {
    ...{ status: 500, code: 'failed', title: 'Failed', link: HOME },
    sentence: 'Something went wrong here, not in your browser.',
    remedy: 'Try again; if that does not help, report it to the team that runs Tollgate.',
  },
  goodbye: {
    ...{ status: 200, code: 'signed_out', title: 'Signed out', link: SIGN_IN },
    sentence: 'You are signed out of Tollgate.',
    remedy: 'GitLab still knows this browser; on a shared machine, sign out there as well.',
  },
} as const satisfies Readonly<Record<string, SignInNotice & { readonly status: ContentfulStatusCode }>>;

type Refusal = keyof typeof NOTICES | SignInError | { readonly waitSeconds: number };
export type Refuse = (c: Context, why: Refusal) => Promise<Response>;

function toNotice(why: Refusal): SignInNotice & { readonly status: ContentfulStatusCode } {
  if (typeof why === 'string') return NOTICES[why];
  if (why instanceof SignInError) {
    const { code, status, sentence, remedy } = why;
    return { code, status, title: 'Not signed in', sentence, remedy, link: SIGN_IN };
  }
  return {
    ...{ status: 429, code: 'too_many_requests', title: 'Too many requests' },
    sentence: 'There were more requests from here than a person sends.',
    remedy: `Wait ${why.waitSeconds} s and try again.`,
  };
}

/** A page, or `{error: {code, message, remedy}}`. Kept by no cache. */
export const refusals =
  (render: RenderNotice): Refuse =>
  async (c, why) => {
    const { status, ...notice } = toNotice(why);
    c.header('cache-control', 'no-store');
    if (typeof why === 'object' && 'waitSeconds' in why) c.header('retry-after', String(why.waitSeconds));
    if (wantsPage(c)) return c.html(await render(notice), status);
    const { code, sentence: message, remedy } = notice;
    return c.json({ error: { code, message, remedy } }, status);
  };

const ID = /^[\w-]{43}$/;

/** An id that a program sends as a bearer token. No browser adds one on its own, so it needs no check for forgery. */
export const readBearer = (c: Context): string | undefined =>
  /^Bearer ([\w-]{43})$/.exec(c.req.header('authorization') ?? '')?.[1];

const readJobToken = (c: Context): string | undefined =>
  /^Bearer ([\w-]+\.[\w-]+\.[\w-]*)$/.exec(c.req.header('authorization') ?? '')?.[1];

/** @param secure - `__Host-`: https only, this host only. False for a console on the own machine, which has no certificate. */
export const cookieKind = (name: string, secure: boolean) => ({
  full: secure ? `__Host-${name}` : name,
  // Lax, not Strict: the way back from GitLab starts on another site.
  options: { path: '/', httpOnly: true, secure, sameSite: 'Lax' } as const,
});

export function idCookie(name: string, secure: boolean) {
  const { full, options } = cookieKind(name, secure);
  return {
    read(c: Context): string | undefined {
      const id = getCookie(c, full);
      return id !== undefined && ID.test(id) ? id : undefined;
    },
    write: (c: Context, id: string, maxAge: number): void => setCookie(c, full, id, { ...options, maxAge }),
    clear: (c: Context): void => void deleteCookie(c, full, options),
  };
}

const CSRF_FIELD = 'csrf';
const CSRF_HEADER = 'x-csrf-token';

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

/**
 * True if one of our own pages sent it. Stricter than Hono's `csrf`: neither header may contradict, one must exist, and any body counts.
 * @param origin - our own in the browser; behind a proxy the request's differs
 */
function isFromHere(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site');
  const sender = c.req.header('origin');
  if (site === undefined && sender === undefined) return false;
  return (site ?? 'same-origin') === 'same-origin' && (sender ?? origin) === origin;
}

/** In the header or the form's field; the form's body stays readable. */
async function hasCsrfToken(c: Context, csrfToken: string): Promise<boolean> {
  const sent = c.req.header(CSRF_HEADER) ?? (await readCsrfField(c));
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(csrfToken));
}

async function readCsrfField(c: Context): Promise<unknown> {
  if (!FORM.test(c.req.header('content-type') ?? '')) return undefined;
  const form = await c.req.parseBody().catch(() => undefined);
  return form?.[CSRF_FIELD];
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Signed-in users and jobs with their own token, as `c.var.user`. It reads forms for the CSRF token: put a body limit before it. */
export function requireUser(deps: {
  readonly sessions: Sessions;
  readonly sessionCookie: ReturnType<typeof idCookie>;
  readonly sessionLimit: RateLimit;
  readonly readJob: JobTokenReader;
  readonly jobLimit: RateLimit;
  readonly origin: string;
  readonly refuse: Refuse;
  readonly log: Log;
}): MiddlewareHandler<SignInEnv> {
  const { sessions, sessionCookie, sessionLimit, readJob, jobLimit, origin, refuse, log } = deps;
  return createMiddleware<SignInEnv>(async (c, next) => {
    const jobToken = readJobToken(c);
    if (jobToken !== undefined) {
      const job = await readJob(jobToken).catch(asSignInError);
      if (job instanceof SignInError) {
        log.warn('job refused', { code: job.code, reason: job.sentence });
        return refuse(c, job);
      }
      const waitSeconds = jobLimit.take(job.sessionId);
      if (waitSeconds !== undefined) return refuse(c, { waitSeconds });
      c.set('user', job);
      return next();
    }
    const bearer = readBearer(c);
    const id = bearer ?? sessionCookie.read(c);
    const user = id === undefined ? undefined : await sessions.resume(id).catch(asSignInError);
    if (user instanceof SignInError) {
      log.error('session not read', { code: user.code });
      return refuse(c, user);
    }
    if (user === undefined) {
      if (id !== undefined) sessionCookie.clear(c);
      if (c.req.method !== 'GET' || !wantsPage(c)) return refuse(c, 'signedOut');
      const { pathname, search } = new URL(c.req.url);
      return c.redirect(`/signin?returnTo=${encodeURIComponent(safeReturnTo(`${pathname}${search}`))}`, 302);
    }
    const waitSeconds = sessionLimit.take(user.sessionId);
    if (waitSeconds !== undefined) return refuse(c, { waitSeconds });
    const isOurs = async () => isFromHere(c, origin) && (await hasCsrfToken(c, user.csrfToken));
    if (bearer === undefined && !SAFE_METHODS.includes(c.req.method) && !(await isOurs())) {
      log.warn('request not from here', { session: user.sessionId, userId: user.id });
      return refuse(c, 'forged');
    }
    c.set('user', user);
    return next();
  });
}

function asSignInError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  throw error;
}
