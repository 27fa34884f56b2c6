import { expect, test } from 'vitest';
import { UsageError } from '../../../scripts/terminal/command.ts';
import { optionalWord, parseInput, text, texts, toggle, whole } from '../../../scripts/terminal/define.ts';

const FLAGS = {
  policy: text('<file>', ''),
  tag: texts('<tag>', ''),
  force: toggle(''),
  max: text('<n>', '', whole(1, 100)),
};
const read = (...args: readonly string[]) =>
  parseInput(args, FLAGS, { folder: optionalWord('<folder>', '') }, 'a folder');

test.each([
  [
    ['dir', '--policy', 'p', '--tag=a', '--force', '--tag', 'b'],
    { policy: 'p', tag: ['a', 'b'], force: true, json: false },
    'dir',
  ],
  [['--json'], { policy: undefined, tag: [], force: false, json: true }, undefined],
  [['--', '--force'], { force: false }, '--force'],
  [['--policy=--x'], { policy: '--x' }, undefined],
])('%j is read', (args, flags, folder) => {
  const input = read(...args);
  expect(input.flags).toMatchObject(flags);
  expect(input.words.folder).toBe(folder);
});

test.each<readonly [args: readonly string[], message: string]>([
  [['--polciy', 'p'], '--polciy: is no flag of this command; did you mean --policy?'],
  [['--zzz'], '--zzz: is no flag of this command; expected --policy, --tag, --force, --max, --json'],
  [['-f'], '-f: is no flag of this command'],
  [['--no-force'], '--no-force: is no flag of this command'],
  [['--policy'], '--policy: expected a value after it'],
  [['--policy', '--force'], '--policy: expected a value after it'],
  [['--policy='], '--policy: expected a value that is not empty'],
  [['--policy', 'a', '--policy', 'b'], '--policy: is given twice; expected it once'],
  [['--force=yes'], '--force=yes: --force takes no value'],
  [['a', 'b', 'c'], '"b" "c": expected a folder'],
  [['--__proto__', 'x'], '--__proto__: is no flag of this command'],
  ...['0', '101', '1.5', '-1', '1e2', ' 5'].map(
    (max) => [[`--max=${max}`], `--max "${max}": expected a whole number from 1 to 100`] as const,
  ),
])('%j is refused with its remedy', (args, message) => {
  expect(() => read(...args)).toThrow(UsageError);
  expect(() => read(...args)).toThrow(message);
});
