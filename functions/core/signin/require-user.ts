import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Log } from '../environment/index.ts';
import { wantsPage } from './answers.ts';
import { bearerOf, type IdCookie, jobTokenOf } from './cookies.ts';
import { hasCsrfToken, isFromHere, isSafe } from './forgery.ts';
import type { JobTokens } from './job-tokens.ts';
import { knownSessions } from './known-sessions.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Refusals } from './refusals.ts';
import { safeReturnTo } from './return-to.ts';
import { secretHashOf } from './secret-ids.ts';
import type { Sessions } from './sessions.ts';
import { SignInError } from './sign-in-error.ts';
import type { SignInEnv } from './user.ts';

interface RequireUserDeps {
  readonly sessions: Sessions;
  readonly sessionCookie: IdCookie;
  readonly sessionLimit: RateLimit;
  readonly jobs: Pick<JobTokens, 'read'>;
  /** For all jobs of a project together. */
  readonly jobLimit: RateLimit;
  /** For invalid session cookies, per address: each costs a read of the table. */
  readonly strangerLimit: RateLimit;
  readonly addressOf: (c: Context) => string;
  /** Our own, as the browser sees it. */
  readonly origin: string;
  readonly refuse: Refusals;
  readonly log: Log;
}

/**
 * Admits signed-in users, as `c.var.user`, and jobs with their own token, without a read of the table. A
 * page request is redirected to the sign-in and back; other requests get 401. Put a body limit before it: it
 * reads forms for the CSRF token.
 */
export function requireUser(deps: RequireUserDeps): MiddlewareHandler<SignInEnv> {
  const {
    sessions,
    sessionCookie,
    sessionLimit,
    strangerLimit,
    addressOf,
    origin,
    refuse,
    log,
    jobs,
    jobLimit,
  } = deps;
  const known = knownSessions();
  return createMiddleware<SignInEnv>(async (c, next) => {
    const jobToken = jobTokenOf(c);
    if (jobToken !== undefined) {
      const job = await jobs.read(jobToken).catch(asSignInError);
      if (job instanceof SignInError) {
        log.warn('job refused', { code: job.code, reason: job.sentence });
        return refuse.signIn(c, job);
      }
      const waitJobs = jobLimit.take(job.sessionId);
      if (waitJobs !== undefined) return refuse.tooMany(c, waitJobs);
      c.set('user', job);
      return next();
    }
    const bearer = bearerOf(c);
    const id = bearer ?? sessionCookie.read(c);
    const isStranger = id !== undefined && !known.has(secretHashOf(id));
    const waitForTable = isStranger ? strangerLimit.wait(addressOf(c)) : undefined;
    if (waitForTable !== undefined) return refuse.tooMany(c, waitForTable);
    const user = id === undefined ? undefined : await sessions.resume(id).catch(asSignInError);
    if (user instanceof SignInError) {
      log.error('session not read', { code: user.code });
      return refuse.signIn(c, user);
    }
    if (user === undefined) {
      if (id !== undefined) {
        known.remove(secretHashOf(id));
        strangerLimit.take(addressOf(c));
        sessionCookie.clear(c);
      }
      if (c.req.method !== 'GET' || !wantsPage(c)) return refuse.signedOut(c);
      const { pathname, search } = new URL(c.req.url);
      return c.redirect(`/signin?returnTo=${encodeURIComponent(safeReturnTo(`${pathname}${search}`))}`, 302);
    }
    known.add(user.sessionId);
    const waitSeconds = sessionLimit.take(user.sessionId);
    if (waitSeconds !== undefined) return refuse.tooMany(c, waitSeconds);
    const isOurs = async () => isFromHere(c, origin) && (await hasCsrfToken(c, user.csrfToken));
    if (bearer === undefined && !isSafe(c) && !(await isOurs())) {
      log.warn('request not from here', { session: user.sessionId, userId: user.id });
      return refuse.forged(c);
    }
    c.set('user', user);
    return next();
  });
}

function asSignInError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  throw error;
}
