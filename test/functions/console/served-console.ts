/** The console over HTTP, with a GitLab beside it that gives jobs their tokens. */

import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createConsoleApp } from '../../../functions/console/app.ts';
import { renderNotice } from '../../../functions/console/pages/problem-page.tsx';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createSignIn } from '../../../functions/core/signin/create-sign-in.ts';
import { serveOnLoopback } from '../../../scripts/local/loopback.ts';
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
  const { url, stop } = await serveOnLoopback({
    fetch: async (request) => (await app?.fetch(request)) ?? new Response(),
  });
  const gitlab = await startJobIssuer(() => clock.nowMs());
  onTestFinished(stop);
  onTestFinished(gitlab.stop);
  const signIn = createSignIn({
    issuer: gitlab.url,
    clientId: 'tollgate',
    clientSecret: async () => 'secret',
    redirectUrl: `${url}/signin/callback`,
    ...{ fetch, clock, log: silentLog, random: randomBytes },
    sessions: memorySessionStore(),
    roles: { read: async () => undefined },
    render: renderNotice,
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
