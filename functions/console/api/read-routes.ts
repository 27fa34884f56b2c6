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
import { CheckedPipelineSchema, ExplainedSchema, PipelineInputSchema } from '../../answers/job/model.ts';
import { BUDGET_ROWS_MAX } from '../../answers/limits/budgets.ts';
import { BUDGET_ORDERS, RISK_FILTERS, SUBJECT_KINDS } from '../../answers/limits/filters.ts';
import {
  BudgetsSchema,
  ExceptionsSchema,
  OwnLimitsSchema,
  ReconciliationSchema,
} from '../../answers/limits/models.ts';
import { SPEND_KEYS, SpendReportSchema } from '../../answers/report/model.ts';
import { TOP_MAX } from '../../answers/report/report.ts';
import { groupsCsv } from '../../answers/report/spend-text.ts';
import { ShadowViewSchema } from '../../answers/rollout/model.ts';
import {
  ClosedMonthsSchema,
  DeployedPricesSchema,
  StatementNumbersSchema,
  StatementSchema,
} from '../../answers/statement/model.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import {
  type ApiContext,
  type ApiDeps,
  apiError,
  cursor,
  errors,
  found,
  getRoute,
  invalidHook,
  jsonBody,
  NOT_THERE,
  postRoute,
  present,
  subject,
  text,
  upTo,
  whole,
  withProblems,
  yes,
  z,
} from './api-parts.ts';

const positive = whole.positive().optional();
const paging = { cursor, max: upTo(100) };
const anyGroup = text(255).min(1).openapi({ description: 'An id, a full path, or `instance`.' });
const about = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.openapi({ description });

const chart = z.object({ limit: text(100).optional() });
const numberId = z.object({
  id: whole.positive().openapi({ param: { name: 'id', in: 'path' }, example: 101 }),
});
const subjectRoute = <Path extends string, Params extends object>(
  path: Path,
  summary: string,
  params: Params,
) => getRoute(path, summary, SubjectViewSchema, { ...params, query: chart }, [404]);

const groups = z.object({
  search: text(200).optional(),
  sort: z.enum(['runs-out-first', 'spent', 'name']).optional(),
  under: z.union([z.literal('roots'), whole.positive()]).optional(),
  mine: yes,
  ...paging,
});
const budgets = z.object({
  below: about(subject.optional(), 'Only its own and those of everything below it.'),
  holding: about(subject.optional(), 'Only those that bind its jobs: its own, then those above.'),
  search: about(text(200).optional(), 'Part of a path or name, of a limit’s id or its owner.'),
  kind: z.enum(SUBJECT_KINDS).optional(),
  unit: about(z.enum(LIMIT_KINDS).optional(), 'Counted unit.'),
  risk: z.enum(RISK_FILTERS).optional(),
  sort: about(
    z.enum(BUDGET_ORDERS).optional(),
    '`risk`, the default: refusing, used up, soonest to run out, then by share.',
  ),
  caps: about(yes, 'Includes caps, at the end.'),
  percent_min: whole.min(0).max(1_000).optional(),
  cursor,
  max: upTo(BUDGET_ROWS_MAX),
});
const exceptions = z.object({
  subject: about(subject.optional(), 'Only those of it and of subjects above it.'),
});
const usage = z.object({ subject: text(255), days: upTo(92) });
const shadow = z.object({ days: upTo(62), group: positive, project: positive, ...paging });
const coverage = z.object({
  ...{ days: upTo(COVERAGE_DAYS_MAX), group: positive, cursor, max: upTo(COVERED_RUNNERS_MAX) },
});
const jobWord = z.object({
  word: text(1_000).min(1).openapi({
    example: 'd-4711-1',
    description: 'A job id, a decision id, or the address of a job’s page',
  }),
});
const numbersFrom = z.object({ from: about(whole.min(1).default(1), '`next` of the previous page.') });
const month = z.object({
  month: text(20).openapi({ param: { name: 'month', in: 'path' }, example: '2026-10' }),
});
const statement = z.object({
  group: anyGroup,
  by: z.enum(['day', 'job']).default('day'),
  with_prices: about(yes, 'Only with runner class and price on every line, as FOCUS needs them.'),
});

const spendQuery = {
  period: about(
    text(20).optional(),
    '`month`, `last-month`, `quarter`, `last-quarter`, `year`, `last-year`, or one like `2026-11`, `2026-q4`, `2026`. Left out: this month.',
  ),
  from: about(text(10).optional(), 'A day, in place of a period.'),
  to: about(text(10).optional(), 'Its last day.'),
  group: about(anyGroup.optional(), 'An id, a full path, or `instance`. Left out: all visible groups.'),
  compare: about(z.literal('no').optional(), 'Without the previous period.'),
};
const report = z.object({
  ...{ ...spendQuery, project: positive, top: upTo(TOP_MAX) },
  by: about(z.enum(SPEND_KEYS).optional(), 'Left out: the next level down.'),
});

