/** The real console over HTTP, with a GitLab next to it and a clock that only sleeping moves. */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { renderNotice } from '../../../../functions/console/pages/problem-page.tsx';
import { createSignIn } from '../../../../functions/core/signin/create-sign-in.ts';
import { gitlabRoles } from '../../../../functions/core/signin/gitlab-roles.ts';
import { commandFetch } from '../../../../scripts/cli/command-fetch.ts';
import { COMMANDS } from '../../../../scripts/cli/commands.ts';
import { startSignInGitLab } from '../../../../scripts/local/gitlab/sign-in-gitlab.ts';
import { serveOnLoopback } from '../../../../scripts/local/loopback.ts';
import { consoleHouse, LIMITS } from '../../../functions/console/house.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';
import { aProject, runDesk } from '../desk-run.ts';

export const FRITZ = {
  id: 42,
  username: 'fritz',
  name: 'Fritz',
  memberships: [{ groupId: 8, path: 'finance', level: 30 }],
};
export const VERA = {
  id: 43,
  username: 'vera',
  name: 'Vera',
  memberships: [{ groupId: 101, path: 'acme/payments', level: 30 }],
};

export async function openConsole({ isConfigured = true } = {}) {
  const house = consoleHouse();
  await house.apply(LIMITS);
  let sleptMs = 0;
  const startMs = Date.now();
  // The machine's clock, for GitLab's tokens; sleeping moves it.
  const clock = { nowMs: () => startMs + sleptMs, monotonicMs: () => sleptMs, sleep: async () => {} };
  let app: ReturnType<typeof createConsoleApp> | undefined;
  const { url, stop } = await serveOnLoopback({
    fetch: async (request) => (await app?.fetch(request)) ?? new Response(),
  });
  const redirectUrl = `${url}/signin/callback`;
  const gitlab = await startSignInGitLab({ redirectUrl, users: [FRITZ, VERA], nowMs: clock.nowMs });
  onTestFinished(stop);
  onTestFinished(gitlab.stop);
  const logged: string[] = [];
  const note = (message: string, fields: object = {}): void =>
    void logged.push(JSON.stringify({ message, ...fields }));
  const log = { info: note, warn: note, error: note };
  const { limitEdits, read, policy, directory } = house;
  const rest = { baseUrl: gitlab.url, token: async () => gitlab.token, fetch, clock };
  const signIn = createSignIn({
    issuer: gitlab.url,
    clientId: gitlab.clientId,
    clientSecret: async () => gitlab.clientSecret,
    ...(isConfigured && { deviceClientId: gitlab.deviceClientId }),
    ...{ redirectUrl, fetch, clock, log, random: randomBytes },
    sessions: memorySessionStore(),
    roles: gitlabRoles({ adminGroupId: 7, financeGroupId: 8 }, rest),
    render: renderNotice,
    addressOf: () => 'somewhere',
    signInLimit: { take: () => undefined },
  });
  app = createConsoleApp({ limitEdits, read, signIn, policy, directory: async () => directory, clock, log });

  const home = aProject();
  const root = new URL('../../../../', import.meta.url).pathname;
  const env = { XDG_CONFIG_HOME: home, TOLLGATE_CONSOLE: url };
  /** Clicks what the page of a code offers: a user, or to decline. */
  const answerCode = async (page: string, as: number | string): Promise<void> => {
    const shown = await (await fetch(page)).text();
    const link = [...shown.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
    await fetch(new URL(link.find((href) => href.startsWith(`/oauth/device/${as}?`)) ?? '', page));
  };
  /** The answer of a person who sees the code, and the number of sleeps before it. */
  const login = (as: number | 'decline' | 'nobody', { afterSleeps = 1, sleepShorterMs = 0 } = {}) => {
    let [sleeps, page] = [0, ''];
    const sleep = async (ms: number): Promise<void> => {
      sleptMs += ms - (sleeps === 1 ? sleepShorterMs : 0);
      sleeps += 1;
      if (sleeps === afterSleeps && as !== 'nobody') await answerCode(page, as);
    };
    const send: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (String(input).endsWith('/signin/device'))
        page = String(((await response.clone().json()) as { verificationUri: string }).verificationUri);
      return response;
    };
    const standIns = new Map<unknown, unknown>([
      [commandFetch, () => send],
      [pause, sleep],
    ]);
    return runDesk(['login'], root, { env, nowMs: clock.nowMs, standIns });
  };
  const run = (...args: string[]) => runDesk(args, root, { env }, COMMANDS);
  const file = join(home, 'tollgate', 'sessions.json');
  const session = (): string => JSON.parse(readFileSync(file, 'utf8'))[url];
  return {
    house,
    url,
    env,
    answerCode,
    login,
    run,
    file,
    session,
    logged,
    advance: (ms: number) => (sleptMs += ms),
    slept: () => sleptMs,
  };
}
