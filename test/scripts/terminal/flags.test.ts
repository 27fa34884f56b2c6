import { expect, test } from 'vitest';
import { UsageError } from '../../../scripts/terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../../scripts/terminal/flags.ts';

const SPEC = { policy: 'text', tag: 'texts', force: 'switch' } as const;
const WORDS = { max: 1, what: 'a folder' };

test('flags and words are read in any order, with a blank or with =', () => {
  expect(readFlags(['dir', '--policy', 'p', '--tag=a', '--force', '--tag', 'b'], SPEC, WORDS)).toEqual({
    values: { policy: 'p', tag: ['a', 'b'], force: true, json: false },
    words: ['dir'],
  });
});

test('what was not given is absent, empty or off', () => {
  expect(readFlags([], SPEC)).toEqual({
    values: { policy: undefined, tag: [], force: false, json: false },
    words: [],
  });
});

test('every command knows --json', () => {
  expect(readFlags(['--json'], {}).values.json).toBe(true);
});

test('after -- nothing is a flag', () => {
  expect(readFlags(['--', '--force'], SPEC, WORDS)).toMatchObject({
    words: ['--force'],
    values: { force: false },
  });
});

test('a value that begins with dashes is written with =', () => {
  expect(readFlags(['--policy=--x'], SPEC).values.policy).toBe('--x');
});

test.each([
  [['--polciy', 'p'], '--polciy: is no flag of this command; did you mean --policy?'],
  [['--zzz'], '--zzz: is no flag of this command; expected --policy, --tag, --force, --json'],
  [['-f'], '-f: is no flag of this command'],
  [['--no-force'], '--no-force: is no flag of this command'],
  [['--policy'], '--policy: expected a value after it'],
  [['--policy', '--force'], '--policy: expected a value after it'],
  [['--policy='], '--policy: expected a value that is not empty'],
  [['--policy', 'a', '--policy', 'b'], '--policy: is given twice; expected it once'],
  [['--force=yes'], '--force=yes: --force takes no value'],
  [['a', 'b', 'c'], '"b" "c": expected a folder'],
  [['--__proto__', 'x'], '--__proto__: is no flag of this command'],
])('%j is refused with its remedy', (args, message) => {
  expect(() => readFlags(args, SPEC, WORDS)).toThrow(UsageError);
  expect(() => readFlags(args, SPEC, WORDS)).toThrow(message);
});

test.each(['0', '101', '1.5', '-1', '1e2', '', ' 5'])('%j is no whole number from 1 to 100', (text) => {
  expect(() => readWhole('coverage-min', text, 1, 100)).toThrow(
    `--coverage-min "${text}": expected a whole number from 1 to 100`,
  );
});

test('a choice is one of its words', () => {
  expect(readChoice('format', 'csv', ['csv', 'html'])).toBe('csv');
  expect(() => readChoice('format', 'pdf', ['csv', 'html'])).toThrow('--format "pdf": expected csv, html');
});