/** Some 1 MB: a response may have 6. */
const LINES_A_PAGE = 4_000;
const spendList = createRoute({
  method: 'get',
  path: '/report.csv',
  summary: 'Every group with the cost of its own projects',
  request: {
    query: z.object({ ...spendQuery, page: whole.min(0).max(1_000).default(0) }),
  },
  responses: {
    200: {
      description: 'A page; the header `next-page` has the number of the next one, which has no column names',
      content: { 'text/csv': { schema: z.string() } },
    },
    ...errors([404, 422]),
  },
});

/** A thousand jobs of some 250 bytes. */
const CHECK_BYTES_MAX = 256 * 1024;
const TOO_LARGE = apiError(
  'too_large',
  `This is larger than ${CHECK_BYTES_MAX / 1024} KB.`,
  'Check fewer jobs in one request; equal jobs are one with `parallel`.',
);
const NOT_RECORDED = apiError(
  'not_recorded',
  'The admission request of this job was not recorded.',
  'Check a similar job, with its tags and image.',
);
const ONLY_DAYS = apiError(
  'only_days',
  'Only the days of this month can be read here, without jobs, classes and prices.',
  'Leave out `by=job` and `with_prices`; `tollgate statement --with-prices` reads the jobs of the last 90 days.',
);

const check = {
  ...postRoute(
    '/check',
    'Decisions about the jobs of a pipeline as of now, and remaining amounts of their limits; nothing is held',
    CheckedPipelineSchema,
    { body: jsonBody(PipelineInputSchema) },
    [404, 413],
  ),
  middleware: bodyLimit({ maxSize: CHECK_BYTES_MAX, onError: (c: Context) => c.json(TOO_LARGE, 413) }),
};

const unreadable = ({ asked, sentence }: { readonly asked: string; readonly sentence: string }) =>
  withProblems(apiError('invalid', 'This cannot be reported: see the problems.', 'Correct it.'), [
    { path: [asked], message: sentence },
  ]);

