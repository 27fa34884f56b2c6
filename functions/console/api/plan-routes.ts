/** Drafts of limits for a day to come, and the way they become limits. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { type PlanSummary, PlanSummarySchema, PlanViewSchema } from '../../answers/plans/model.ts';
import { planCsv } from '../../answers/plans/plan-csv.ts';
import { PLAN_ROWS_MAX, planSummary } from '../../answers/plans/plans-view.ts';
import { PreviewSchema } from '../../answers/preview/model.ts';
import { actingUser } from '../../answers/reading/acting-user.ts';
import { list } from '../../answers/reading/schema.ts';
import { type PlanEdit, type PlanOutcome, SCALED_KINDS } from '../../core/limits/index.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { adopt, adoptionOf, notToAdopt } from '../adopt-plan.ts';
import { atLines, readPlanFile } from '../plan-file.ts';
import { type ApiDeps, editedBy, invalidHook } from './api-deps.ts';
import { type ApiError, apiError, NOT_THERE } from './api-error.ts';
import { askedDialect, refusedFile, WRITTEN_AS } from './csv-routes.ts';
import {
  AppliedSchema,
  FiledSchema,
  forbidden,
  INVALID,
  outcomeAnswer,
  withProblems,
} from './outcome-answer.ts';
import { createRoute, errorAnswer, jsonAnswer, jsonBody, textId, z } from './route-parts.ts';

const amountText = z.string().max(60);
const subject = z.string().min(1).max(255).openapi({ example: 'group/101' });
const unknown = errorAnswer('No such plan');
const written = {
  200: jsonAnswer(PlanSummarySchema, 'As it stands now'),
  403: errorAnswer('Not with your roles'),
  404: unknown,
  409: errorAnswer('There are too many, or others write into it at the same time'),
  422: errorAnswer('Cannot be planned; `problems` says why'),
};

const AmountsSchema = z.strictObject({
  kind: z.literal('amounts'),
  amounts: z
    .array(
      z.strictObject({
        subject,
        limit: z.string().min(1).max(100),
        amount: amountText.nullable().openapi({
          example: '+8 %',
          description: 'As people write it, or a share of what is in force; `null` takes it out of the plan.',
        }),
      }),
    )
    .min(1)
    .max(PLAN_ROWS_MAX),
});
const ScaleSchema = z.strictObject({
  kind: z.literal('scale'),
  subject: subject.openapi({ description: '`instance`: all there are.' }),
  by: z.string().max(20).openapi({ example: '+8%' }),
  unit: z.enum(SCALED_KINDS).optional(),
  round: amountText.optional().openapi({ example: '10', description: 'To the nearest multiple.' }),
  below: z.boolean().optional(),
});
const DiscardSchema = z.strictObject({ kind: z.literal('discard') });

const all = createRoute({
  method: 'get',
  path: '/plans',
  summary: 'Drafts of limits for days to come',
  responses: { 200: jsonAnswer(list(PlanSummarySchema), 'Newest first') },
});
const begin = createRoute({
  method: 'post',
  path: '/plans',
  summary: 'Begins one',
  request: { body: jsonBody(z.strictObject({ name: z.string().max(200), from: z.string().max(40) })) },
  responses: written,
});
const one = createRoute({
  method: 'get',
  path: '/plans/{id}',
  summary: 'One plan beside the limits that are live, a year of use and the forecast',
  request: {
    params: textId,
    query: z.object({
      cursor: z.string().max(10).optional(),
      max: z.coerce.number().int().min(1).max(PLAN_ROWS_MAX).optional(),
    }),
  },
  responses: { 200: jsonAnswer(PlanViewSchema, 'A page of its limits'), 404: unknown },
});
const edit = createRoute({
  method: 'post',
  path: '/plans/{id}/edits',
  summary: 'Writes amounts into it, or discards it; nothing is in force by that',
  request: {
    params: textId,
    body: jsonBody(z.discriminatedUnion('kind', [AmountsSchema, ScaleSchema, DiscardSchema])),
  },
  responses: written,
});
const download = createRoute({
  method: 'get',
  path: '/plans/{id}/file',
  summary: 'All limits of its day as CSV; the column `limit` is what is planned',
  request: { params: textId, query: z.object(WRITTEN_AS) },
  responses: {
    200: { description: 'RFC 4180, UTF-8', content: { 'text/csv': { schema: z.string() } } },
    404: unknown,
  },
});
const upload = createRoute({
  method: 'post',
  path: '/plans/{id}/file',
  summary: 'Writes the column `limit` of an edited file into it, all rows or none',
  request: {
    params: textId,
    query: z.object(WRITTEN_AS),
    body: { required: true, content: { 'text/csv': { schema: z.string() } } },
  },
  responses: written,
});
const adoption = createRoute({
  method: 'post',
  path: '/plans/{id}/adoption',
  summary: 'Makes it an edit of the limits, in force from its day on; with `dry_run` only what that would do',
  request: {
    params: textId,
    body: jsonBody(
      z.strictObject({
        why: z.string().min(1).max(500),
        confirmed: z.boolean().optional(),
        dry_run: z.boolean().optional(),
      }),
    ),
  },
  responses: {
    200: jsonAnswer(z.union([AppliedSchema, PreviewSchema]).openapi('Adopted'), 'It is live, or would be so'),
    202: jsonAnswer(FiledSchema, 'Somebody else has to approve it; a request is filed'),
    403: errorAnswer('Not with your roles'),
    404: unknown,
    409: errorAnswer('Needs approval, and too many requests are waiting already'),
    412: errorAnswer('Others changed the limits at the same time'),
    422: errorAnswer('Cannot be adopted'),
    428: errorAnswer('Something has to be confirmed'),
  },
});

export const planRoutes = ({ desk, read, directory, clock, source }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(all, async (c) => c.json(await read.plans(c.var.user), 200))
    .openapi(begin, async (c) => {
      const answer = answerOf(
        await desk.editPlan({ kind: 'new', ...c.req.valid('json') }, actingUser(c.var.user)),
      );
      return answer.status === 200 ? c.json(answer.body, 200) : c.json(answer.body, answer.status);
    })
    .openapi(one, async (c) => {
      const { cursor, max } = c.req.valid('query');
      const asked = { ...(cursor !== undefined && { cursor }), ...(max !== undefined && { max }) };
      const view = await read.plan({ ...c.req.valid('param'), ...asked }, c.var.user);
      return view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
    })
    .openapi(edit, async (c) => {
      // JSON knows no undefined.
      const made = { ...c.req.valid('json'), ...c.req.valid('param') } as PlanEdit;
      const answer = answerOf(await desk.editPlan(made, actingUser(c.var.user)));
      return answer.status === 200 ? c.json(answer.body, 200) : c.json(answer.body, answer.status);
    })
    .openapi(download, async (c) => {
      const { id } = c.req.valid('param');
      const view = await read.plan({ id, max: PLAN_ROWS_MAX }, c.var.user);
      if (view === undefined) return c.json(NOT_THERE, 404);
      c.header('content-disposition', `attachment; filename="plan-${view.from}.csv"`);
      return c.body(planCsv(view, askedDialect(c.req.valid('query'))), 200, {
        'content-type': 'text/csv; charset=utf-8',
      });
    })
    .openapi(upload, async (c) => {
      const { id: plan } = c.req.valid('param');
      const file = readPlanFile(new Uint8Array(await c.req.arrayBuffer()), {
        ...{ plan, dialect: askedDialect(c.req.valid('query')) },
        directory: await directory(),
      });
      if (!file.ok) return c.json(refusedFile(file.problems), 422);
      const outcome = await desk.editPlan(file.edit, actingUser(c.var.user));
      if (outcome.outcome === 'invalid')
        return c.json(refusedFile(atLines(outcome.problems, file.lines)), 422);
      const answer = answerOf(outcome);
      return answer.status === 200 ? c.json(answer.body, 200) : c.json(answer.body, answer.status);
    })
    .openapi(adoption, async (c) => {
      const { user } = c.var;
      const { why, confirmed, dry_run: isDryRun } = c.req.valid('json');
      const draft = await desk.plan(c.req.valid('param').id);
      if (draft === undefined) return c.json(NOT_THERE, 404);
      const today = new Date(clock.nowMs()).toISOString().slice(0, 10);
      const no = notToAdopt(draft, today);
      if (no !== undefined)
        return c.json(apiError('invalid', no, 'Look at the plan; nothing was changed.'), 422);
      if (isDryRun === true) {
        const shown = await read.preview([adoptionOf(draft)], draft.set, user);
        return shown.outcome === 'unknown_subject' ? c.json(NOT_THERE, 404) : c.json(shown, 200);
      }
      const by = editedBy(user, draft.set, { why, confirmed }, source);
      const answer = outcomeAnswer(await adopt(draft, by, desk), await read.sight(user));
      if (answer.status === 200) return c.json(answer.body, 200);
      return answer.status === 202 ? c.json(answer.body, 202) : c.json(answer.body, answer.status);
    });

type PlanAnswer =
  | { readonly status: 200; readonly body: PlanSummary }
  | { readonly status: 403 | 404 | 409 | 422; readonly body: ApiError };

function answerOf(outcome: PlanOutcome): PlanAnswer {
  switch (outcome.outcome) {
    case 'saved':
      return { status: 200, body: planSummary(outcome.plan) };
    case 'unknown':
      return { status: 404, body: NOT_THERE };
    case 'forbidden':
      return { status: 403, body: forbidden(['of finance or an administrator']) };
    case 'invalid':
      return { status: 422, body: withProblems(INVALID, outcome.problems) };
    case 'too_many':
      return {
        status: 409,
        body: apiError(
          'too_many',
          `There are ${outcome.max} plans already.`,
          'Discard one that nobody needs.',
        ),
      };
    case 'busy':
      return {
        status: 409,
        body: apiError('busy', 'Others write into it at the same time.', 'Send it again.'),
      };
  }
}
