import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { DecidedRequestSchema, RequestRowSchema } from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import {
  AskSchema,
  type DecideOutcome,
  LimitRequestSchema,
  VerdictSchema,
} from '../../core/limits/edit-model.ts';
import { whoMayText } from '../../core/limits/rights.ts';
import { list } from '../../core/schema.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import {
  type ApiDeps,
  type ApiError,
  apiError,
  errors,
  getRoute,
  invalidHook,
  jsonAnswer,
  jsonBody,
  NOT_THERE,
  postRoute,
  textId,
  withProblems,
} from './api-parts.ts';
import { forbidden } from './edits.ts';

const file = createRoute({
  method: 'post',
  path: '/requests',
  summary: 'Requests more',
  request: { body: jsonBody(AskSchema) },
  responses: {
    201: jsonAnswer(LimitRequestSchema, 'It waits for a decision'),
    ...errors([403, 404, 409, 422]),
  },
});

const decide = postRoute(
  '/requests/{id}/decision',
  'Approves, which grants the amount or makes the edit live, or declines',
  DecidedRequestSchema,
  { params: textId, body: jsonBody(VerdictSchema) },
  [403, 404, 409, 422],
);

const INVALID = apiError(
  'invalid',
  'This cannot be granted: see the problems.',
  'Correct them and send it again.',
);
const OWN = apiError('own', 'This is a request of your own; somebody else decides.', 'Wait, or ask them.');
const STALE = apiError(
  'stale',
  'The limits it changes were changed meanwhile.',
  'Decline it, and ask again.',
);
const BUSY = apiError('busy', 'Others edit the limits at the same time.', 'Decide once more.');

export const requestRoutes = ({ desk, read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })

    .openapi(
      getRoute('/requests', 'Yours, and those of your groups, newest first', list(RequestRowSchema)),
      async (c) => c.json(await read.requests(c.var.user), 200),
    )
    .openapi(file, async (c) => {
      const { user } = c.var;
      const asked = c.req.valid('json');
      const sees = await read.sight(user);
      if (!sees(asked.subject)) return c.json(NOT_THERE, 404);
      const outcome = await desk.request(asked, actingUser(user));
      switch (outcome.outcome) {
        case 'filed':
          return c.json(outcome.request, 201);
        case 'invalid':
          return c.json(withProblems(INVALID, outcome.problems), 422);
        case 'forbidden':
          return c.json(forbidden([whoMayText(outcome.act, outcome.needs)]), 403);
        case 'too_many': {
          const whose = outcome.whose === 'yours' ? 'of yours ' : '';
          const message = `${outcome.max} requests ${whose}are waiting already.`;
          return c.json(apiError('too_many', message, 'Wait until some are decided.'), 409);
        }
      }
    })
    .openapi(decide, async (c) => {
      const { user } = c.var;
      const { id } = c.req.valid('param');
      // Other people's requests look as if they did not exist.
      const known = (await read.requests(user)).some((request) => request.id === id);
      if (!known) return c.json(NOT_THERE, 404);
      const { status, body } = decided(await desk.decide(id, c.req.valid('json'), actingUser(user)));
      return status === 200 ? c.json(body, status) : c.json(body, status);
    });

function decided(outcome: DecideOutcome) {
  const refused = <const Status extends 403 | 404 | 409 | 422>(status: Status, body: ApiError) => ({
    status,
    body,
  });
  switch (outcome.outcome) {
    case 'approved': {
      const { set, edit } = outcome.pointer;
      return { status: 200, body: { ...outcome.request, live: { set, edit } } } as const;
    }
    case 'declined':
      return { status: 200, body: outcome.request } as const;
    case 'unknown':
      return refused(404, NOT_THERE);
    case 'decided': {
      const { decidedBy = 'Somebody', state } = outcome.request;
      return refused(
        409,
        apiError('decided', `${decidedBy} has ${state} it already.`, 'Nothing is left to do.'),
      );
    }
    case 'forbidden':
      return refused(403, outcome.own === true ? OWN : forbidden([whoMayText(outcome.act, outcome.needs)]));
    case 'invalid':
      return refused(422, withProblems(INVALID, outcome.problems));
    case 'stale':
      return refused(409, STALE);
    case 'busy':
      return refused(409, BUSY);
  }
}
