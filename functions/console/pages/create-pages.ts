import { Hono, type MiddlewareHandler } from 'hono';
import type { SignInEnv } from '../../core/signin/model.ts';
import { unreadableStatus } from '../unreadable-request.ts';
import { breakGlassRoutes } from './break-glass-page.tsx';
import { budgetsRoutes } from './budgets.tsx';
import { coverageRoutes } from './coverage-page.tsx';
import { editRoutes } from './edit/edit-routes.ts';
import type { Reader } from './frame.tsx';
import { goRoutes } from './go.tsx';
import { historyRoutes, undoRoutes } from './history.tsx';
import { importRoutes } from './import.tsx';
import { jobRoutes } from './job-page.tsx';
import { meRoutes } from './me-page.tsx';
import { overviewRoutes } from './overview.tsx';
import { mayOpen, routeOf, whoMayOpen } from './page-access.ts';
import { type PagesDeps, send } from './page-deps.ts';
import { closedPage, noAnswer, problemPage, unknownPlace } from './problem-page.tsx';
import { reportPageRoutes } from './report-page.tsx';
import { requestPageRoutes } from './request-routes.ts';
import { rolloutPageRoutes } from './rollout.tsx';
import { shadowRoutes } from './shadow.tsx';
import { statementPageRoutes } from './statements.tsx';
import { subjectRoutes } from './subject/subject-page.tsx';

/** Every page with its routes; who may open them stands in page-access.ts. */
const PAGES: readonly ((deps: PagesDeps) => Hono<SignInEnv>)[] = [
  overviewRoutes,
  budgetsRoutes,
  subjectRoutes,
  jobRoutes,
  goRoutes,
  shadowRoutes,
  rolloutPageRoutes,
  statementPageRoutes,
  coverageRoutes,
  reportPageRoutes,
  breakGlassRoutes,
  historyRoutes,
  undoRoutes,
  meRoutes,
  editRoutes,
  requestPageRoutes,
  importRoutes,
];

/**
 * The console's pages. Mount them behind `requireUser` (which checks every form's token) and `pageHeaders`,
 * and `createAssets` before them. They read visible data and edit limits.
 */
export function createPages(deps: PagesDeps): Hono<SignInEnv> {
  const { log } = deps;
  const app = new Hono<SignInEnv>();

  app.onError((error, c) => {
    const { user } = c.var;
    const unreadable = unreadableStatus(error);
    if (unreadable !== undefined) return send(c, problemPage(user, UNREADABLE_FORM), unreadable);
    const unanswered = UNANSWERED.has(error.name);
    // The message of another's error could quote what it was given.
    log.error('page failed', { path: c.req.path, error: error.name });
    if (unanswered) return send(c, noAnswer(user, c.req.method === 'POST'), 503);
    return send(c, problemPage(user, BROKEN), 500);
  });

  app.use(async (c, next) => {
    const { user } = c.var;
    const route = routeOf(c);
    if (route === undefined || mayOpen(route, user.roles)) return next();
    log.warn('page denied', { route, user: user.id });
    return send(c, closedPage(user, whoMayOpen(route)), 403);
  });

  app.use(countWaiting(deps));
  app.use(tellReconciliation(deps));

  for (const routes of PAGES) app.route('/', routes(deps));
  // Not `notFound`, because the parent app has its own.
  app.all('*', (c) => send(c, unknownPlace(c.var.user), 404));
  return app;
}

/** Lets each page of who decides requests say how many wait. The page comes all the same if there is no answer. */
const countWaiting =
  ({ read, log }: Pick<PagesDeps, 'read' | 'log'>): MiddlewareHandler<SignInEnv> =>
  async (c, next) => {
    const { user } = c.var;
    if (!mayOpen('POST /requests/:id', user.roles)) return next();
    try {
      const reader: Reader = { ...user, waiting: await read.waiting(user) };
      c.set('user', reader);
    } catch (error) {
      log.warn('requests not counted', { error: error instanceof Error ? error.name : 'unknown' });
    }
    return next();
  };

/** Lets each page that is looked at say whether the books agree. It comes all the same if there is no answer. */
const tellReconciliation =
  ({ read, log }: Pick<PagesDeps, 'read' | 'log'>): MiddlewareHandler<SignInEnv> =>
  async (c, next) => {
    const { user } = c.var;
    if (!mayOpen('GET /jobs', user.roles)) return next();
    try {
      const reader: Reader = { ...user, reconciliation: await read.reconciliation(user) };
      c.set('user', reader);
    } catch (error) {
      log.warn('reconciliation not reported', { error: error instanceof Error ? error.name : 'unknown' });
    }
    return next();
  };

const UNANSWERED: ReadonlySet<string> = new Set([
  'LimitsError',
  'LedgerError',
  'DirectoryError',
  'NotifyError',
  'SignInError',
]);

const UNREADABLE_FORM = {
  title: 'Not read',
  sentence: 'The form could not be read, so nothing was changed.',
  remedy: 'Go back, load the page again and send it from there.',
} as const;
const BROKEN = {
  title: 'Failed',
  sentence: 'Something went wrong here, not in your browser.',
  remedy: 'Try again. If that does not help, ask the platform team.',
} as const;
