/** The API: what the console can do, for programs. Mount it below `/api/v1`, behind `requireUser`. */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { SignInEnv } from '../../core/signin/model.ts';
import {
  type AccessTable,
  ALL_USERS,
  allowedRolesText,
  EDIT,
  FINANCE,
  isRoleAllowed,
  matchedRoute,
  READ,
  READ_OR_JOB,
} from '../access.ts';
import { unreadableStatus } from '../unreadable-request.ts';
import { type ApiDeps, apiError, BROKEN, invalidHook, UNREADABLE } from './api-parts.ts';
import { forbidden } from './edits.ts';
import { API_PATH } from './http.ts';
import { limitRoutes, requestRoutes } from './limit-routes.ts';
import { readRoutes } from './read-routes.ts';
import { rolloutRoutes } from './rollout-routes.ts';

const DOCUMENT_PATH = '/openapi.json';
const RETRY_AFTER_SECONDS = '2';
const UNAVAILABLE_ERRORS: ReadonlySet<string> = new Set(['LimitsError', 'LedgerError', 'DirectoryError']);

/** Access by method and path below `/api/v1`, enforced first. Other routes are denied. */
export const ACCESS: AccessTable = {
  'GET /openapi.json': ALL_USERS,
  'GET /me': ALL_USERS,
  'GET /groups': READ,
  'GET /groups/:id': READ,
  'GET /projects/:id': READ_OR_JOB,
  'GET /runner-classes/:name': FINANCE,
  'GET /instance': FINANCE,
  'GET /budgets': READ_OR_JOB,
  'GET /limits/own': READ,
  'GET /exceptions': READ,
  'GET /usage': READ,
  'GET /jobs/:word': READ_OR_JOB,
  'POST /check': READ_OR_JOB,
  'GET /shadow': READ,
  'GET /rollout': READ,
  'POST /rollout/forecast': EDIT,
  'POST /rollout/moves': FINANCE,
  'POST /rollout/reports': EDIT,
  'GET /coverage': READ,
  'GET /report': READ,
  'GET /report.csv': READ,
  'GET /statements/:month': READ,
  'GET /closed-statements': READ,
  'GET /closed-statements/numbers': FINANCE,
  'GET /prices': FINANCE,
  'GET /reconciliation': READ,
  'GET /limits': READ,
  'GET /limits/history': READ,
  'POST /limits/preview': EDIT,
  'POST /limits/backtest': EDIT,
  'POST /limits/edits': EDIT,
  'GET /limits.csv': FINANCE,
  'POST /limits/import': FINANCE,
  'GET /breakglass': READ,
  'GET /requests': READ,
  'POST /requests': READ,
  'POST /requests/:id/decision': EDIT,
};

export type Api = ReturnType<typeof createApi>;

export function createApi(deps: ApiDeps) {
  const app = new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook });

  app.onError((error, c) => {
    const unreadable = unreadableStatus(error);
    if (unreadable !== undefined) return c.json(UNREADABLE, unreadable);
    deps.onFailure?.(error);
    // The message of other code's error could quote its input.
    deps.log.error('api failed', { path: c.req.path, error: error.name });
    if (!UNAVAILABLE_ERRORS.has(error.name)) return c.json(BROKEN, 500);
    c.header('retry-after', RETRY_AFTER_SECONDS);
    return c.json(UNAVAILABLE, 503);
  });
  app.notFound((c) => c.json(NO_ROUTE, 404));

  app.use(async (c, next) => {
    c.header('cache-control', 'no-store');
    const route = matchedRoute(c)?.replace(API_PATH, '');
    // Unknown routes reveal nothing else.
    if (route === undefined) return c.json(NO_ROUTE, 404);
    if (!isRoleAllowed(ACCESS, route, c.var.user.roles)) {
      deps.log.warn('api denied', { route, user: c.var.user.id });
      return c.json(forbidden([allowedRolesText(ACCESS, route)]), 403);
    }
    return next();
  });

  const api = app
    .route('/', readRoutes(deps))
    .route('/', limitRoutes(deps))
    .route('/', rolloutRoutes(deps))
    .route('/', requestRoutes(deps));
  api.get(DOCUMENT_PATH, (c) => c.json(openApiDocument(api), 200));
  return api;
}

function openApiDocument(api: OpenAPIHono<SignInEnv>) {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '1',
      description:
        'Limits of CI jobs, their use, and their edits. Amounts are whole units: micros are millionths of the currency. Instants are Unix ms. Send `x-csrf-token` with every change.',
    },
    servers: [{ url: API_PATH }],
  });
  const schema = { $ref: '#/components/schemas/Error' };
  const error = { description: 'The problem', content: { 'application/json': { schema } } };
  for (const operations of Object.values(document.paths ?? {}))
    for (const operation of Object.values(operations))
      operation.responses = { ...operation.responses, default: error };
  return document;
}

const NO_ROUTE = apiError('no_route', 'There is no route at this address.', 'See /api/v1/openapi.json.');
const UNAVAILABLE = apiError(
  'unavailable',
  'The table does not respond. A change may have been made.',
  'Check whether it was made, then try again.',
);
