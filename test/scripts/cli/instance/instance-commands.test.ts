import { expect, test } from 'vitest';
import type { InstanceRegister, KnownInstance } from '../../../../functions/core/ledger/instances.ts';
import type { InstanceTable } from '../../../../functions/core/store/operation.ts';
import { openRegister } from '../../../../scripts/cli/open-ledger.ts';
import { forgetInstance } from '../../../../scripts/cli/tables/instances.ts';
import { aProject, runDesk } from '../desk-run.ts';

function aRegister(...names: readonly string[]) {
  const known = new Map<string, KnownInstance>(
    names.map((instance) => [instance, { instance, openedAtMs: 0, gitlabUrl: `https://${instance}` }]),
  );
  const register: InstanceRegister = {
    list: async () => [...known.values()],
    remember: async (each) => void known.set(each.instance, each),
  };
  const open = async () => ({
    register,
    table: {} as InstanceTable,
    description: 'table books',
    close: async () => {},
  });
  const standIns = new Map<unknown, unknown>([
    [openRegister, open],
    [forgetInstance, async (instance: string) => void known.delete(instance)],
  ]);
  const run = (...args: readonly string[]) => runDesk(args, aProject(), { standIns });
  return { run, names: () => [...known.keys()] };
}

test('instance ls names whose books a table has', async () => {
  const { run } = aRegister('gitlab.old.com');
  expect((await run('instance', 'ls')).out).toMatch(/gitlab\.old\.com\s+https:\/\/gitlab\.old\.com/);
  expect((await aRegister().run('instance', 'ls')).out).toContain('knows no GitLab yet');
});

test('instance add lets another GitLab begin, once', async () => {
  const { run, names } = aRegister('gitlab.old.com');
  expect(await run('instance', 'add', 'gitlab.other.com')).toMatchObject({ code: 0 });
  expect(names()).toEqual(['gitlab.old.com', 'gitlab.other.com']);
  expect(await run('instance', 'add', 'gitlab.other.com')).toMatchObject({ code: 3 });
  for (const host of [[], ['https://gitlab.com'], ['a#b']]) {
    expect(await run('instance', 'add', ...host)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/expected (?:a host|<host>)/),
    });
  }
});

test('instance forget takes a mistake back, but not the last name', async () => {
  const { run, names } = aRegister('gitlab.typo.com', 'gitlab.right.com');
  expect(await run('instance', 'forget', 'gitlab.nobody.com')).toMatchObject({ code: 3 });
  expect(await run('instance', 'forget', 'gitlab.typo.com')).toMatchObject({ code: 0 });
  expect(await run('instance', 'forget', 'gitlab.right.com')).toMatchObject({ code: 3 });
  expect(names()).toEqual(['gitlab.right.com']);
});
