/** "Ask for more", and what becomes of it. */
import { OpenAPIHono } from '@hono/zod-openapi';
import {
  DecidedRequestSchema,
  LimitRequestSchema,
  RequestRowSchema,
} from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import { list } from '../../answers/reading/schema.ts';
import {
  type DecideOutcome,
  type GrantAsk,
  type LimitRequest,
  type RequestVerdict,
  whoMayText,
} from '../../core/limits/index.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { type ApiError, apiError, NOT_THERE } from './api-error.ts';
import { AskSchema, VerdictSchema } from './edit-schemas.ts';
import { forbidden, withProblems } from './outcome-answer.ts';
import { createRoute, errorAnswer, jsonAnswer, jsonBody, textId } from './route-parts.ts';

const waiting = createRoute({
  method: 'get',
  path: '/requests',
  summary: 'Yours, and those of your groups',
  responses: { 200: jsonAnswer(list(RequestRowSchema), 'Newest first') },
});

const file = createRoute({
  method: 'post',
  path: '/requests',
  summary: 'Ask for more',
  request: { body: jsonBody(AskSchema) },
  responses: {
    201: jsonAnswer(LimitRequestSchema, 'It waits for somebody to decide'),
    403: errorAnswer('Not with your roles'),
    404: errorAnswer('No such subject, or not in one of your groups'),
    409: errorAnswer('Too many are waiting'),
    422: errorAnswer('Cannot be granted; `problems` says why'),
  },
});

const decide = createRoute({
  method: 'post',
  path: '/requests/{id}/decision',
  summary: 'Approve, and so give the grant or make the edit live, or decline',
  request: { params: textId, body: jsonBody(VerdictSchema) },
  responses: {
    200: jsonAnswer(DecidedRequestSchema, 'As it stands now'),
    403: errorAnswer('Not with your roles, or it is your own'),
    404: errorAnswer('No such request, or it expired'),
    409: errorAnswer(
      'Somebody decided before, others edit at the same time, or the limits are others by now',
    ),
    422: errorAnswer('The grant no longer fits; `problems` says why'),
  },
});

const INVALID = apiError(
  'invalid',
  'This cannot be granted: see the problems.',
  'Correct them and send it again.',
);

export const requestRoutes = ({ desk, read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(waiting, async (c) => c.json(await read.requests(c.var.user), 200))
    .openapi(file, async (c) => {
      const { user } = c.var;
      const asked = c.req.valid('json');
      const sees = await read.sight(user);
      if (!sees(asked.subject)) return c.json(NOT_THERE, 404);
      const by = actingUser(user);
      // JSON knows no undefined.
      const outcome = await desk.request(asked as GrantAsk, by);
      switch (outcome.outcome) {
        case 'filed':
          return c.json(outcome.request, 201);
        case 'invalid':
          return c.json(withProblems(INVALID, outcome.problems), 422);
        case 'forbidden':
          return c.json(forbidden([whoMayText(outcome.act, outcome.needs)]), 403);
        case 'too_many':
          return c.json(tooMany(outcome.whose, outcome.max), 409);
      }
    })
    .openapi(decide, async (c) => {
      const { user } = c.var;
      const { id } = c.req.valid('param');
      // A request that does not concern this user is answered like one that does not exist.
      const known = (await read.requests(user)).some((request) => request.id === id);
      if (!known) return c.json(NOT_THERE, 404);
      const by = actingUser(user);
      const { status, body } = decided(await desk.decide(id, c.req.valid('json') as RequestVerdict, by));
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
    case 'decided':
      return {
        status: 409,
        body: apiError(
          'decided',
          `${outcome.request.decidedBy ?? 'Somebody'} has ${outcome.request.state} it already.`,
          'Nothing is left to do.',
        ),
      };
    case 'forbidden':
      return {
        status: 403,
        body: outcome.own === true ? OWN : forbidden([whoMayText(outcome.act, outcome.needs)]),
      };
    case 'invalid':
      return { status: 422, body: withProblems(INVALID, outcome.problems) };
    case 'stale':
      return {
        status: 409,
        body: apiError(
          'stale',
          'The limits it changes were changed meanwhile, so nothing was changed.',
          'Decline it, and have it asked for again.',
        ),
      };
    case 'busy':
      return {
        status: 409,
        body: apiError(
          'busy',
          'Others edit the limits at the same time, again and again.',
          'Decide once more.',
        ),
      };
  }
}

const OWN = apiError('own', 'This is a request of your own; somebody else decides.', 'Wait, or ask them.');

const tooMany = (whose: 'yours' | 'all', max: number): ApiError =>
  apiError(
    'too_many',
    `${max} requests ${whose === 'yours' ? 'of yours ' : ''}are waiting already.`,
    'Wait until some are decided.',
  );
