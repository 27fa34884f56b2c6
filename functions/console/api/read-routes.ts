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
  answers,
  apiError,
  errors,
  found,
  getRoute,
  invalidHook,
  jsonBody,
  NOT_THERE,
  present,
  subject,
  text,
  upTo,
  whole,
  withProblems,
  z,
} from './api-parts.ts';

const positive = whole.positive().optional();
const yes = z.literal('yes').optional();
const cursorText = text(100).optional();
const paging = { cursor: cursorText, max: upTo(100) };
const anyGroup = text(255).min(1).openapi({ description: 'An id, a full path, or `instance`.' });
const about = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.openapi({ description });

const UNKNOWN = { 404: 'No such thing, or not in one of your groups' } as const;
const NO_GROUP = { 404: 'No such group, or not one of yours' } as const;
const chart = z.object({ limit: text(100).optional() });
const numberId = z.object({
  id: whole.positive().openapi({ param: { name: 'id', in: 'path' }, example: 101 }),
});
const subjectAnswers = answers(
  SubjectViewSchema,
  'Its limits with their numbers, usage, rejections, grants and history',
  UNKNOWN,
);

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
  unit: about(z.enum(LIMIT_KINDS).optional(), 'What is counted.'),
  trouble: z.enum(RISK_FILTERS).optional(),
  sort: about(
    z.enum(BUDGET_ORDERS).optional(),
    '`trouble`, the default: refusing, used up, soonest to run out, then by share.',
  ),
  caps: about(yes, 'Includes caps, at the end.'),
  percent_min: whole.min(0).max(1_000).optional(),
  cursor: cursorText,
  max: upTo(BUDGET_ROWS_MAX),
});

const jobWord = z.object({
  word: text(1_000).min(1).openapi({
    example: 'd-4711-1',
    description: 'A job id, a decision id, or the address of a job’s page',
  }),
});

const coverage = z.object({
  ...{ days: upTo(COVERAGE_DAYS_MAX), group: positive, cursor: cursorText, max: upTo(COVERED_RUNNERS_MAX) },
});

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
  group: about(anyGroup.optional(), 'An id, a full path, or `instance`. Left out: all that is yours.'),
  compare: about(z.literal('no').optional(), 'Without the previous period.'),
};

/** Some 1 MB: a response may have 6. */
const LINES_A_PAGE = 4_000;
const spendList = getRoute(
  '/report.csv',
  'Every group with the cost of its own projects',
  {
    query: z.object({
      ...spendQuery,
      page: whole.min(0).max(1_000).default(0),
    }),
  },
  {
    200: {
      description: 'A page; the header `next-page` has the number of the next one, which has no column names',
      content: { 'text/csv': { schema: z.string() } },
    },
    ...errors({ ...NO_GROUP, 422: 'No such period; `problems` says why' }),
  },
);

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
  responses: answers(CheckedPipelineSchema, 'Job by job; nothing is held', {
    404: 'No such project, group or job, or not one of yours',
    413: 'Too large',
  }),
});

type Unreadable = Pick<Extract<SpendAnswer, { outcome: 'unreadable' }>, 'sentence'> & {
  readonly asked: string;
};

const unreadable = (what: 'reported' | 'stated', { asked, sentence }: Unreadable) =>
  withProblems(apiError('invalid', `This cannot be ${what}: see the problems.`, 'Correct it.'), [
    { path: [asked], message: sentence },
  ]);

