import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LIMITS } from '../../../functions/console/house.ts';
import { FRITZ, openConsole, VERA } from './sign-in-console.ts';

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
