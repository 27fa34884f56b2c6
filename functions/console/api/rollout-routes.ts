import { OpenAPIHono } from '@hono/zod-openapi';
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
import { maybe, mode } from '../../core/schema.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import { moveRollout, reportRollout } from '../move-rollout.ts';
import {
  type ApiContext,
  type ApiDeps,
  apiError,
  baseHeader,
  cursor,
  getRoute,
  invalidHook,
  jsonBody,
  NO_BASE,
  NOT_THERE,
  postRoute,
  subject,
  tooOften,
  upTo,
  z,
} from './api-parts.ts';
import { baseOf, CHANGES, editResponse } from './edits.ts';

const SUBJECTS_MAX = 100;
/** Each is a message. */
const REPORTS_MAX = 20;
const subjects = z.array(subject).min(1).max(SUBJECTS_MAX);
const why = z.string().min(1).max(300).openapi({ description: 'Shown in the log.' });

const rolloutRows = getRoute(
  '/rollout',
  'Rollout steps of the instance, top-level groups and subjects with their own, and requirements of the next',
  RolloutViewSchema,
  {
    query: z.object({
      subject: subject.optional().openapi({ description: 'Only this one, even without its own step.' }),
      cursor,
      max: upTo(100),
    }),
  },
);

const forecast = postRoute(
  '/rollout/forecast',
  'Jobs of the last days that would have failed if these were enforced; changes nothing',
  RolloutForecastSchema,
  {
    query: z.object({ cursor }),
    body: jsonBody(z.strictObject({ subjects }).openapi('RolloutForecastAsked')),
  },
  [404, 429],
);

const MoveSchema = z
  .strictObject({
    subjects: z.union([subjects, z.literal('all')]).openapi({ description: '`all`: every row of the list.' }),
    direction: z.enum(['next', 'back']),
    force: z.boolean().optional().openapi({ description: 'Overrides requirements; the log lists them.' }),
    to: mode.optional().openapi({ description: 'Back to this mode; milder ones stay.' }),
    class: rolloutClass.optional().openapi({ description: 'Only rules of this class.' }),
    why,
  })
  .openapi('RolloutMove');

const move = postRoute(
  '/rollout/moves',
  'Moves subjects to the next step if its requirements are met, or back immediately',
  RolloutMovedSchema,
  { headers: baseHeader, body: jsonBody(MoveSchema) },
  CHANGES,
);

const ReportSchema = z
  .strictObject({
    subjects: z.array(subject).min(1).max(REPORTS_MAX),
    informed: maybe(z.boolean(), 'You informed the owners yourself: nothing is sent.'),
    why,
  })
  .openapi('RolloutReport');

const report = postRoute(
  '/rollout/reports',
  'Sends owners the shadow report, and records the time',
  RolloutReportedSchema,
  { body: jsonBody(ReportSchema) },
  CHANGES,
);

const NEEDS_APPROVAL = apiError(
  'needs_approval',
  'Another user must approve this; a request was filed.',
  'See /api/v1/requests.',
);

export function rolloutRoutes(deps: ApiDeps) {
  const { read, source = 'api' } = deps;
  return new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(rolloutRows, async (c) => {
      const { subject: one, ...page } = c.req.valid('query');
      const input = { ...(one !== undefined && { subjects: [one] }), ...withoutAbsent(page) };
      return c.json(await read.rollout(input, c.var.user), 200);
    })
    .openapi(forecast, async (c) => {
      const { cursor: from } = c.req.valid('query');
      const answer = await read.rolloutForecast(c.req.valid('json').subjects, c.var.user, from);
      if (answer.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      return answer.outcome === 'counted' ? c.json(answer, 200) : tooOften(c, answer.retryAfterSeconds);
    })
    .openapi(move, async (c) => {
      const input = baseOf(c.req.header('if-match'));
      if (input === 'missing') return c.json(NO_BASE, 428);
      const body = c.req.valid('json');
      const by = { why: body.why, base: input.base, source };
      const result = await moveRollout(deps, moveOf(body), body.subjects, c.var.user, by);
      if (result.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      if (result.outcome === 'too_many') return c.json(tooMany(result.total, result.max), 422);
      const { moved, held, applied } = result;
      const rows = { moved: [...moved], held: [...held] };
      if (applied !== undefined) return responded(c, applied, (status) => ({ ...status, ...rows }));
      return c.json({ outcome: 'unchanged', ...rows } satisfies RolloutMovedView, 200);
    })
    .openapi(report, async (c) => {
      const { subjects: of, why: reason, informed = false } = c.req.valid('json');
      const sent = await reportRollout(deps, of, c.var.user, { why: reason, source, informed });
      if (sent.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      const { applied, view } = sent;
      return applied === undefined ? c.json(view, 200) : responded(c, applied, () => view);
    });

  /** Rollout moves need no approval, so a filed request is a refusal. */
  async function responded<View extends object>(
    c: ApiContext,
    outcome: Parameters<typeof editResponse>[0],
    viewOf: (status: Pick<RolloutMovedView, 'outcome' | 'set' | 'edit'>) => View,
  ) {
    const answer = editResponse(outcome, await read.sight(c.var.user));
    if (answer.status === 202) return c.json(NEEDS_APPROVAL, 409);
    if (answer.status !== 200) return c.json(answer.body, answer.status);
    const { outcome: result, set, edit } = answer.body;
    return c.json(viewOf({ outcome: result, ...withoutAbsent({ set, edit }) }), 200);
  }
}

function moveOf(input: z.infer<typeof MoveSchema>): RolloutMove {
  const { direction, force = false, to, class: only, subjects: of } = input;
  const which = withoutAbsent({ only });
  return direction === 'next'
    ? { direction, force, ...which, ...(of === 'all' && { all: true }) }
    : { direction, ...which, ...withoutAbsent({ to }) };
}

const tooMany = (total: number, max: number) =>
  apiError(
    'too_many',
    `There are ${total} rows, and one request moves at most ${max}.`,
    'Name the subjects to move.',
  );
