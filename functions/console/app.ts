import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HEALTH_PATH } from '../core/contract/admissions.ts';
import type { SignIn } from '../core/signin/create-sign-in.ts';
import type { SignInEnv } from '../core/signin/model.ts';
import { pageHeaders } from '../core/signin/require-user.ts';
import { type ApiDeps, apiError, BROKEN, UNREADABLE } from './api/api-parts.ts';
import { createApi } from './api/create-api.ts';
import { API_PATH } from './api/http.ts';
import { unreadableStatus } from './unreadable-request.ts';

interface ConsoleAppDeps extends ApiDeps {
  readonly signIn: SignIn;
  readonly assets?: Hono;
  readonly pages?: Hono<SignInEnv>;
}

/** Fits a file of 20 000 limits. Lambda's bound is 6 MB including a third for base64. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

export function createConsoleApp(deps: ConsoleAppDeps): Hono {
  const { signIn, assets, pages, log } = deps;
  const app = new Hono();

  app.onError((error, c) => {
    const unreadable = unreadableStatus(error);
    if (unreadable !== undefined) return c.json(UNREADABLE, unreadable);
    // The message of other code's error could quote its input.
    log.error('console failed', { path: c.req.path, error: error.name });
    return c.json(BROKEN, 500);
  });

  app.use(pageHeaders());
  app.use(bodyLimit({ maxSize: BODY_BYTES_MAX, onError: (c: Context) => c.json(TOO_LARGE, 413) }));
  app.get(HEALTH_PATH, (c) => c.json({ status: 'ok' }));
  if (assets !== undefined) app.route('/', assets);
  app.route('/', signIn.routes);

  const inside = new Hono<SignInEnv>();
  inside.use(signIn.requireUser);
  inside.route(API_PATH, createApi(deps));
  if (pages !== undefined) inside.route('/', pages);
  app.route('/', inside);
  return app;
}

const TOO_LARGE = apiError(
  'too_large',
  `This is larger than ${BODY_BYTES_MAX / (1024 * 1024)} MB; nothing was changed.`,
  'Send it in parts.',
);
