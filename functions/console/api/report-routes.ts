/** Spend of any period, by key. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { SPEND_KEYS, type SpendAnswer, SpendReportSchema } from '../../answers/report/model.ts';
import { TOP_MAX } from '../../answers/report/report.ts';
import { groupsCsv, spendFocusCsv } from '../../answers/report/spend-text.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { apiError, NOT_THERE } from './api-error.ts';
import { createRoute, errorAnswer, jsonAnswer, z } from './route-parts.ts';

const ofWhat = {
  period: z.string().max(20).optional().openapi({
    description:
      '`month`, `last-month`, `quarter`, `last-quarter`, `year`, `last-year`, or one like `2026-11`, `2026-q4`, `2026`. Left out: this month.',
  }),
  from: z.string().max(10).optional().openapi({ description: 'A day, in place of a period.' }),
  to: z.string().max(10).optional().openapi({ description: 'Its last day.' }),
  group: z.string().min(1).max(255).optional().openapi({
    description: 'An id, a full path, or `instance`. Left out: all that is yours.',
  }),
  compare: z.literal('no').optional().openapi({ description: 'Without the period before.' }),
};

const spend = createRoute({
  method: 'get',
  path: '/report',
  summary: 'What was spent in a period, by one key, beside the period before',
  request: {
    query: z.object({
      ...ofWhat,
      project: z.coerce.number().int().positive().optional(),
      by: z.enum(SPEND_KEYS).optional().openapi({ description: 'Left out: the next level down.' }),
      top: z.coerce.number().int().min(1).max(TOP_MAX).optional(),
    }),
  },
  responses: {
    200: jsonAnswer(SpendReportSchema, 'Rows, the others as one, and the total'),
    404: errorAnswer('No such group or project, or not one of yours'),
    422: errorAnswer('No such period, or not by this key; `problems` says which'),
  },
});

const list = createRoute({
  method: 'get',
  path: '/report.csv',
  summary: 'Every group at once, each with what its own projects cost',
  request: {
    query: z.object({
      ...ofWhat,
      form: z.enum(['groups', 'focus']).default('groups').openapi({ description: '`focus`: FOCUS 1.2.' }),
      page: z.coerce.number().int().min(0).max(1_000).default(0),
    }),
  },
  responses: {
    200: {
      description:
        'A page; the header `next-page` has the number of the next one, which has no names of columns',
      content: { 'text/csv': { schema: z.string() } },
    },
    404: errorAnswer('No such group, or not one of yours'),
    422: errorAnswer('No such period; `problems` says why'),
  },
});

/** Some 2.5 MB of FOCUS: an answer may have 6. */
const LINES_A_PAGE = 4_000;

const unreadable = ({ asked, sentence }: Extract<SpendAnswer, { outcome: 'unreadable' }>) => ({
  ...apiError('invalid', 'This cannot be reported: see the problems.', 'Correct it.'),
  problems: [{ path: [asked], message: sentence }],
});

export const reportRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(spend, async (c) => {
      const { compare, ...asked } = c.req.valid('query');
      const answer = await read.spend({ ...asked, compare: compare !== 'no' }, c.var.user);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      return answer.outcome === 'unreadable' ? c.json(unreadable(answer), 422) : c.json(answer.report, 200);
    })
    .openapi(list, async (c) => {
      const { compare, form, page, ...asked } = c.req.valid('query');
      const answer = await read.spendList({ ...asked, compare: compare !== 'no' }, c.var.user);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      if (answer.outcome === 'unreadable') return c.json(unreadable(answer), 422);
      const { lines } = answer.list;
      const end = (page + 1) * LINES_A_PAGE;
      const part = { ...answer.list, lines: lines.slice(page * LINES_A_PAGE, end) };
      if (end < lines.length) c.header('next-page', String(page + 1));
      const text = form === 'focus' ? spendFocusCsv(part, page === 0) : groupsCsv(part, page === 0);
      return c.body(text, 200, { 'content-type': 'text/csv; charset=utf-8' });
    });
