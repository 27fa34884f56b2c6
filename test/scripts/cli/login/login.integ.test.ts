/** The real console over HTTP, with a GitLab beside it and a clock that only sleeping moves. */
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { createSignIn } from '../../../../functions/core/signin/create-sign-in.ts';
import { gitlabRoles } from '../../../../functions/core/signin/gitlab-roles.ts';
import { commandFetch } from '../../../../scripts/cli/command-fetch.ts';
import { COMMANDS } from '../../../../scripts/cli/commands.ts';
import { startSignInGitLab } from '../../../../scripts/local/gitlab/sign-in-gitlab.ts';
import { serveOnLoopback } from '../../../../scripts/local/loopback.ts';
import { consoleHouse, LIMITS } from '../../../functions/console/house.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';
import { aProject, runDesk } from '../desk-run.ts';

const FRITZ = {
  id: 42,
  username: 'fritz',
  name: 'Fritz',
  memberships: [{ groupId: 8, path: 'finance', level: 30 }],
};
const VERA = {
  id: 43,
  username: 'vera',
  name: 'Vera',
  memberships: [{ groupId: 101, path: 'acme/payments', level: 30 }],
};

async function openConsole({ isConfigured = true } = {}) {
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
    addressOf: () => 'somewhere',
    signInLimit: { take: () => undefined },
  });
  app = createConsoleApp({ limitEdits, read, signIn, policy, directory: async () => directory, clock, log });

  const home = aProject();
  const root = new URL('../../../../', import.meta.url).pathname;
  const env = { XDG_CONFIG_HOME: home, TOLLGATE_CONSOLE: url };
  /** What people say when they are shown the code; after how many sleeps. */
  const login = (as: number | 'decline' | 'nobody', { afterSleeps = 1, sleepShorterMs = 0 } = {}) => {
    let [sleeps, page] = [0, ''];
    const sleep = async (ms: number): Promise<void> => {
      sleptMs += ms - (sleeps === 1 ? sleepShorterMs : 0);
      sleeps += 1;
      if (sleeps !== afterSleeps || as === 'nobody') return;
      const shown = await (await fetch(page)).text();
      const link = [...shown.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
      await fetch(new URL(link.find((href) => href.startsWith(`/oauth/device/${as}?`)) ?? '', page));
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
    login,
    run,
    file,
    session,
    logged,
    advance: (ms: number) => (sleptMs += ms),
    slept: () => sleptMs,
  };
}

test('who allows the code in GitLab is signed in with the roles of the page, and the session is shown to nobody', async () => {
  const { house, url, login, run, file, session, logged } = await openConsole();
  const done = await login(FRITZ.id, { afterSleeps: 3 });
  expect(done).toMatchObject({ code: 0, out: `Signed in to ${url} as fritz (finance, viewer).\n` });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(`${done.out}${done.err}${logged.join('\n')}`).not.toContain(session());

  const listed = await run('budget', 'ls', '--json');
  expect(listed.code, listed.err).toBe(0);
  expect(JSON.parse(listed.out).limits).toHaveLength(LIMITS.length);
  const shown = await run('budget', 'show', 'acme/payments');
  expect(shown, shown.err).toMatchObject({ code: 0 });
  for (const command of [['rollout'], ['coverage'], ['breakglass', 'ls'], ['budget', 'requests']]) {
    const told = await run(...command);
    expect(told, `${command.join(' ')}: ${told.err}`).toMatchObject({ code: 0 });
  }
  const month = new Date(house.clock.nowMs()).toISOString().slice(0, 7);
  const stated = await run('statement', '--month', month, '--group', 'acme/payments');
  expect(stated, stated.err).toMatchObject({ code: 0 });
  expect(listed.out + shown.out).not.toContain(session());
});

test.each([
  ['decline', /declined in GitLab/],
  ['nobody', /in time|no longer knows/],
] as const)('%s: nobody is signed in', async (as, sentence) => {
  const { login, run } = await openConsole();
  const refused = await login(as);
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(sentence);
  expect((await run('budget', 'ls')).err).toContain('tollgate login');
});

test('signing out ends the session at the console, too; it outlasts a break, but not ten hours', async () => {
  const { url, login, run, session, advance } = await openConsole();
  const asked = (bearer: string) =>
    fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${bearer}` } }).then(
      ({ status }) => status,
    );
  await login(FRITZ.id);
  const first = session();
  advance(3 * 3_600_000);
  expect(await asked(first)).toBe(200);
  expect(await run('logout')).toMatchObject({ code: 0, out: `Signed out of ${url}.\n` });
  expect(await run('logout')).toMatchObject({ code: 0, out: `Not signed in to ${url} here.\n` });
  expect(await asked(first)).toBe(401);
  await login(FRITZ.id);
  advance(10 * 3_600_000);
  expect(await asked(session())).toBe(401);
});

test('logout --all ends every session of the person, in terminals and browsers, and nobody else’s', async () => {
  const { login, run, session, url } = await openConsole();
  const asked = async (with_: string) =>
    (await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${with_}` } })).status;
  await login(VERA.id);
  const others = session();
  await login(FRITZ.id);
  const first = session();
  await login(FRITZ.id);
  const second = session();
  expect(await run('logout', '--all')).toMatchObject({ code: 0, out: `Signed out of ${url}, everywhere.\n` });
  expect(await Promise.all([first, second, others].map(asked))).toEqual([401, 401, 200]);
  // Whoever is not signed in here is nobody the console knows.
  expect(await run('logout', '--all')).toMatchObject({ code: 3 });
});

test('a console that nobody set up for it says so, and one in the clear is not asked', async () => {
  const { login, run } = await openConsole({ isConfigured: false });
  expect((await login(FRITZ.id)).err).toContain('deviceClientId');
  expect(await run('login', 'http://budget.example.com')).toMatchObject({ code: 3 });
  expect(await run('rebuild', '--console', 'https://budget.example.com')).toMatchObject({ code: 3 });
});
