/** Requests for more, and their decisions. */
import { OpenAPIHono } from '@hono/zod-openapi';
import {
  DecidedRequestSchema,
  LimitRequestSchema,
  RequestRowSchema,
} from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import { list } from '../../answers/reading/schema.ts';
import type { DecideOutcome, GrantAsk, LimitRequest, RequestVerdict } from '../../core/limits/edit-model.ts';
import { whoMayText } from '../../core/limits/rights.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import {
  type ApiDeps,
  type ApiError,
  answers,
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
import { AskSchema, forbidden, VerdictSchema } from './edits.ts';

const waiting = getRoute(
  '/requests',
  'Yours, and those of your groups',
  {},
  answers(list(RequestRowSchema), 'Newest first'),
);

const file = postRoute(
  '/requests',
  'Requests more',
  { body: jsonBody(AskSchema) },
  {
    201: jsonAnswer(LimitRequestSchema, 'It waits for a decision'),
    ...errors({
      403: 'Not with your roles',
      404: 'No such subject, or not in one of your groups',
      409: 'Too many are waiting',
      422: 'Cannot be granted; `problems` says why',
    }),
  },
);

const decide = postRoute(
  '/requests/{id}/decision',
  'Approves, which grants the amount or makes the edit live, or declines',
  { params: textId, body: jsonBody(VerdictSchema) },
  answers(DecidedRequestSchema, 'Its current state', {
    403: 'Not with your roles, or it is your own',
    404: 'No such request, or it expired',
    409: 'It was decided before, others edit at the same time, or the limits were changed',
    422: 'The grant no longer fits; `problems` says why',
  }),
);

const INVALID = apiError(
  'invalid',
  'This cannot be granted: see the problems.',
  'Correct them and send it again.',
);
const OWN = apiError('own', 'This is a request of your own; somebody else decides.', 'Wait, or ask them.');
const STALE = apiError(
  'stale',
  'The limits it changes were changed meanwhile, so nothing was changed.',
  'Decline it, and have it asked for again.',
);
const BUSY = apiError(
  'busy',
  'Others edit the limits at the same time, again and again.',
  'Decide once more.',
);

export const requestRoutes = ({ desk, read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(waiting, async (c) => c.json(await read.requests(c.var.user), 200))
    .openapi(file, async (c) => {
      const { user } = c.var;
      const asked = c.req.valid('json');
      const sees = await read.sight(user);
      if (!sees(asked.subject)) return c.json(NOT_THERE, 404);
      // JSON has no `undefined`.
      const outcome = await desk.request(asked as GrantAsk, actingUser(user));
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
      const verdict = c.req.valid('json') as RequestVerdict;
      const { status, body } = decided(await desk.decide(id, verdict, actingUser(user)));
      return status === 200 ? c.json(body, status) : c.json(body, status);
    });

type Decided =
  | {
      readonly status: 200;
      readonly body: LimitRequest & { readonly live?: { readonly set: string; readonly edit: number } };
    }
  | { readonly status: 403 | 404 | 409 | 422; readonly body: ApiError };

function decided(outcome: DecideOutcome): Decided {
  switch (outcome.outcome) {
    case 'approved': {
      const { set, edit } = outcome.pointer;
      return { status: 200, body: { ...outcome.request, live: { set, edit } } };
    }
    case 'declined':
      return { status: 200, body: outcome.request };
    case 'unknown':
      return { status: 404, body: NOT_THERE };
    case 'decided': {
      const { decidedBy = 'Somebody', state } = outcome.request;
      const message = `${decidedBy} has ${state} it already.`;
      return { status: 409, body: apiError('decided', message, 'Nothing is left to do.') };
    }
    case 'forbidden':
      return {
        status: 403,
        body: outcome.own === true ? OWN : forbidden([whoMayText(outcome.act, outcome.needs)]),
      };
    case 'invalid':
      return { status: 422, body: withProblems(INVALID, outcome.problems) };
    case 'stale':
      return { status: 409, body: STALE };
    case 'busy':
      return { status: 409, body: BUSY };
  }
}
