import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import type { DecideDeps } from '../core/admission/judge.ts';
import { BODY_BYTES_MAX } from '../core/contract/admissions.ts';
import { admitRoutes, TOO_LARGE } from './routes.ts';

export function createAdmitApp(deps: DecideDeps): Hono {
  const app = new Hono();
  const answer = admitRoutes(deps);

  app.use(bodyLimit({ maxSize: BODY_BYTES_MAX, onError: (c) => c.json(TOO_LARGE.body, TOO_LARGE.status) }));

  app.all('*', async (c) => {
    const { method, path } = c.req;
    const { status, body } = await answer({ method, path, text: await c.req.text() });
    return c.json(body, status);
  });

  return app;
}
