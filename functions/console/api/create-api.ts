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
import {
  type ApiDeps,
  apiError,
  BROKEN,
  INVALID,
  invalidHook,
  UNREADABLE,
  withProblems,
} from './api-parts.ts';
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
  let known: ReturnType<typeof queryNames> | undefined;

  app.use(async (c, next) => {
    c.header('cache-control', 'no-store');
    const route = matchedRoute(c)?.replace(API_PATH, '');
    // Unknown routes reveal nothing else.
    if (route === undefined) return c.json(NO_ROUTE, 404);
    if (!isRoleAllowed(ACCESS, route, c.var.user.roles)) {
      deps.log.warn('api denied', { route, user: c.var.user.id });
      return c.json(forbidden([allowedRolesText(ACCESS, route)]), 403);
    }
    known ??= queryNames(app);
    // A filter that is misspelt would show everything.
    const unknown = Object.keys(c.req.query()).filter((name) => !known?.get(route)?.has(name));
    if (unknown.length > 0) {
      const problems = unknown.map((name) => ({ path: [name], message: 'there is no such parameter' }));
      return c.json(withProblems(INVALID, problems), 422);
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

/** Names of the parameters of each route, as the description has them. */
const queryNames = ({ openAPIRegistry }: OpenAPIHono<SignInEnv>): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    openAPIRegistry.definitions.flatMap((each) => {
      if (each.type !== 'route') return [];
      const { method, path, request } = each.route;
      const { shape = {} } = (request?.query ?? {}) as { readonly shape?: object };
      const route = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`;
      return [[route, new Set(Object.keys(shape))] as const];
    }),
  );

function openApiDocument(api: OpenAPIHono<SignInEnv>) {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '1',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      description:
        'Limits of CI jobs, their use, and their edits. Amounts are whole units: micros are millionths of the currency. Instants are Unix ms. Send `x-csrf-token` with every change.',
    },
    servers: [{ url: API_PATH }],
    security: [{ session: [] }, { token: [] }],
  });
  const schema = { $ref: '#/components/schemas/Error' };
  const error = (description: string) => ({ description, content: { 'application/json': { schema } } });
  const shared = { 401: error('Not signed in'), default: error('The problem') };
  const paths = Object.entries(document.paths ?? {}).map(([path, operations]) => {
    const named = Object.entries(operations).map(([method, operation]) => {
      const more = { operationId: operationId(method, path), tags: [path.split(/[/.]/)[1] ?? ''] };
      return [method, { ...operation, ...more, responses: { ...operation.responses, ...shared } }];
    });
    return [path, Object.fromEntries(named)];
  });
  const components = { ...document.components, securitySchemes: SECURITY_SCHEMES };
  return { ...document, paths: Object.fromEntries(paths), components };
}

const SECURITY_SCHEMES = {
  session: { type: 'apiKey', in: 'cookie', name: '__Host-tollgate-session', description: 'Of the console.' },
  token: {
    ...{ type: 'http', scheme: 'bearer' },
    description: 'Of `tollgate login`; for some routes also the ID token of a GitLab job.',
  },
} as const;

/** `postRequestsDecision` for `POST /requests/{id}/decision`, `getGroup` for `GET /groups/{id}`. */
function operationId(method: string, path: string): string {
  const words =
    path
      .replace(/(?<=ss)es\/\{\w+\}$|s\/\{\w+\}$/, '')
      .replace(/\{\w+\}/g, '')
      .match(/[a-z]+/g) ?? [];
  return method + words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('');
}

const NO_ROUTE = apiError('no_route', 'There is no route at this address.', 'See /api/v1/openapi.json.');
const UNAVAILABLE = apiError(
  'unavailable',
  'The table does not respond. A change may have been made.',
  'Check whether it was made, then try again.',
);
