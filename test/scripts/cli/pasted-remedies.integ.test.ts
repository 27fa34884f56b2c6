/** Commands that Tollgate prints are pasted into a shell: in a folder with a space in its name, too. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { cloneHere } from '../../support/clone.ts';

const argumentsOf = (command: string): readonly string[] =>
  spawnSync('sh', ['-c', `npm() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' })
    .stdout.trimEnd()
    .split('\n');

test.each(['token', 'my folder/token', "it's $HOME/`x`", '~/token', ''])(
  'a shell reads %j as it is',
  (path) => {
    expect(argumentsOf(`npm ${shellWord(path)}`)).toEqual([path]);
  },
);

test('an edit on new books prints the command that makes it possible, and a shell runs it', async () => {
  using clone = cloneHere();
  expect((await clone.sh('npm start --silent -- --jobs 1 --rate 100 --json')).code).toBe(0);
  const edit = 'npx tollgate rollout back instance --to shadow --reason "we only watch"';
  const refused = await clone.sh(edit);
  const [remedy = ''] = /npx tollgate limits publish .*?--why "[^"]*"/.exec(refused.err) ?? [];
  expect({ ...refused, remedy }).toMatchObject({ code: 1, remedy: expect.stringContaining('limits.yaml') });
  expect(await clone.sh(remedy)).toMatchObject({ code: 0, err: '' });
  expect(await clone.sh(edit)).toMatchObject({ code: 0 });
});
