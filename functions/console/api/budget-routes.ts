/** Status of limits, and their exceptions. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { LIMIT_KINDS } from '../../../policies/units/unit.ts';
import { BUDGET_ROWS_MAX } from '../../answers/limits/budgets.ts';
import {
  BUDGET_ORDERS,
  type BudgetsQuery,
  BudgetsSchema,
  ExceptionsSchema,
  OwnLimitsSchema,
  RISK_FILTERS,
  SUBJECT_KINDS,
} from '../../answers/limits/budgets-model.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { createRoute, jsonAnswer, z } from './route-parts.ts';

const subject = z.string().max(255).openapi({ example: 'group/101' });

const list = createRoute({
  method: 'get',
  path: '/budgets',
  summary: 'Every limit in force and how it stands, the highest risk first',
  request: {
    query: z.object({
      below: subject.optional().openapi({ description: 'Only its own and those of everything below it.' }),
      holding: subject
        .optional()
        .openapi({ description: 'Only those that hold for its jobs: its own, then those above.' }),
      search: z.string().max(200).optional().openapi({
        description: 'Part of a path or name, of a limit’s id or its owner.',
      }),
      kind: z.enum(SUBJECT_KINDS).optional(),
      unit: z.enum(LIMIT_KINDS).optional().openapi({ description: 'What is counted.' }),
      trouble: z.enum(RISK_FILTERS).optional(),
      sort: z.enum(BUDGET_ORDERS).optional().openapi({
        description:
          '`trouble`, the default: what refuses jobs, is used up, runs out soonest, then by share.',
      }),
      caps: z.literal('yes').optional().openapi({ description: 'Caps as well, at the end.' }),
      percent_min: z.coerce.number().int().min(0).max(1_000).optional(),
      cursor: z.string().max(100).optional(),
      max: z.coerce.number().int().min(1).max(BUDGET_ROWS_MAX).optional(),
    }),
  },
  responses: { 200: jsonAnswer(BudgetsSchema, 'A page of limits') },
});

const own = createRoute({
  method: 'get',
  path: '/limits/own',
  summary: 'The limits written on a subject itself, in force now or not',
  request: { query: z.object({ subject }) },
  responses: { 200: jsonAnswer(OwnLimitsSchema, 'Those that edits of it can be about') },
});

const exceptions = createRoute({
  method: 'get',
  path: '/exceptions',
  summary: 'Grants, freezes and break-glasses, with their ids',
  request: {
    query: z.object({
      subject: subject.optional().openapi({ description: 'Only those of it and of what is above it.' }),
    }),
  },
  responses: { 200: jsonAnswer(ExceptionsSchema, 'Those that are not over yet') },
});

/** Given options only; others have the reader's defaults. */
const yes = (asked: Readonly<Record<string, 'yes' | undefined>>): Readonly<Record<string, true>> =>
  Object.fromEntries(
    Object.entries(asked).flatMap(([name, value]) => (value === 'yes' ? [[name, true]] : [])),
  );

export const budgetRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(list, async (c) => {
      const { percent_min: percentMin, caps, ...rest } = c.req.valid('query');
      const asked = { ...rest, percentMin, ...yes({ caps }) };
      const told = Object.entries(asked).filter(([, value]) => value !== undefined);
      return c.json(await read.budgets(Object.fromEntries(told) as BudgetsQuery, c.var.user), 200);
    })
    .openapi(own, async (c) => c.json(await read.ownLimits(c.req.valid('query').subject, c.var.user), 200))
    .openapi(exceptions, async (c) =>
      c.json(await read.exceptions(c.req.valid('query').subject, c.var.user), 200),
    );
