/** The way from watching to enforcing: where groups stand, what a step would do, a step on, a step back, the report. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { MODES } from '../../../policies/mode.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  RolloutForecastSchema,
  RolloutMovedSchema,
  type RolloutMovedView,
  RolloutReportedSchema,
  RolloutViewSchema,
  rolloutClass,
} from '../../answers/rollout/model.ts';
import type { RolloutMove } from '../../answers/rollout/rollout-moves.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { moveRollout, reportRollout } from '../move-rollout.ts';
import { type ApiContext, type ApiDeps, baseOf, invalidHook } from './api-deps.ts';
import { apiError, NO_BASE, NOT_THERE, TOO_OFTEN } from './api-error.ts';
import { outcomeAnswer } from './outcome-answer.ts';
import { baseHeader, createRoute, cursor, errorAnswer, jsonAnswer, jsonBody, z } from './route-parts.ts';

const SUBJECTS_MAX = 100;
/** Each is a message. */
const REPORTS_MAX = 20;
const subject = z.string().max(255).openapi({ example: 'group/101' });
const subjects = z.array(subject).min(1).max(SUBJECTS_MAX);
const why = z.string().min(1).max(300).openapi({ description: 'Stands in the log.' });

const list = createRoute({
  method: 'get',
  path: '/rollout',
  summary: 'Where groups stand on the way to enforcing, and what their next step needs',
  request: {
    query: z.object({
      subject: subject.optional().openapi({ description: 'Only this one, also without a step of its own.' }),
      cursor: z.string().max(100).optional(),
      max: z.coerce.number().int().min(1).max(100).optional(),
    }),
  },
  responses: {
    200: jsonAnswer(RolloutViewSchema, 'The instance, groups at the top, and who has a step of its own'),
  },
});

const forecast = createRoute({
  method: 'post',
  path: '/rollout/forecast',
  summary: 'If these were enforced now: which jobs of the last days would have failed; changes nothing',
  request: {
    query: z.object({ cursor }),
    body: jsonBody(z.strictObject({ subjects }).openapi('RolloutForecastAsked')),
  },
  responses: {
    200: jsonAnswer(RolloutForecastSchema, 'By group, rule and reason, with jobs'),
    404: errorAnswer('No such subject, or not in one of your groups'),
    429: errorAnswer('Asked too often; `retry-after` says when again'),
  },
});

const MoveSchema = z
  .strictObject({
    subjects: z.union([subjects, z.literal('all')]).openapi({ description: '`all`: every row of the list.' }),
    direction: z.enum(['next', 'back']),
    force: z
      .boolean()
      .optional()
      .openapi({ description: 'On, although something is missing; the log says what.' }),
    to: z
      .enum(MODES as ['off', 'shadow', 'warn', 'enforce'])
      .optional()
      .openapi({ description: 'Back to this mode; what goes no further already stays.' }),
    class: rolloutClass.optional().openapi({ description: 'Only rules of this class.' }),
    why,
  })
  .openapi('RolloutMove');

const move = createRoute({
  method: 'post',
  path: '/rollout/moves',
  summary: 'One step on where nothing is missing, or back at once',
  request: { headers: baseHeader, body: jsonBody(MoveSchema) },
  responses: {
    200: jsonAnswer(RolloutMovedSchema, 'What moved, and what stays because something is missing'),
    403: errorAnswer('Not with your roles; `denied` says who may'),
    404: errorAnswer('No such subject, or not in one of your groups'),
    409: errorAnswer('Needs approval, and too many requests are waiting already'),
    412: errorAnswer('Others changed the limits since `If-Match`'),
    422: errorAnswer('Cannot be done'),
    428: errorAnswer('`If-Match` is missing, or something has to be confirmed: `force` confirms it'),
  },
});

const ReportSchema = z
  .strictObject({
    subjects: z.array(subject).min(1).max(REPORTS_MAX),
    told: z.boolean().optional().openapi({ description: 'You told the owners yourself: nothing is sent.' }),
    why,
  })
  .openapi('RolloutReport');

