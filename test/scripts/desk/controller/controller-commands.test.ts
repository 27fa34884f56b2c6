import { expect, test } from 'vitest';
import type { CommandEntry } from '../../../../scripts/desk/commands.ts';
import * as commands from '../../../../scripts/desk/controller/controller-command.ts';
import { createRunnerControllers } from '../../../../scripts/desk/controller/runner-controllers.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { type FakeController, fakeRunnerControllers } from './fake-runner-controllers.ts';

const ONE: FakeController = { id: 7, description: 'tollgate', state: 'dry_run', connected: true };

function aDesk(...controllers: readonly FakeController[]) {
  const gitlab = fakeRunnerControllers(controllers);
  const open: commands.OpenControllers = ({ baseUrl, token }) =>
    createRunnerControllers({ baseUrl, token: async () => token, ...gitlab.deps });
  const entries: readonly CommandEntry[] = [
    commands.statusCommandOn(open),
    commands.enableCommandOn(open),
    commands.dryRunCommandOn(open),
    commands.disableCommandOn(open),
  ].map((command) => ({ name: command.name, summary: command.summary, load: async () => command }));
  const root = aProject({ token: 'glpat-administrator\n' });
  const run = (...words: readonly string[]) =>
    runDesk(
      ['controller', ...words, '--gitlab', 'https://gitlab.example.com', '--token-file', 'token'],
      root,
      {},
      entries,
    );
  return { gitlab, run };
}

test.each([
  ['dry-run', 'enabled', 'dry_run'],
  ['disable', 'enabled', 'disabled'],
  ['enable', 'dry_run', 'enabled'],
] as const)('%s makes a controller that is %s %s', async (word, before, after) => {
  const { gitlab, run } = aDesk({ ...ONE, state: before });
  const { code, out } = await run(word);
  expect({ code, state: gitlab.stateOf(7) }).toEqual({ code: 0, state: after });
  expect(out).toContain(`Runner controller 7 "tollgate" is ${after}`);
});

test('arming is refused while no relay is connected, and nothing is changed', async () => {
  const { gitlab, run } = aDesk({ ...ONE, connected: false });
  const { code, err } = await run('enable');
  expect({ code, state: gitlab.stateOf(7) }).toEqual({ code: 2, state: 'dry_run' });
  expect(err).toContain('--without-relay');
  expect((await run('enable', '--without-relay')).code).toBe(0);
  expect(gitlab.stateOf(7)).toBe('enabled');
});

test('among several controllers the wrong one is never changed: the number must be told', async () => {
  const { gitlab, run } = aDesk({ ...ONE, state: 'enabled' }, { ...ONE, id: 8, state: 'enabled' });
  const { code, err } = await run('dry-run');
  expect(code).toBe(3);
  expect(err).toContain(
    '--controller is missing: GitLab has several, 7 "tollgate" enabled, 8 "tollgate" enabled',
  );
  expect((await run('dry-run', '--controller', '8')).code).toBe(0);
  expect([gitlab.stateOf(7), gitlab.stateOf(8)]).toEqual(['enabled', 'dry_run']);
});

test('status changes nothing and tells the state as JSON', async () => {
  const { gitlab, run } = aDesk(ONE);
  const { code, out } = await run('status', '--json');
  expect({ code, said: JSON.parse(out) }).toEqual({ code: 0, said: ONE });
  expect(gitlab.changes()).toBe(0);
});

test('a token without rights is told what it needs, and never shown', async () => {
  const { gitlab, run } = aDesk(ONE);
  gitlab.refuseChanges();
  const { code, err } = await run('disable');
  expect(code).toBe(1);
  expect(err).toContain('the token needs the scope api and an administrator');
  expect(err).not.toContain('glpat');
});

test('a GitLab that answers yes and changes nothing is not believed', async () => {
  const { gitlab, run } = aDesk({ ...ONE, state: 'enabled' });
  gitlab.ignoreChanges();
  const { code, err } = await run('dry-run');
  expect(code).toBe(1);
  expect(err).toContain('it is still enabled');
});

test('without a licence GitLab has no such API: the message says where to look', async () => {
  const { code, err } = await aDesk().run('status', '--controller', '7');
  expect(code).toBe(1);
  expect(err).toContain('the licence');
});