export function readRoutes({ read }: ApiDeps) {
  const showSubject = async (c: ApiContext, of: string, { limit }: z.infer<typeof chart>) =>
    found(c, await read.subject(of, present({ limit }), c.var.user));
  return new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(getRoute('/me', 'Your roles and groups', MeSchema), async (c) =>
      c.json(await read.me(c.var.user), 200),
    )
    .openapi(
      getRoute('/groups', 'Your groups, soonest to run out first', OverviewSchema, { query: groups }),
      async (c) => {
        const { mine, ...query } = c.req.valid('query');
        return c.json(await read.overview(present({ ...query, mine: mine && true }), c.var.user), 200);
      },
    )
    .openapi(subjectRoute('/groups/{id}', 'One group', { params: numberId }), async (c) =>
      showSubject(c, `group/${c.req.valid('param').id}`, c.req.valid('query')),
    )
    .openapi(subjectRoute('/projects/{id}', 'One project', { params: numberId }), async (c) =>
      showSubject(c, `project/${c.req.valid('param').id}`, c.req.valid('query')),
    )
    .openapi(
      subjectRoute('/runner-classes/{name}', 'One runner class', {
        params: z.object({ name: text(100).min(1) }),
      }),
      async (c) => showSubject(c, `runner-class/${c.req.valid('param').name}`, c.req.valid('query')),
    )
    .openapi(subjectRoute('/instance', 'The whole GitLab', {}), async (c) =>
      showSubject(c, 'instance', c.req.valid('query')),
    )
    .openapi(
      getRoute('/budgets', 'Every limit in force with its counter, highest risk first', BudgetsSchema, {
        query: budgets,
      }),
      async (c) => {
        const { percent_min: percentMin, caps, ...rest } = c.req.valid('query');
        const query = present({ ...rest, percentMin, caps: caps && true });
        return c.json(await read.budgets(query, c.var.user), 200);
      },
    )
    .openapi(
      getRoute('/limits/own', 'The limits on a subject itself, in force now or not', OwnLimitsSchema, {
        query: z.object({ subject }),
      }),
      async (c) => c.json(await read.ownLimits(c.req.valid('query').subject, c.var.user), 200),
    )
    .openapi(
      getRoute('/exceptions', 'Grants, freezes and break-glasses that are not over yet', ExceptionsSchema, {
        query: exceptions,
      }),
      async (c) => c.json(await read.exceptions(c.req.valid('query').subject, c.var.user), 200),
    )
    .openapi(
      getRoute('/usage', 'Totals day by day', UsageDaysViewSchema, { query: usage }, [404]),
      async (c) => found(c, await read.usage(present(c.req.valid('query')), c.var.user)),
    )
    .openapi(
      getRoute(
        '/jobs/{word}',
        'Decision about a job: rules and counters, then and now',
        ExplainedSchema,
        { params: jobWord },
        [404, 422],
      ),
      async (c) => {
        const answer = await read.job(c.req.valid('param').word, c.var.user);
        if (answer.outcome === 'found') return c.json(answer.explanation, 200);
        return answer.outcome === 'unknown'
          ? c.json(apiError('unknown', answer.sentence, 'Check the id, or the address of the job.'), 404)
          : c.json(apiError('unreadable', answer.sentence, 'Name the job by one of these.'), 422);
      },
    )
    .openapi(
      getRoute('/shadow', 'Effects of limits and rules in mode shadow or warn', ShadowViewSchema, {
        query: shadow,
      }),
      async (c) => c.json(await read.shadow(present(c.req.valid('query')), c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/coverage',
        'Share of jobs with an admission request, and runners that bypass it',
        CoverageViewSchema,
        { query: coverage },
        [404],
      ),
      async (c) => found(c, await read.coverage(present(c.req.valid('query')), c.var.user)),
    )
    .openapi(check, async (c) => {
      const answer = await read.check(c.req.valid('json'), c.var.user);
      if (answer.outcome === 'checked') return c.json(answer.pipeline, 200);
      return c.json(answer.outcome === 'unknown' ? NOT_THERE : NOT_RECORDED, 404);
    })
    .openapi(
      getRoute('/reconciliation', 'Comparison of counters and statements', ReconciliationSchema),
      async (c) => c.json(await read.reconciliation(c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/closed-statements',
        'The closed months of a group with their hashes, and the first that was changed',
        ClosedMonthsSchema,
        { query: z.object({ group: anyGroup }) },
        [404],
      ),
      async (c) => found(c, await read.closedMonths(c.req.valid('query').group, c.var.user)),
    )
    .openapi(
      getRoute(
        '/prices',
        'Deployed prices by time, to recompute charges; Unix ms, `until` is the first instant after',
        DeployedPricesSchema,
        { query: z.object({ from: whole, until: whole }) },
        [404],
      ),
      async (c) => {
        const { from, until } = c.req.valid('query');
        return found(c, await read.deployedPrices(from, until));
      },
    )
    .openapi(
      getRoute(
        '/closed-statements/numbers',
        'Numbers of the closed statements of all groups; a gap means that one is gone',
        StatementNumbersSchema,
        { query: numbersFrom },
        [404],
      ),
      async (c) => found(c, await read.statementNumbers(c.req.valid('query').from)),
    )
    .openapi(
      getRoute(
        '/statements/{month}',
        'Charge of a group and everything below it for a month',
        StatementSchema,
        { params: month, query: statement },
        [404, 422],
      ),
      async (c) => {
        const { group, by, with_prices } = c.req.valid('query');
        const query = { ...c.req.valid('param'), group, by, withPrices: with_prices === 'yes' };
        const answer = await read.statement(query, c.var.user);
        if (answer.outcome === 'stated') return c.json(answer.statement, 200);
        if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
        return c.json(answer.outcome === 'only_days' ? ONLY_DAYS : unreadable(answer), 422);
      },
    )
    .openapi(
      getRoute(
        '/report',
        'Spend of a period by one key, next to the previous period',
        SpendReportSchema,
        { query: report },
        [404, 422],
      ),
      async (c) => {
        const { compare, ...query } = c.req.valid('query');
        const answer = await read.spend({ ...query, compare: compare !== 'no' }, c.var.user);
        if (answer.outcome === 'reported') return c.json(answer.report, 200);
        return answer.outcome === 'unknown_group' ? c.json(NOT_THERE, 404) : c.json(unreadable(answer), 422);
      },
    )
    .openapi(spendList, async (c) => {
      const { compare, page, ...query } = c.req.valid('query');
      const answer = await read.spendList({ ...query, compare: compare !== 'no' }, c.var.user);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      if (answer.outcome === 'unreadable') return c.json(unreadable(answer), 422);
      const { lines } = answer.list;
      const end = (page + 1) * LINES_A_PAGE;
      const part = { ...answer.list, lines: lines.slice(page * LINES_A_PAGE, end) };
      if (end < lines.length) c.header('next-page', String(page + 1));
      return c.body(groupsCsv(part, page === 0), 200, { 'content-type': 'text/csv; charset=utf-8' });
    });
}