export function readRoutes({ read }: ApiDeps) {
  const showSubject = async (c: ApiContext, of: string, { limit }: z.infer<typeof chart>) =>
    found(c, await read.subject(of, present({ limit }), c.var.user));
  return new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(getRoute('/me', 'Who you are here', {}, answers(MeSchema, 'Roles and groups')), async (c) =>
      c.json(await read.me(c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/groups',
        'Your groups, those that run out first at the top',
        { query: groups },
        answers(OverviewSchema, 'A page of groups'),
      ),
      async (c) => {
        const { mine, ...asked } = c.req.valid('query');
        return c.json(await read.overview(present({ ...asked, mine: mine && true }), c.var.user), 200);
      },
    )
    .openapi(
      getRoute('/groups/{id}', 'One group', { params: numberId, query: chart }, subjectAnswers),
      async (c) => showSubject(c, `group/${c.req.valid('param').id}`, c.req.valid('query')),
    )
    .openapi(
      getRoute('/projects/{id}', 'One project', { params: numberId, query: chart }, subjectAnswers),
      async (c) => showSubject(c, `project/${c.req.valid('param').id}`, c.req.valid('query')),
    )
    .openapi(
      getRoute(
        '/runner-classes/{name}',
        'One runner class',
        { params: z.object({ name: text(100).min(1) }), query: chart },
        subjectAnswers,
      ),
      async (c) => showSubject(c, `runner-class/${c.req.valid('param').name}`, c.req.valid('query')),
    )
    .openapi(getRoute('/instance', 'The whole GitLab', { query: chart }, subjectAnswers), async (c) =>
      showSubject(c, 'instance', c.req.valid('query')),
    )
    .openapi(
      getRoute(
        '/budgets',
        'Every limit in force with its counter, the highest risk first',
        { query: budgets },
        answers(BudgetsSchema, 'A page of limits'),
      ),
      async (c) => {
        const { percent_min: percentMin, caps, ...rest } = c.req.valid('query');
        return c.json(
          await read.budgets(present({ ...rest, percentMin, caps: caps && true }), c.var.user),
          200,
        );
      },
    )
    .openapi(
      getRoute(
        '/limits/own',
        'The limits written on a subject itself, in force now or not',
        { query: z.object({ subject }) },
        answers(OwnLimitsSchema, 'Those that edits of it can be about'),
      ),
      async (c) => c.json(await read.ownLimits(c.req.valid('query').subject, c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/exceptions',
        'Grants, freezes and break-glasses, with their ids',
        {
          query: z.object({
            subject: about(subject.optional(), 'Only those of it and of subjects above it.'),
          }),
        },
        answers(ExceptionsSchema, 'Those that are not over yet'),
      ),
      async (c) => c.json(await read.exceptions(c.req.valid('query').subject, c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/usage',
        'Day by day',
        { query: z.object({ subject: text(255), days: upTo(92) }) },
        answers(UsageDaysViewSchema, 'Totals of each day', UNKNOWN),
      ),
      async (c) => found(c, await read.usage(present(c.req.valid('query')), c.var.user)),
    )
    .openapi(
      getRoute(
        '/jobs/{word}',
        'Why a job was decided as it was',
        { params: jobWord },
        answers(ExplainedSchema, 'Rules and counters, then and now', { ...UNKNOWN, 422: 'It names no job' }),
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
      getRoute(
        '/shadow',
        'Effects of limits and rules in mode shadow or warn',
        { query: z.object({ days: upTo(62), group: positive, project: positive, ...paging }) },
        answers(ShadowViewSchema, 'By group or project, and rule'),
      ),
      async (c) => c.json(await read.shadow(present(c.req.valid('query')), c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/coverage',
        'Share of jobs with an admission request, and runners that bypass it',
        { query: coverage },
        answers(CoverageViewSchema, 'In all, by group and by runner', UNKNOWN),
      ),
      async (c) => found(c, await read.coverage(present(c.req.valid('query')), c.var.user)),
    )
    .openapi(check, async (c) => {
      const answer = await read.check(c.req.valid('json'), c.var.user);
      if (answer.outcome === 'checked') return c.json(answer.pipeline, 200);
      return c.json(answer.outcome === 'unknown' ? NOT_THERE : NOT_RECORDED, 404);
    })
    .openapi(
      getRoute(
        '/reconciliation',
        'Comparison of counters and statements',
        {},
        answers(ReconciliationSchema, 'Of the counters you see'),
      ),
      async (c) => c.json(await read.reconciliation(c.var.user), 200),
    )
    .openapi(
      getRoute(
        '/closed-statements',
        'The closed months of a group, with their hashes, checked',
        { query: z.object({ group: anyGroup }) },
        answers(ClosedMonthsSchema, 'By month, and the first that was changed', NO_GROUP),
      ),
      async (c) => found(c, await read.closedMonths(c.req.valid('query').group, c.var.user)),
    )
    .openapi(
      getRoute(
        '/prices',
        'Deployed prices by time, to recompute charges',
        {
          query: z.object({
            from: about(whole, 'Unix ms.'),
            until: about(whole, 'Unix ms, the first instant after.'),
          }),
        },
        answers(DeployedPricesSchema, 'All changes, and the prices that applied in the span', {
          404: 'Prices are not kept here',
        }),
      ),
      async (c) => {
        const { from, until } = c.req.valid('query');
        return found(c, await read.deployedPrices(from, until));
      },
    )
    .openapi(
      getRoute(
        '/closed-statements/numbers',
        'Numbers of the closed statements of all groups',
        { query: z.object({ from: about(whole.min(1).default(1), '`next` of the previous page.') }) },
        answers(StatementNumbersSchema, 'In a row; a gap means that one is gone', {
          404: 'Months are not closed here',
        }),
      ),
      async (c) => found(c, await read.statementNumbers(c.req.valid('query').from)),
    )
    .openapi(
      getRoute(
        '/statements/{month}',
        'Charge of a group and everything below it for a month',
        { params: month, query: statement },
        answers(StatementSchema, 'Lines and totals', {
          ...NO_GROUP,
          422: 'No such month, or only days are kept of it; `problems` says which',
        }),
      ),
      async (c) => {
        const { group, by, with_prices } = c.req.valid('query');
        const asked = { ...c.req.valid('param'), group, by, withPrices: with_prices === 'yes' };
        const answer = await read.statement(asked, c.var.user);
        if (answer.outcome === 'stated') return c.json(answer.statement, 200);
        if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
        return c.json(answer.outcome === 'only_days' ? ONLY_DAYS : unreadable('stated', answer), 422);
      },
    )
    .openapi(
      getRoute(
        '/report',
        'Spend of a period by one key, next to the previous period',
        {
          query: z.object({
            ...{ ...spendQuery, project: positive, top: upTo(TOP_MAX) },
            by: about(z.enum(SPEND_KEYS).optional(), 'Left out: the next level down.'),
          }),
        },
        answers(SpendReportSchema, 'Rows, the others as one, and the total', {
          404: 'No such group or project, or not one of yours',
          422: 'No such period, or not by this key; `problems` says which',
        }),
      ),
      async (c) => {
        const { compare, ...asked } = c.req.valid('query');
        const answer = await read.spend({ ...asked, compare: compare !== 'no' }, c.var.user);
        if (answer.outcome === 'reported') return c.json(answer.report, 200);
        return answer.outcome === 'unknown_group'
          ? c.json(NOT_THERE, 404)
          : c.json(unreadable('reported', answer), 422);
      },
    )
    .openapi(spendList, async (c) => {
      const { compare, page, ...asked } = c.req.valid('query');
      const answer = await read.spendList({ ...asked, compare: compare !== 'no' }, c.var.user);
      if (answer.outcome === 'unknown_group') return c.json(NOT_THERE, 404);
      if (answer.outcome === 'unreadable') return c.json(unreadable('reported', answer), 422);
      const { lines } = answer.list;
      const end = (page + 1) * LINES_A_PAGE;
      const part = { ...answer.list, lines: lines.slice(page * LINES_A_PAGE, end) };
      if (end < lines.length) c.header('next-page', String(page + 1));
      return c.body(groupsCsv(part, page === 0), 200, { 'content-type': 'text/csv; charset=utf-8' });
    });
}
