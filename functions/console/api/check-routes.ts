/** Checks of pipelines, for authors and their jobs. */

import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { AskedPipelineSchema, CheckedPipelineSchema } from '../../answers/job/model.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { type ApiDeps, invalidHook } from './api-deps.ts';
import { apiError, NOT_THERE } from './api-error.ts';
import { createRoute, errorAnswer, jsonAnswer, jsonBody } from './route-parts.ts';

/** A thousand jobs of some 250 bytes. */
const BODY_BYTES_MAX = 256 * 1024;

const TOO_LARGE = apiError(
  'too_large',
  `This is larger than ${BODY_BYTES_MAX / 1024} KB.`,
  'Ask about fewer jobs at once; jobs that are alike are one with `parallel`.',
);

const NOT_RECORDED = apiError(
  'not_recorded',
  'What was asked about this job was not recorded.',
  'Ask about a job like it, with its tags and image.',
);

const check = createRoute({
  method: 'post',
  path: '/check',
  summary: 'What the jobs of a pipeline would meet now, and what is left of their limits',
  middleware: bodyLimit({ maxSize: BODY_BYTES_MAX, onError: (c: Context) => c.json(TOO_LARGE, 413) }),
  request: { body: jsonBody(AskedPipelineSchema) },
  responses: {
    200: jsonAnswer(CheckedPipelineSchema, 'Job by job; nothing is held'),
    404: errorAnswer('No such project, group or job, or not one of yours'),
    413: errorAnswer('Too large'),
  },
});

export const checkRoutes = ({ read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook }).openapi(check, async (c) => {
    const answer = await read.check(c.req.valid('json'), c.var.user);
    if (answer.outcome === 'checked') return c.json(answer.pipeline, 200);
    return c.json(answer.outcome === 'unknown' ? NOT_THERE : NOT_RECORDED, 404);
  });