const report = createRoute({
  method: 'post',
  path: '/rollout/reports',
  summary: 'Sends owners the shadow report, and writes down when',
  request: { body: jsonBody(ReportSchema) },
  responses: {
    200: jsonAnswer(
      RolloutReportedSchema,
      'What was sent, or would have been where there is no way to an owner',
    ),
    403: errorAnswer('Not with your roles; `denied` says who may'),
    404: errorAnswer('No such group, or not one of yours'),
    409: errorAnswer('Needs approval, and too many requests are waiting already'),
    412: errorAnswer('Others change the limits all the time'),
    422: errorAnswer('Cannot be done'),
    428: errorAnswer('Something has to be confirmed'),
  },
});

export function rolloutRoutes(deps: ApiDeps) {
  const { read } = deps;
  return new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(list, async (c) => {
      const { subject: one, cursor, max } = c.req.valid('query');
      const asked = {
        ...(one !== undefined && { subjects: [one] }),
        ...withoutAbsent({ cursor, max }),
      };
      return c.json(await read.rollout(asked, c.var.user), 200);
    })
    .openapi(forecast, async (c) => {
      const { subjects: of } = c.req.valid('json');
      const answer = await read.rolloutForecast(of, c.var.user, c.req.valid('query').cursor);
      if (answer.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      if (answer.outcome === 'counted') return c.json(answer, 200);
      c.header('retry-after', String(answer.retryAfterSeconds));
      return c.json(TOO_OFTEN, 429);
    })
    .openapi(move, async (c) => {
      const asked = baseOf(c.req.header('if-match'));
      if (asked === 'missing') return c.json(NO_BASE, 428);
      const { subjects: of, why: reason, ...way } = c.req.valid('json');
      const by = { why: reason, base: asked.base, source: 'api' };
      const moving = await moveRollout(deps, moveOf({ ...way, subjects: of }), of, c.var.user, by);
      if (moving.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      if (moving.outcome === 'too_many') return c.json(tooMany(moving.total, moving.max), 422);
      const { moved, held, applied } = moving;
      const told = { moved: [...moved], held: [...held] };
      if (applied === undefined)
        return c.json({ outcome: 'unchanged', ...told } satisfies RolloutMovedView, 200);
      return answered(c, applied, (body) => ({ ...body, ...told }));
    })
    .openapi(report, async (c) => {
      const { subjects: of, why: reason, told = false } = c.req.valid('json');
      const sent = await reportRollout(deps, of, c.var.user, { why: reason, source: 'api', told });
      if (sent.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      return sent.applied === undefined ? c.json(sent.view, 200) : answered(c, sent.applied, () => sent.view);
    });

  /** Rollout moves need no approval, so a requested one is a refusal. */
  async function answered<View extends object>(
    c: ApiContext,
    outcome: Parameters<typeof outcomeAnswer>[0],
    viewOf: (live: Pick<RolloutMovedView, 'outcome' | 'set' | 'edit'>) => View,
  ) {
    const answer = outcomeAnswer(outcome, await read.sight(c.var.user));
    if (answer.status === 202) return c.json(NEEDS_APPROVAL, 409);
    if (answer.status !== 200) return c.json(answer.body, answer.status);
    const { outcome: became, set, edit } = answer.body;
    const live = { outcome: became, ...withoutAbsent({ set, edit }) };
    return c.json(viewOf(live), 200);
  }
}

type MoveAsked = Omit<z.infer<typeof MoveSchema>, 'why'>;

function moveOf({ direction, force = false, to, class: only, subjects: of }: MoveAsked): RolloutMove {
  const which = only === undefined ? {} : { only };
  return direction === 'next'
    ? { direction, force, ...which, ...(of === 'all' && { all: true }) }
    : { direction, ...which, ...(to !== undefined && { to }) };
}

const tooMany = (total: number, max: number) =>
  apiError(
    'too_many',
    `There are ${total} rows, and one request moves at most ${max}.`,
    'Name those that are to move.',
  );

const NEEDS_APPROVAL = apiError(
  'needs_approval',
  'Somebody else has to approve this; a request is filed.',
  'See /api/v1/requests.',
);
