/** Statements of groups. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { StatementSchema } from '../../answers/statement/model.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { apiError, NOT_THERE } from './api-error.ts';
import { createRoute, errorAnswer, jsonAnswer, z } from './route-parts.ts';

const statement = createRoute({
  method: 'get',
  path: '/statements/{month}',
  summary: 'What a group and everything below it is charged for a month',
  request: {
    params: z.object({
      month: z
        .string()
        .max(20)
        .openapi({ param: { name: 'month', in: 'path' }, example: '2026-10' }),
    }),
    query: z.object({
      group: z.string().min(1).max(255).openapi({ description: 'An id, a full path, or `instance`.' }),
      by: z.enum(['day', 'job']).default('day'),
      with_users: z.literal('yes').optional().openapi({
        description: 'With `by=job`: who started it. Only for finance and administrators.',
      }),
      with_prices: z.literal('yes').optional().openapi({
        description: 'Only with runner class and price on every line, as FOCUS needs them.',
      }),
    }),
  },
  responses: {
    200: jsonAnswer(StatementSchema, 'Lines and totals'),
    404: errorAnswer('No such group, or not one of yours'),
    422: errorAnswer('No such month, or only days are kept of it; `problems` says which'),
  },
});

const ONLY_DAYS = apiError(
  'only_days',
  'Only the days of this month can be read here, without jobs, classes and prices.',
  'Ask without `by=job` and `with_prices`; `npx tollgate statement --with-prices` reads the jobs of the last 90 days.',
);

export const statementRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook }).openapi(statement, async (c) => {
    const { group, by, with_users, with_prices } = c.req.valid('query');
    const { month } = c.req.valid('param');
    const asked = {
      ...{ month, group, by, withUsers: with_users === 'yes', withPrices: with_prices === 'yes' },
    };
    const answer = await read.statement(asked, c.var.user);
    switch (answer.outcome) {
      case 'stated':
        return c.json(answer.statement, 200);
      case 'unknown_group':
        return c.json(NOT_THERE, 404);
      case 'only_days':
        return c.json(ONLY_DAYS, 422);
      case 'unreadable': {
        const unreadable = apiError('invalid', 'This cannot be stated: see the problems.', 'Correct it.');
        return c.json({ ...unreadable, problems: [{ path: [answer.asked], message: answer.sentence }] }, 422);
      }
    }
  });
