import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { expect, test } from 'vitest';
import { ACCESS } from '../../../functions/console/api/create-api.ts';
import { createConsoleApp } from '../../../functions/console/app.ts';
import { HEALTH_PATH } from '../../../functions/core/contract/admissions.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { SignInEnv } from '../../../functions/core/signin/model.ts';
import { consoleHouse } from './house.ts';

/** Nobody is signed in. */
function closed(): Hono {
  const { desk, read, policy, clock } = consoleHouse();
  const pages = new Hono<SignInEnv>();
  pages.get('/', (c) => c.text('page'));
  const signedOut = createMiddleware<SignInEnv>(async (c) => c.text('signed out', 401));
  return createConsoleApp({
    desk,
    read,
    policy,
    clock,
    directory: async () => undefined,
    pages,
    log: silentLog,
    signIn: { routes: new Hono<SignInEnv>(), requireUser: signedOut },
  });
}

test.each([
  ...Object.keys(ACCESS).map((route) => route.replace(' ', ' /api/v1').replace(/:\w+/, '1')),
  'GET /',
  'GET /api/v1/nothing',
  'GET /nothing',
])('a stranger is told nothing by %s', async (route) => {
  const [method = '', path = ''] = route.split(' ');
  const response = await closed().request(path, { method });
  expect(response.status).toBe(401);
  expect(await response.text()).toBe('signed out');
});

test('health is open, and every answer forbids frames, foreign scripts and caches', async () => {
  const response = await closed().request(HEALTH_PATH);
  expect(await response.json()).toEqual({ status: 'ok' });
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('a body that is too large is refused before anybody reads it', async () => {
  const response = await closed().request('/api/v1/limits/import', {
    method: 'POST',
    body: 'x'.repeat(4 * 1024 * 1024 + 1),
  });
  expect(response.status).toBe(413);
});
