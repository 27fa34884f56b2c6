/** Read-only routes. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { COVERAGE_DAYS_MAX, COVERED_RUNNERS_MAX } from '../../answers/groups/coverage.ts';
import { MeSchema } from '../../answers/groups/me.ts';
import {
  CoverageViewSchema,
  OverviewSchema,
  SubjectViewSchema,
  UsageDaysViewSchema,
} from '../../answers/groups/model.ts';
import { ExplainedSchema } from '../../answers/job/model.ts';
import { ShadowViewSchema } from '../../answers/rollout/model.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { apiError, NOT_THERE } from './api-error.ts';
import { createRoute, errorAnswer, jsonAnswer, numberId, z } from './route-parts.ts';

const paging = {
  cursor: z.string().max(100).optional(),
  max: z.coerce.number().int().min(1).max(100).optional(),
};
const chart = z.object({ limit: z.string().max(100).optional() });
const unknown = errorAnswer('No such thing, or not in one of your groups');
const subjectAnswers = {
  200: jsonAnswer(SubjectViewSchema, 'Its limits with their numbers, usage, rejections, grants and history'),
  404: unknown,
};

const me = createRoute({
  method: 'get',
  path: '/me',
  summary: 'Who you are here',
  responses: { 200: jsonAnswer(MeSchema, 'Roles and groups') },
});

const groups = createRoute({
  method: 'get',
  path: '/groups',
  summary: 'Your groups, those that run out first at the top',
  request: {
    query: z.object({
      search: z.string().max(200).optional(),
      sort: z.enum(['runs-out-first', 'spent', 'name']).optional(),
      under: z.union([z.literal('roots'), z.coerce.number().int().positive()]).optional(),
      mine: z.literal('yes').optional(),
      ...paging,
    }),
  },
  responses: { 200: jsonAnswer(OverviewSchema, 'A page of groups') },
});

const group = createRoute({
  method: 'get',
  path: '/groups/{id}',
  summary: 'One group',
  request: { params: numberId, query: chart },
  responses: subjectAnswers,
});

const project = createRoute({
  method: 'get',
  path: '/projects/{id}',
  summary: 'One project',
  request: { params: numberId, query: chart },
  responses: subjectAnswers,
});

const runnerClass = createRoute({
  method: 'get',
  path: '/runner-classes/{name}',
  summary: 'One runner class',
  request: { params: z.object({ name: z.string().min(1).max(100) }), query: chart },
  responses: subjectAnswers,
});

const instance = createRoute({
  method: 'get',
  path: '/instance',
  summary: 'The whole GitLab',
  request: { query: chart },
  responses: subjectAnswers,
});

const usage = createRoute({
  method: 'get',
  path: '/usage',
  summary: 'Day by day',
  request: {
    query: z.object({
      subject: z.string().max(255),
      days: z.coerce.number().int().min(1).max(92).optional(),
    }),
  },
  responses: { 200: jsonAnswer(UsageDaysViewSchema, 'Totals of each day'), 404: unknown },
});

const job = createRoute({
  method: 'get',
  path: '/jobs/{word}',
  summary: 'Why a job was decided as it was',
  request: {
    params: z.object({
      word: z.string().min(1).max(1_000).openapi({
        example: 'd-4711-1',
        description: 'A job id, a decision id, or the address of a job’s page',
      }),
    }),
  },
  responses: {
    200: jsonAnswer(ExplainedSchema, 'Rules and counters, then and now'),
    404: unknown,
    422: errorAnswer('It names no job'),
  },
});

const shadow = createRoute({
  method: 'get',
  path: '/shadow',
  summary: 'What limits and rules that only watch would have done',
  request: {
    query: z.object({
      days: z.coerce.number().int().min(1).max(62).optional(),
      group: z.coerce.number().int().positive().optional(),
      project: z.coerce.number().int().positive().optional(),
      ...paging,
    }),
  },
  responses: { 200: jsonAnswer(ShadowViewSchema, 'By group or project, and rule') },
});

const coverage = createRoute({
  method: 'get',
  path: '/coverage',
  summary: 'Of the jobs that ran, how many were asked about, and which runners pass by',
  request: {
    query: z.object({
      days: z.coerce.number().int().min(1).max(COVERAGE_DAYS_MAX).optional(),
      group: z.coerce.number().int().positive().optional(),
      cursor: z.string().max(100).optional(),
      max: z.coerce.number().int().min(1).max(COVERED_RUNNERS_MAX).optional(),
    }),
  },
  responses: { 200: jsonAnswer(CoverageViewSchema, 'In all, by group and by runner'), 404: unknown },
});

export const readRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(me, async (c) => c.json(await read.me(c.var.user), 200))
    .openapi(groups, async (c) => {
      const { mine, ...asked } = present(c.req.valid('query'));
      return c.json(
        await read.overview({ ...asked, ...(mine !== undefined && { mine: true }) }, c.var.user),
        200,
      );
    })
    .openapi(group, async (c) => {
      const view = await read.subject(
        `group/${c.req.valid('param').id}`,
        present(c.req.valid('query')),
        c.var.user,
      );
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    })
    .openapi(project, async (c) => {
      const view = await read.subject(
        `project/${c.req.valid('param').id}`,
        present(c.req.valid('query')),
        c.var.user,
      );
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    })
    .openapi(runnerClass, async (c) => {
      const view = await read.subject(
        `runner-class/${c.req.valid('param').name}`,
        present(c.req.valid('query')),
        c.var.user,
      );
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    })
    .openapi(instance, async (c) => {
      const view = await read.subject('instance', present(c.req.valid('query')), c.var.user);
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    })
    .openapi(usage, async (c) => {
      const view = await read.usage(present(c.req.valid('query')), c.var.user);
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    })
    .openapi(job, async (c) => {
      const answer = await read.job(c.req.valid('param').word, c.var.user);
      if (answer.outcome === 'found') return c.json(answer.explanation, 200);
      return answer.outcome === 'unknown'
        ? c.json(apiError('unknown', answer.sentence, 'Check the id, or the address of the job.'), 404)
        : c.json(apiError('unreadable', answer.sentence, 'Name the job by one of these.'), 422);
    })
    .openapi(shadow, async (c) => c.json(await read.shadow(present(c.req.valid('query')), c.var.user), 200))
    .openapi(coverage, async (c) => {
      const view = await read.coverage(present(c.req.valid('query')), c.var.user);
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    });

type Present<Shape> = { [Key in keyof Shape]: Exclude<Shape[Key], undefined> };

/** Drops what was not asked. */
const present = <Shape extends object>(asked: Shape) =>
  Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Present<Shape>;
