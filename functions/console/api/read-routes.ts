/** Routes that read: groups, limits, jobs, usage, reports and statements. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { LIMIT_KINDS } from '../../../policies/unit.ts';
import { COVERAGE_DAYS_MAX, COVERED_RUNNERS_MAX } from '../../answers/groups/coverage.ts';
import { MeSchema } from '../../answers/groups/me.ts';
import {
  CoverageViewSchema,
  OverviewSchema,
  SubjectViewSchema,
  UsageDaysViewSchema,
} from '../../answers/groups/model.ts';
import { AskedPipelineSchema, CheckedPipelineSchema, ExplainedSchema } from '../../answers/job/model.ts';
import { BUDGET_ROWS_MAX } from '../../answers/limits/budgets.ts';
import {
  BUDGET_ORDERS,
  BudgetsSchema,
  ExceptionsSchema,
  OwnLimitsSchema,
  ReconciliationSchema,
  RISK_FILTERS,
  SUBJECT_KINDS,
} from '../../answers/limits/budgets-model.ts';
import { SPEND_KEYS, type SpendAnswer, SpendReportSchema } from '../../answers/report/model.ts';
import { TOP_MAX } from '../../answers/report/report.ts';
import { groupsCsv, spendFocusCsv } from '../../answers/report/spend-text.ts';
import { ShadowViewSchema } from '../../answers/rollout/model.ts';
import {
  ClosedMonthsSchema,
  DeployedPricesSchema,
  StatementNumbersSchema,
  StatementSchema,
} from '../../answers/statement/model.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import {
  type ApiDeps,
  answers,
  apiError,
  errors,
  found,
  getRoute,
  invalidHook,
  jsonBody,
  NOT_THERE,
  numberId,
  present,
  withProblems,
  z,
} from './api-parts.ts';

const text = (max: number) => z.string().max(max);
const whole = z.coerce.number().int();
const positive = whole.positive().optional();
const upTo = (max: number) => whole.min(1).max(max).optional();
const yes = z.literal('yes').optional();
const paging = { cursor: text(100).optional(), max: upTo(100) };
const anyGroup = text(255).min(1).openapi({ description: 'An id, a full path, or `instance`.' });
const subject = text(255).openapi({ example: 'group/101' });

const unknown = errors({ 404: 'No such thing, or not in one of your groups' });
const noGroup = errors({ 404: 'No such group, or not one of yours' });
const chart = z.object({ limit: text(100).optional() });
const subjectAnswers = {
  ...answers(SubjectViewSchema, 'Its limits with their numbers, usage, rejections, grants and history'),
  ...unknown,
};

const routes = {
  me: getRoute('/me', 'Who you are here', {}, answers(MeSchema, 'Roles and groups')),
  groups: getRoute(
    '/groups',
    'Your groups, those that run out first at the top',
    {
      query: z.object({
        search: text(200).optional(),
        sort: z.enum(['runs-out-first', 'spent', 'name']).optional(),
        under: z.union([z.literal('roots'), whole.positive()]).optional(),
        mine: yes,
        ...paging,
      }),
    },
    answers(OverviewSchema, 'A page of groups'),
  ),
  group: getRoute('/groups/{id}', 'One group', { params: numberId, query: chart }, subjectAnswers),
  project: getRoute('/projects/{id}', 'One project', { params: numberId, query: chart }, subjectAnswers),
  runnerClass: getRoute(
    '/runner-classes/{name}',
    'One runner class',
    { params: z.object({ name: text(100).min(1) }), query: chart },
    subjectAnswers,
  ),
  instance: getRoute('/instance', 'The whole GitLab', { query: chart }, subjectAnswers),
  budgets: getRoute(
    '/budgets',
    'Every limit in force with its counter, the highest risk first',
    {
      query: z.object({
        below: subject.optional().openapi({ description: 'Only its own and those of everything below it.' }),
        holding: subject.optional().openapi({
          description: 'Only those that bind its jobs: its own, then those above.',
        }),
        search: text(200).optional().openapi({
          description: 'Part of a path or name, of a limit’s id or its owner.',
        }),
        kind: z.enum(SUBJECT_KINDS).optional(),
        unit: z.enum(LIMIT_KINDS).optional().openapi({ description: 'What is counted.' }),
        trouble: z.enum(RISK_FILTERS).optional(),
        sort: z.enum(BUDGET_ORDERS).optional().openapi({
          description: '`trouble`, the default: refusing, used up, soonest to run out, then by share.',
        }),
        caps: yes.openapi({ description: 'Includes caps, at the end.' }),
        percent_min: whole.min(0).max(1_000).optional(),
        cursor: text(100).optional(),
        max: upTo(BUDGET_ROWS_MAX),
      }),
    },
    answers(BudgetsSchema, 'A page of limits'),
  ),
  ownLimits: getRoute(
    '/limits/own',
    'The limits written on a subject itself, in force now or not',
    { query: z.object({ subject }) },
    answers(OwnLimitsSchema, 'Those that edits of it can be about'),
  ),
  exceptions: getRoute(
    '/exceptions',
    'Grants, freezes and break-glasses, with their ids',
    {
      query: z.object({
        subject: subject.optional().openapi({ description: 'Only those of it and of subjects above it.' }),
      }),
    },
    answers(ExceptionsSchema, 'Those that are not over yet'),
  ),
  usage: getRoute(
    '/usage',
    'Day by day',
    { query: z.object({ subject: text(255), days: upTo(92) }) },
    { ...answers(UsageDaysViewSchema, 'Totals of each day'), ...unknown },
  ),
  job: getRoute(
    '/jobs/{word}',
    'Why a job was decided as it was',
    {
      params: z.object({
        word: text(1_000).min(1).openapi({
          example: 'd-4711-1',
          description: 'A job id, a decision id, or the address of a job’s page',
        }),
      }),
    },
    {
      ...answers(ExplainedSchema, 'Rules and counters, then and now'),
      ...unknown,
      ...errors({ 422: 'It names no job' }),
    },
  ),
  shadow: getRoute(
    '/shadow',
    'Effects of limits and rules in mode shadow or warn',
    { query: z.object({ days: upTo(62), group: positive, project: positive, ...paging }) },
    answers(ShadowViewSchema, 'By group or project, and rule'),
  ),
  coverage: getRoute(
    '/coverage',
    'Share of jobs with an admission request, and runners that bypass it',
    {
      query: z.object({
        days: upTo(COVERAGE_DAYS_MAX),
        group: positive,
        cursor: text(100).optional(),
        max: upTo(COVERED_RUNNERS_MAX),
      }),
    },
    { ...answers(CoverageViewSchema, 'In all, by group and by runner'), ...unknown },
  ),
  closedMonths: getRoute(
    '/closed-statements',
    'The closed months of a group, with their hashes, checked',
    { query: z.object({ group: anyGroup }) },
    { ...answers(ClosedMonthsSchema, 'By month, and the first that was changed'), ...noGroup },
  ),
  statementNumbers: getRoute(
    '/closed-statements/numbers',
    'Numbers of the closed statements of all groups',
    {
      query: z.object({
        from: whole.min(1).default(1).openapi({ description: '`next` of the previous page.' }),
      }),
    },
    {
      ...answers(StatementNumbersSchema, 'In a row; a gap means that one is gone'),
      ...errors({ 404: 'Months are not closed here' }),
    },
  ),
  prices: getRoute(
    '/prices',
    'Deployed prices by time, to recompute charges',
    {
      query: z.object({
        from: whole.openapi({ description: 'Unix ms.' }),
        until: whole.openapi({ description: 'Unix ms, the first instant after.' }),
      }),
    },
    {
      ...answers(DeployedPricesSchema, 'All changes, and the prices that applied in the span'),
      ...errors({ 404: 'Prices are not kept here' }),
    },
  ),
  reconciliation: getRoute(
    '/reconciliation',
    'Comparison of counters and statements',
    {},
    answers(ReconciliationSchema, 'Of the counters you see'),
  ),
  statement: getRoute(
    '/statements/{month}',
    'Charge of a group and everything below it for a month',
    {
      params: z.object({
        month: text(20).openapi({ param: { name: 'month', in: 'path' }, example: '2026-10' }),
      }),
      query: z.object({
        group: anyGroup,
        by: z.enum(['day', 'job']).default('day'),
        with_users: yes.openapi({
          description: 'With `by=job`: who started it. Only for finance and administrators.',
        }),
        with_prices: yes.openapi({
          description: 'Only with runner class and price on every line, as FOCUS needs them.',
        }),
      }),
    },
    {
      ...answers(StatementSchema, 'Lines and totals'),
      ...noGroup,
      ...errors({ 422: 'No such month, or only days are kept of it; `problems` says which' }),
    },
  ),
};

const spendQuery = {
  period: text(20).optional().openapi({
    description:
      '`month`, `last-month`, `quarter`, `last-quarter`, `year`, `last-year`, or one like `2026-11`, `2026-q4`, `2026`. Left out: this month.',
  }),
  from: text(10).optional().openapi({ description: 'A day, in place of a period.' }),
  to: text(10).optional().openapi({ description: 'Its last day.' }),
  group: anyGroup.optional().openapi({
    description: 'An id, a full path, or `instance`. Left out: all that is yours.',
  }),
  compare: z.literal('no').optional().openapi({ description: 'Without the previous period.' }),
};

const spend = getRoute(
  '/report',
  'Spend of a period by one key, next to the previous period',
  {
    query: z.object({
      ...spendQuery,
      project: positive,
      by: z.enum(SPEND_KEYS).optional().openapi({ description: 'Left out: the next level down.' }),
      top: upTo(TOP_MAX),
    }),
  },
  {
    ...answers(SpendReportSchema, 'Rows, the others as one, and the total'),
    ...errors({
      404: 'No such group or project, or not one of yours',
      422: 'No such period, or not by this key; `problems` says which',
    }),
  },
);

const spendList = getRoute(
  '/report.csv',
  'Every group with the cost of its own projects',
  {
    query: z.object({
      ...spendQuery,
      form: z.enum(['groups', 'focus']).default('groups').openapi({ description: '`focus`: FOCUS 1.2.' }),
      page: whole.min(0).max(1_000).default(0),
    }),
  },
  {
    200: {
      description: 'A page; the header `next-page` has the number of the next one, which has no column names',
      content: { 'text/csv': { schema: z.string() } },
    },
    ...noGroup,
    ...errors({ 422: 'No such period; `problems` says why' }),
  },
);

/** Some 2.5 MB of FOCUS: a response may have 6. */
const LINES_A_PAGE = 4_000;

