import type { Hook } from '@hono/zod-openapi';
import type { SignInEnv } from '../../core/signin/user.ts';
import { type ApiError, apiError } from './api-error.ts';

/** Longer lists help nobody. */
const PROBLEMS_MAX = 50;

/** A question of the wrong shape gets every problem at once. */
export const invalidHook: Hook<unknown, SignInEnv, string, Response | undefined> = (result, c) => {
  if (result.success) return undefined;
  const problems = result.error.issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => ({
    path: path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
    message,
  }));
  const error = apiError(
    'invalid',
    'The question does not have the expected shape: see the problems.',
    'Correct them; /api/v1/openapi.json describes what is expected.',
  );
  return c.json({ ...error, problems } satisfies ApiError, 422);
};
