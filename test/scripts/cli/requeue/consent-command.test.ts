import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ssmSecretStore } from '../../../../scripts/cli/gitlab/secret-store.ts';
import { readStandardInput } from '../../../../scripts/cli/jobs/requeue.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';
import { ledgerBench } from '../ledger-bench.ts';

const TOKEN = 'glpat-of-payments';

function house(name = 'requeue consent') {
  const bench = ledgerBench({ limits: [] });
  writeFileSync(join(bench.folder, 'token'), `${TOKEN}\n`);
  const kept = new Map<string, string>();
  const store = (path: string) => ({
    place: (name: string) => `ssm:${path}/${name}`,
    write: async (name: string, value: string) => void kept.set(`${path}/${name}`, value),
  });
  const input = () => 'not a token at all';
  const run = (...args: string[]) =>
    bench.run(name, args, {
      more: [
        [ssmSecretStore, store],
        [readStandardInput, input],
      ],
    });
  return { run, kept };
}

const PATH = ['--tokens', '/tollgate/prod/requeue'];

test('a token is kept by the number of the group, and never shown', async () => {
  const { run, kept } = house();
  const { code, out } = await run('acme/payments', ...PATH, '--token-from', 'token');
  expect([...kept]).toEqual([['/tollgate/prod/requeue/101', TOKEN]]);
  expect([code, out]).toEqual([0, 'kept in ssm:/tollgate/prod/requeue/101\n']);
});

test.each([
  [[], /expected one group/],
  [['acme/nobody', ...PATH, '--token-from', 'token'], /"acme\/nobody" is not in the directory/],
  [['101', '--tokens', 'requeue', '--token-from', 'token'], /--tokens "requeue"/],
  [['101', ...PATH], /--token-from is missing: expected a file with the token/],
  [['101', ...PATH, '--token-from', '-'], /the input is not a token/],
])('%j keeps nothing and says why', async (args, says) => {
  const { run, kept } = house();
  const failing = run(...args);
  await expect(failing).rejects.toBeInstanceOf(UsageError);
  await expect(failing).rejects.toThrow(says);
  expect(kept.size).toBe(0);
});

test('the token for notes is another one, with the same care', async () => {
  const { run, kept } = house('notes consent');
  const told = await run('acme/payments', '--tokens', '/tollgate/prod/notes', '--token-from', 'token');
  expect([...kept]).toEqual([['/tollgate/prod/notes/101', TOKEN]]);
  expect(told).toMatchObject({ code: 0, out: expect.not.stringContaining(TOKEN) });
  await expect(run('101', '--tokens', 'notes', '--token-from', 'token')).rejects.toThrow(
    'expected a path such as /tollgate/prod/notes',
  );
});