/** A thousand jobs of some 250 bytes. */
const CHECK_BYTES_MAX = 256 * 1024;

const TOO_LARGE = apiError(
  'too_large',
  `This is larger than ${CHECK_BYTES_MAX / 1024} KB.`,
  'Ask about fewer jobs at once; jobs that are alike are one with `parallel`.',
);
const NOT_RECORDED = apiError(
  'not_recorded',
  'What was asked about this job was not recorded.',
  'Ask about a job like it, with its tags and image.',
);
const ONLY_DAYS = apiError(
  'only_days',
  'Only the days of this month can be read here, without jobs, classes and prices.',
  'Ask without `by=job` and `with_prices`; `npx tollgate statement --with-prices` reads the jobs of the last 90 days.',
);

const check = createRoute({
  method: 'post',
  path: '/check',
  summary: 'Decisions about the jobs of a pipeline as of now, and remaining amounts of their limits',
  middleware: bodyLimit({ maxSize: CHECK_BYTES_MAX, onError: (c: Context) => c.json(TOO_LARGE, 413) }),
  request: { body: jsonBody(AskedPipelineSchema) },
  responses: {
    ...answers(CheckedPipelineSchema, 'Job by job; nothing is held'),
    ...errors({ 404: 'No such project, group or job, or not one of yours', 413: 'Too large' }),
  },
});

