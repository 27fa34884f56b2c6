/**
 * The API: what the console can do, for programs. Mount it below `/api/v1`, behind `requireUser`.
 *
 * Hand a client its types with `hc<Api>(origin + '/api/v1')` of hono/client.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { matchedRoutes } from 'hono/route';
import type { SignInEnv } from '../../core/signin/index.ts';
import { mayEnter, whoMayEnter } from '../access.ts';
import { unreadableStatus } from '../unreadable-request.ts';
import { ACCESS } from './access.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { apiError, UNREADABLE } from './api-error.ts';
import { budgetRoutes } from './budget-routes.ts';
import { checkRoutes } from './check-routes.ts';
import { closedRoutes } from './closed-routes.ts';
import { csvRoutes } from './csv-routes.ts';
import { limitRoutes } from './limit-routes.ts';
import { forbidden } from './outcome-answer.ts';
import { readRoutes } from './read-routes.ts';
import { reportRoutes } from './report-routes.ts';
import { requestRoutes } from './request-routes.ts';
import { rolloutRoutes } from './rollout-routes.ts';
import { statementRoutes } from './statement-routes.ts';

export const API_PATH = '/api/v1';
const DOCUMENT_PATH = '/openapi.json';
const RETRY_AFTER_SECONDS = '2';
/** Tables that do not answer; a moment later they may. */
const UNANSWERED: ReadonlySet<string> = new Set(['LimitsError', 'LedgerError', 'DirectoryError']);

export type Api = ReturnType<typeof createApi>;

export function createApi(deps: ApiDeps) {
  const app = new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook });

  app.onError((error, c) => {
    const unreadable = unreadableStatus(error);
    if (unreadable !== undefined) return c.json(UNREADABLE, unreadable);
    deps.onFailure?.(error);
    // The message of another's error could quote what it was given.
    deps.log.error('api failed', { path: c.req.path, error: error.name });
    if (!UNANSWERED.has(error.name)) return c.json(BROKEN, 500);
    c.header('retry-after', RETRY_AFTER_SECONDS);
    return c.json(UNAVAILABLE, 503);
  });
  app.notFound((c) => c.json(NO_ROUTE, 404));

  app.use(async (c, next) => {
    c.header('cache-control', 'no-store');
    const route = routeOf(c.req.method, matchedRoutes(c));
    // Unknown routes reveal nothing else.
    if (route === undefined) return c.json(NO_ROUTE, 404);
    if (!mayEnter(ACCESS, route, c.var.user.roles)) {
      deps.log.warn('api denied', { route, user: c.var.user.id });
      return c.json(forbidden([whoMayEnter(ACCESS, route)]), 403);
    }
    return next();
  });

  const api = app
    .route('/', readRoutes(deps))
    .route('/', budgetRoutes(deps))
    .route('/', checkRoutes(deps))
    .route('/', statementRoutes(deps))
    .route('/', closedRoutes(deps))
    .route('/', limitRoutes(deps))
    .route('/', rolloutRoutes(deps))
    .route('/', csvRoutes(deps))
    .route('/', reportRoutes(deps))
    .route('/', requestRoutes(deps));
  api.get(DOCUMENT_PATH, (c) => c.json(documentOf(api), 200));
  return api;
}

/** Every route may answer with an error that no line of its own is about: signed out, of the wrong shape, or our failure. */
function documentOf(api: OpenAPIHono<SignInEnv>) {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '1',
      description:
        'Limits of CI jobs, what was spent of them, and who may change them. Amounts are whole units: micros are millionths of the currency. Instants are Unix ms. Send `x-csrf-token` with everything that changes something.',
    },
    servers: [{ url: API_PATH }],
  });
  const error = {
    description: 'What stands in the way',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  for (const operations of Object.values(document.paths ?? {}))
    for (const operation of Object.values(operations))
      operation.responses = { ...operation.responses, default: error };
  return document;
}

interface Matched {
  readonly method: string;
  readonly path: string;
}

/** `GET /groups/:id`: the handler a request is for, not the middleware before it. */
function routeOf(method: string, matched: readonly Matched[]): string | undefined {
  const asked = method === 'HEAD' ? 'GET' : method;
  const path = matched.findLast((each) => each.method === asked)?.path;
  if (path === undefined) return undefined;
  const at = path.indexOf(API_PATH);
  return `${asked} ${at < 0 ? path : path.slice(at + API_PATH.length)}`;
}

const NO_ROUTE = apiError('no_route', 'There is nothing at this address.', 'See /api/v1/openapi.json.');
const UNAVAILABLE = apiError(
  'unavailable',
  'The table does not answer. A change may or may not have been made.',
  'Look whether it was, and try again.',
);
const BROKEN = apiError(
  'failed',
  'Something went wrong here.',
  'Try again. If that does not help, ask the platform team.',
);
