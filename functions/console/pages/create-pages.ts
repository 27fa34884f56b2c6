import { Hono } from 'hono';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { allowedRolesText, matchedRoute } from '../access.ts';
import { unreadableStatus } from '../unreadable-request.ts';
import { breakGlassRoutes } from './break-glass-page.tsx';
import { budgetsRoutes } from './budgets.tsx';
import { coverageRoutes } from './coverage-page.tsx';
import { editRoutes } from './edit/edit-page.tsx';
import { goRoutes } from './go.ts';
import { historyRoutes } from './history.tsx';
import { importRoutes } from './import.tsx';
import { jobRoutes } from './job-page.tsx';
import { meRoutes } from './me-page.tsx';
import { overviewRoutes } from './overview.tsx';
import { doneText, type PageRoutes, type PagesDeps, send } from './page.ts';
import { mayOpen, PAGE_ACCESS } from './page-access.ts';
import { type Reader, runWithFormat } from './parts/format.ts';
import { closedPage, sendProblem, sendUnknown } from './problem-page.tsx';
import { reportPageRoutes } from './report-page.tsx';
import { requestPageRoutes } from './request-routes.ts';
import { rolloutPageRoutes } from './rollout.tsx';
import { shadowRoutes } from './shadow.tsx';
import { statementPageRoutes } from './statements.tsx';
import { subjectRoutes } from './subject/subject-page.tsx';

const PAGES: readonly PageRoutes[] = [
  ...[overviewRoutes, budgetsRoutes, subjectRoutes, jobRoutes, goRoutes, shadowRoutes, rolloutPageRoutes],
  ...[statementPageRoutes, coverageRoutes, reportPageRoutes, breakGlassRoutes, historyRoutes, meRoutes],
  ...[editRoutes, requestPageRoutes, importRoutes],
];

/**
 * The console's pages. Mount them behind `requireUser` (which checks every form's token) and `pageHeaders`,
 * and `createAssets` before them. They read visible data and edit limits.
 */
export function createPages(deps: PagesDeps): Hono<SignInEnv> {
  const { read, policy, zone, clock, log } = deps;
  const app = new Hono<SignInEnv>();

  app.onError((error, c) => {
    const unreadable = unreadableStatus(error);
    if (unreadable !== undefined) return sendProblem(c, UNREADABLE_FORM, unreadable);
    // The message of other code's error could quote its input.
    log.error('page failed', { path: c.req.path, error: error.name });
    if (!UNAVAILABLE_ERRORS.has(error.name)) return sendProblem(c, BROKEN, 500);
    return sendProblem(c, { ...NO_ANSWER, ...(c.req.method === 'POST' && MAYBE_SAVED) }, 503);
  });

  app.use(async (c, next) => {
    const { user } = c.var;
    const route = matchedRoute(c);
    const isOpen = route === undefined || mayOpen(route, user.roles);
    const reader = isOpen ? await countWaiting(user) : user;
    const { currency } = policy;
    const format = { user: reader, currency, zone, nowMs: clock.nowMs(), done: doneText(c) };
    return runWithFormat(format, () => {
      if (isOpen) return next();
      log.warn('page denied', { route, user: user.id });
      return send(c, closedPage(user, allowedRolesText(PAGE_ACCESS, route)), 403);
    });
  });

  /** Pages show the number of requests that wait for the user. They load without it, too. */
  async function countWaiting(user: User): Promise<Reader> {
    if (!mayOpen('POST /requests/:id', user.roles)) return user;
    try {
      return { ...user, waiting: await read.waiting(user) };
    } catch (error) {
      log.warn('waiting requests not read', { error: error instanceof Error ? error.name : 'unknown' });
      return user;
    }
  }

  for (const add of PAGES) add(app, deps);
  // Not `notFound`, because the parent app has its own.
  app.all('*', sendUnknown);
  return app;
}

const UNAVAILABLE_ERRORS: ReadonlySet<string> = new Set([
  ...['LimitsError', 'LedgerError', 'DirectoryError', 'NotifyError', 'SignInError'],
]);

const UNREADABLE_FORM = {
  title: 'Form not read',
  sentence: 'The form could not be read, so nothing was changed.',
  remedy: 'Go back, load the page again and send it from there.',
};
const BROKEN = {
  title: 'Internal error',
  sentence: 'An internal error occurred. Your browser is not the cause.',
  remedy: 'Try again. If it fails again, ask the platform team.',
};
const NO_ANSWER = {
  title: 'Not available',
  sentence: 'The table that holds limits and counters does not respond.',
  remedy: 'Load the page again in a moment. Jobs are still decided.',
};
const MAYBE_SAVED = {
  remedy: 'The change may have been saved. Check the history of the group before you repeat it.',
};