const unreadable = (
  subjectOfError: 'reported' | 'stated',
  { asked, sentence }: Pick<Extract<SpendAnswer, { outcome: 'unreadable' }>, 'sentence'> & { asked: string },
) =>
  withProblems(apiError('invalid', `This cannot be ${subjectOfError}: see the problems.`, 'Correct it.'), [
    { path: [asked], message: sentence },
  ]);

export const readRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(routes.me, async (c) => c.json(await read.me(c.var.user), 200))
    .openapi(routes.groups, async (c) => {
      const { mine, ...asked } = present(c.req.valid('query'));
      const view = await read.overview({ ...asked, ...(mine !== undefined && { mine: true }) }, c.var.user);
      return c.json(view, 200);
    })
    .openapi(routes.group, async (c) => {
      const of = `group/${c.req.valid('param').id}`;
      return found(c, await read.subject(of, present(c.req.valid('query')), c.var.user));
    })
    .openapi(routes.project, async (c) => {
      const of = `project/${c.req.valid('param').id}`;
      return found(c, await read.subject(of, present(c.req.valid('query')), c.var.user));
    })
    .openapi(routes.runnerClass, async (c) => {
      const of = `runner-class/${c.req.valid('param').name}`;
      return found(c, await read.subject(of, present(c.req.valid('query')), c.var.user));
    })
    .openapi(routes.instance, async (c) =>
      found(c, await read.subject('instance', present(c.req.valid('query')), c.var.user)),
    )
    .openapi(routes.budgets, async (c) => {
      const { percent_min: percentMin, caps, ...rest } = c.req.valid('query');
      const asked = { ...rest, percentMin, caps: caps === 'yes' ? true : undefined };
      return c.json(await read.budgets(present(asked), c.var.user), 200);
    })
    .openapi(routes.ownLimits, async (c) =>
      c.json(await read.ownLimits(c.req.valid('query').subject, c.var.user), 200),
    )
    .openapi(routes.exceptions, async (c) =>
      c.json(await read.exceptions(c.req.valid('query').subject, c.var.user), 200),
    )
    .openapi(routes.usage, async (c) => found(c, await read.usage(present(c.req.valid('query')), c.var.user)))
    .openapi(routes.job, async (c) => {
      const answer = await read.job(c.req.valid('param').word, c.var.user);
      if (answer.outcome === 'found') return c.json(answer.explanation, 200);
      return answer.outcome === 'unknown'
        ? c.json(apiError('unknown', answer.sentence, 'Check the id, or the address of the job.'), 404)
        : c.json(apiError('unreadable', answer.sentence, 'Name the job by one of these.'), 422);
    })
    .openapi(routes.shadow, async (c) =>
      c.json(await read.shadow(present(c.req.valid('query')), c.var.user), 200),
    )
    .openapi(routes.coverage, async (c) =>
      found(c, await read.coverage(present(c.req.valid('query')), c.var.user)),
    )
    .openapi(check, async (c) => {
      const answer = await read.check(c.req.valid('json'), c.var.user);
      if (answer.outcome === 'checked') return c.json(answer.pipeline, 200);
      return c.json(answer.outcome === 'unknown' ? NOT_THERE : NOT_RECORDED, 404);
    })
    .openapi(routes.reconciliation, async (c) => c.json(await read.reconciliation(c.var.user), 200))
    .openapi(routes.closedMonths, async (c) =>
      found(c, await read.closedMonths(c.req.valid('query').group, c.var.user)),
    )
    .openapi(routes.prices, async (c) => {
      const { from, until } = c.req.valid('query');
      return found(c, await read.deployedPrices(from, until));
    })
    .openapi(routes.statementNumbers, async (c) =>
      found(c, await read.statementNumbers(c.req.valid('query').from)),
    )
    .openapi(routes.statement, async (c) => {
      const { group, by, with_users, with_prices } = c.req.valid('query');
      const { month } = c.req.valid('param');
      const flags = { withUsers: with_users === 'yes', withPrices: with_prices === 'yes' };
      const answer = await read.statement({ month, group, by, ...flags }, c.var.user);
      if (answer.outcome === 'stated') return c.json(answer.statement, 200);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      return c.json(answer.outcome === 'only_days' ? ONLY_DAYS : unreadable('stated', answer), 422);
    })
    .openapi(spend, async (c) => {
      const { compare, ...asked } = c.req.valid('query');
      const answer = await read.spend({ ...asked, compare: compare !== 'no' }, c.var.user);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      return answer.outcome === 'unreadable'
        ? c.json(unreadable('reported', answer), 422)
        : c.json(answer.report, 200);
    })
    .openapi(spendList, async (c) => {
      const { compare, form, page, ...asked } = c.req.valid('query');
      const answer = await read.spendList({ ...asked, compare: compare !== 'no' }, c.var.user);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      if (answer.outcome === 'unreadable') return c.json(unreadable('reported', answer), 422);
      const { lines } = answer.list;
      const end = (page + 1) * LINES_A_PAGE;
      const part = { ...answer.list, lines: lines.slice(page * LINES_A_PAGE, end) };
      if (end < lines.length) c.header('next-page', String(page + 1));
      const csv = form === 'focus' ? spendFocusCsv(part, page === 0) : groupsCsv(part, page === 0);
      return c.body(csv, 200, { 'content-type': 'text/csv; charset=utf-8' });
    });
