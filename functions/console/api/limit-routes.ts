/** Limits and what is done to them: every change goes through the desk, and needs the set it was made on. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  BacktestSchema,
  BreakGlassStateSchema,
  HistoryPageSchema,
  PreviewSchema,
} from '../../answers/limits/edit-models.ts';
import { count, instantMs, list, maybe, text } from '../../answers/reading/schema.ts';
import type { LimitEdit } from '../../core/limits/index.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiContext, type ApiDeps, type EditReason, editedBy, etagOf, invalidHook } from './api-deps.ts';
import { NOT_THERE, TOO_OFTEN } from './api-error.ts';
import {
  EditsSchema,
  type EditsShape,
  FreezeSchema,
  GlassSchema,
  GrantSchema,
  PreviewAskedSchema,
  ReviewSchema,
  WhySchema,
} from './edit-schemas.ts';
import { editsMeant } from './edits-meant.ts';
import { AppliedSchema, FiledSchema, type OutcomeAnswer, outcomeAnswer } from './outcome-answer.ts';
import {
  baseHeader,
  createRoute,
  cursor,
  errorAnswer,
  jsonAnswer,
  jsonBody,
  textId,
  z,
} from './route-parts.ts';

const LiveSetSchema = z
  .object({
    set: maybe(text('Absent: none was ever live.')),
    edit: maybe(count('The edit that made it live.')),
    atMs: maybe(instantMs()),
    actor: maybe(text('This and the following: for finance and administrators.')),
    why: maybe(text()),
    source: maybe(text()),
    base: maybe(text('The set it was an edit of.')),
  })
  .openapi('LiveSet');

const changed = {
  200: jsonAnswer(AppliedSchema, 'It is live, or was so before'),
  202: jsonAnswer(FiledSchema, 'Somebody else has to approve it; a request is filed'),
  403: errorAnswer('Not with your roles; `denied` says who may'),
  404: errorAnswer('No such subject, or not in one of your groups'),
  409: errorAnswer('Needs approval, and too many requests are waiting already'),
  412: errorAnswer('Others changed the limits since `If-Match`; `mine` and `theirs` show both'),
  422: errorAnswer('Cannot be done; `problems` says why'),
  428: errorAnswer('`If-Match` is missing, or something has to be confirmed'),
};

const gone = errorAnswer('What they are edits of is gone, or not the last edit any more');

const live = createRoute({
  method: 'get',
  path: '/limits',
  summary: 'Which set of limits is live; its name is the ETag',
  responses: { 200: jsonAnswer(LiveSetSchema, 'Who made it live, when and why') },
});

const history = createRoute({
  method: 'get',
  path: '/limits/history',
  summary: 'What was changed, newest first',
  request: {
    query: z.object({
      subject: z.string().max(255).optional(),
      before: z.coerce.number().int().positive().optional(),
      max: z.coerce.number().int().min(1).max(100).default(20),
    }),
  },
  responses: { 200: jsonAnswer(HistoryPageSchema, 'A page of edits') },
});

const preview = createRoute({
  method: 'post',
  path: '/limits/preview',
  summary: 'What edits would do; changes nothing',
  request: { headers: baseHeader, body: jsonBody(PreviewAskedSchema) },
  responses: {
    200: jsonAnswer(PreviewSchema, 'Differences, run-out dates, and jobs that would have been stopped'),
    404: changed[404],
    412: gone,
    422: changed[422],
    428: errorAnswer('`If-Match` is missing'),
  },
});

const backtest = createRoute({
  method: 'post',
  path: '/limits/backtest',
  summary: 'Which jobs of the last days edits would have failed; changes nothing',
  description:
    'Lives the jobs again, the first of the days first, as many as one request may read. Send the same again with the `next` of the answer as `cursor`, until it has none.',
  request: { headers: baseHeader, query: z.object({ cursor }), body: jsonBody(PreviewAskedSchema) },
  responses: {
    200: jsonAnswer(
      BacktestSchema,
      'Jobs by edited subject: with the edits, with the limits as they are, and what really happened',
    ),
    404: changed[404],
    412: gone,
    422: changed[422],
    428: errorAnswer('`If-Match` is missing'),
    429: errorAnswer('Asked too often; `retry-after` says when again'),
  },
});

const edits = createRoute({
  method: 'post',
  path: '/limits/edits',
  summary: 'Makes edits live, all or none',
  request: { headers: baseHeader, body: jsonBody(EditsSchema) },
  responses: changed,
});

const writing = <Path extends string, Schema extends z.ZodType>(
  path: Path,
  summary: string,
  schema: Schema,
) =>
  createRoute({
    method: 'post',
    path,
    summary,
    request: { headers: baseHeader, body: jsonBody(schema) },
    responses: changed,
  });

const ending = <Path extends string, Schema extends z.ZodType>(path: Path, summary: string, schema: Schema) =>
  createRoute({
    method: 'post',
    path,
    summary,
    request: { headers: baseHeader, params: textId, body: jsonBody(schema) },
    responses: changed,
  });

const grant = writing('/grants', 'More for a time', GrantSchema);
const revoke = ending('/grants/{id}/revoke', 'Takes a grant back', WhySchema);
const freeze = writing('/freezes', 'No job of a subject starts', FreezeSchema);
const lift = ending('/freezes/{id}/lift', 'Lifts a freeze', WhySchema);
const glass = writing(
  '/breakglass',
  'Lets named people or protected refs pass limits for a time',
  GlassSchema,
);
const endGlass = ending('/breakglass/{id}/end', 'Ends a break-glass', WhySchema);
const review = ending(
  '/breakglass/{id}/review',
  'Notes that somebody looked at what was done with it',
  ReviewSchema,
);

const glasses = createRoute({
  method: 'get',
  path: '/breakglass',
  summary: 'Who was let in by breaking glass',
  responses: { 200: jsonAnswer(list(BreakGlassStateSchema), 'Newest first') },
});

export function limitRoutes({ desk, read, source }: ApiDeps) {
  /** All that is not theirs is not there. */
  async function apply(c: ApiContext, sent: EditsShape, said: EditReason): Promise<OutcomeAnswer> {
    const { user } = c.var;
    const sees = await read.sight(user);
    const meant = await editsMeant(sent, c.req.header('if-match'), desk, sees);
    if (!meant.ok) return meant;
    const { edits, base } = meant;
    if (edits.flatMap(subjectOf).some((subject) => !sees(subject))) return { status: 404, body: NOT_THERE };
    return outcomeAnswer(await desk.apply(edits, editedBy(user, base, said, source)), sees);
  }

  const asked = async (c: ApiContext, sent: EditsShape) =>
    editsMeant(sent, c.req.header('if-match'), desk, await read.sight(c.var.user));

  return new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(live, async (c) => {
      const now = await desk.live();
      c.header('etag', etagOf(now?.pointer.set));
      if (now === undefined) return c.json({}, 200);
      const { set, edit, atMs } = now.pointer;
      const { actor, why, source, base } = now.change;
      const sees = c.var.user.roles.admin || c.var.user.roles.finance;
      return c.json(
        { set, edit, atMs, ...(sees && { actor, why, source, ...(base !== undefined && { base }) }) },
        200,
      );
    })
    .openapi(history, async (c) => {
      const { subject, before, max } = c.req.valid('query');
      const query = {
        max,
        ...withoutAbsent({ subject, before }),
      };
      return c.json(await read.history(query, c.var.user), 200);
    })
    .openapi(preview, async (c) => {
      const meant = await asked(c, c.req.valid('json').edits);
      if (!meant.ok) return c.json(meant.body, meant.status);
      const answer = await read.preview(meant.edits, meant.base, c.var.user);
      if (answer.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      return c.json(answer, 200);
    })
    .openapi(backtest, async (c) => {
      const meant = await asked(c, c.req.valid('json').edits);
      if (!meant.ok) return c.json(meant.body, meant.status);
      const answer = await read.backtest(meant.edits, meant.base, c.var.user, c.req.valid('query').cursor);
      if (answer.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
      if (answer.outcome !== 'too_often') return c.json(answer, 200);
      c.header('retry-after', String(answer.retryAfterSeconds));
      return c.json(TOO_OFTEN, 429);
    })
    .openapi(edits, async (c) => {
      const body = c.req.valid('json');
      return told(c, await apply(c, body.edits, body));
    })
    .openapi(grant, async (c) => {
      const { confirmed, ...shape } = c.req.valid('json');
      return told(c, await apply(c, [{ kind: 'grant', ...shape }], { why: shape.reason, confirmed }));
    })
    .openapi(revoke, async (c) => {
      const edit = { kind: 'revoke', grant: c.req.valid('param').id } as const;
      return told(c, await apply(c, [edit], c.req.valid('json')));
    })
    .openapi(freeze, async (c) => {
      const { confirmed, ...shape } = c.req.valid('json');
      return told(c, await apply(c, [{ kind: 'freeze', ...shape }], { why: shape.reason, confirmed }));
    })
    .openapi(lift, async (c) => {
      const edit = { kind: 'unfreeze', freeze: c.req.valid('param').id } as const;
      return told(c, await apply(c, [edit], c.req.valid('json')));
    })
    .openapi(glasses, async (c) => c.json(await read.breakGlasses(c.var.user), 200))
    .openapi(glass, async (c) => {
      const { confirmed, ...shape } = c.req.valid('json');
      return told(c, await apply(c, [{ kind: 'breakglass', ...shape }], { why: shape.reason, confirmed }));
    })
    .openapi(endGlass, async (c) => {
      const edit = { kind: 'end-breakglass', breakglass: c.req.valid('param').id } as const;
      return told(c, await apply(c, [edit], c.req.valid('json')));
    })
    .openapi(review, async (c) => {
      const { note } = c.req.valid('json');
      const edit = { kind: 'review-breakglass', breakglass: c.req.valid('param').id, note } as const;
      return told(c, await apply(c, [edit], { why: note }));
    });
}

function told(c: ApiContext, answer: OutcomeAnswer) {
  switch (answer.status) {
    case 200:
      return c.json(answer.body, 200);
    case 202:
      return c.json(answer.body, 202);
    default:
      return c.json(answer.body, answer.status);
  }
}

const subjectOf = (edit: LimitEdit): readonly string[] => ('subject' in edit ? [edit.subject] : []);
