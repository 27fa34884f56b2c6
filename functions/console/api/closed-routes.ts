/** Reconciliation: closed months as written, counters as recounted. */

import { OpenAPIHono } from '@hono/zod-openapi';
import { ReconciliationSchema } from '../../answers/limits/budgets-model.ts';
import {
  ClosedMonthsSchema,
  DeployedPricesSchema,
  StatementNumbersSchema,
} from '../../answers/statement/model.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { NOT_THERE } from './api-error.ts';
import { createRoute, errorAnswer, jsonAnswer, z } from './route-parts.ts';

const closedMonths = createRoute({
  method: 'get',
  path: '/closed-statements',
  summary: 'The closed months of a group, with their hashes, checked',
  request: {
    query: z.object({
      group: z.string().min(1).max(255).openapi({ description: 'An id, a full path, or `instance`.' }),
    }),
  },
  responses: {
    200: jsonAnswer(ClosedMonthsSchema, 'By month, and the first that is not as it was written'),
    404: errorAnswer('No such group, or not one of yours'),
  },
});

const statementNumbers = createRoute({
  method: 'get',
  path: '/closed-statements/numbers',
  summary: 'Which closed statement has which number, of all groups',
  request: {
    query: z.object({
      from: z.coerce.number().int().min(1).default(1).openapi({ description: '`next` of the page before.' }),
    }),
  },
  responses: {
    200: jsonAnswer(StatementNumbersSchema, 'In a row; a gap means that one is gone'),
    404: errorAnswer('Nobody closes months here'),
  },
});

const prices = createRoute({
  method: 'get',
  path: '/prices',
  summary: 'Since when which prices were deployed, for whoever recomputes charges',
  request: {
    query: z.object({
      from: z.coerce.number().int().openapi({ description: 'Unix ms.' }),
      until: z.coerce.number().int().openapi({ description: 'Unix ms, the first instant after.' }),
    }),
  },
  responses: {
    200: jsonAnswer(DeployedPricesSchema, 'All changes, and the prices that counted in the span'),
    404: errorAnswer('Nobody keeps prices here'),
  },
});

const reconciliation = createRoute({
  method: 'get',
  path: '/reconciliation',
  summary: 'Whether counters and statements agree, and when that was checked',
  responses: { 200: jsonAnswer(ReconciliationSchema, 'Of the counters you see') },
});

export const closedRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(reconciliation, async (c) => c.json(await read.reconciliation(c.var.user), 200))
    .openapi(closedMonths, async (c) => {
      const found = await read.closedMonths(c.req.valid('query').group, c.var.user);
      return found === undefined ? c.json(NOT_THERE, 404) : c.json(found, 200);
    })
    .openapi(prices, async (c) => {
      const { from, until } = c.req.valid('query');
      const found = await read.deployedPrices(from, until);
      return found === undefined ? c.json(NOT_THERE, 404) : c.json(found, 200);
    })
    .openapi(statementNumbers, async (c) => {
      const found = await read.statementNumbers(c.req.valid('query').from);
      return found === undefined ? c.json(NOT_THERE, 404) : c.json(found, 200);
    });
