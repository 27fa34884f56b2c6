/** The console over HTTP, with a GitLab beside it that gives jobs their tokens. */
import { randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import { onTestFinished } from 'vitest';
import { createConsoleApp } from '../../../functions/console/app.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createSignIn } from '../../../functions/core/signin/create-sign-in.ts';
import { memorySessionStore } from '../../support/tables/memory-session-store.ts';
import { startJobIssuer } from '../core/signin/job-issuer.ts';
import type { consoleHouse } from './house.ts';

/** Gone when the test is over. */
export async function serveConsole({
  clock,
  limitEdits,
  read,
  policy,
  directory,
}: ReturnType<typeof consoleHouse>) {
  let app: ReturnType<typeof createConsoleApp> | undefined;
  const server = serve({
    fetch: async (request) => (await app?.fetch(request)) ?? new Response(),
    port: 0,
    hostname: '127.0.0.1',
  });
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const gitlab = await startJobIssuer(() => clock.nowMs());
  onTestFinished(async () => {
    await gitlab.stop();
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const signIn = createSignIn({
    issuer: gitlab.url,
    clientId: 'tollgate',
    clientSecret: async () => 'secret',
    redirectUrl: `${url}/signin/callback`,
    ...{ fetch, clock, log: silentLog, random: randomBytes },
    sessions: memorySessionStore(),
    roles: { read: async () => undefined },
    addressOf: () => 'somewhere',
  });
  app = createConsoleApp({
    ...{ limitEdits, read, signIn, policy, clock, log: silentLog },
    directory: async () => directory,
  });
  /** The token of a job of this project. */
  const tokenOf = (projectId: number): string =>
    gitlab.token(gitlab.claims(url, { project_id: String(projectId), job_project_id: String(projectId) }));
  return { url, gitlab, tokenOf };
}
