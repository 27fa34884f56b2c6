/** Every pitfall has a test that runs: a name that disappears, or is only skipped, is told here. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COVERED_ELSEWHERE } from './covered-elsewhere.ts';
import { PITFALLS } from './list.ts';

const root = new URL('../', import.meta.url);

const textOf = (file: string): string => {
  const url = new URL(file, root);
  return existsSync(url) ? readFileSync(url, 'utf8') : '';
};

/** `test('name`, `])('name` of a table, or `['name`, a row of one; nothing that is skipped or to be done. */
function names(text: string, name: string, whole: boolean): boolean {
  const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?:\\btest\\(|\\)\\(|\\[)\\s*(['"\`])${quoted}${whole ? '\\1' : ''}`).test(text);
}

const all = Object.entries(PITFALLS).flatMap(([kind, pitfalls]) =>
  pitfalls.map((pitfall) => ({ kind, pitfall })),
);

test.each(all)(
  '$kind: "$pitfall" is the name of a test here, or of one that is listed',
  ({ kind, pitfall }) => {
    const here = names(textOf(`pitfalls/${kind}.test.ts`), pitfall, false);
    const elsewhere = COVERED_ELSEWHERE.some((each) => each.pitfall === pitfall);
    expect(here || elsewhere).toBe(true);
  },
);

test.each(COVERED_ELSEWHERE)('"$pitfall" is proved by a test that is still in $file: $test', (covered) => {
  expect(all.map(({ pitfall }) => pitfall)).toContain(covered.pitfall);
  expect(textOf(covered.file)).not.toBe('');
  expect(names(textOf(covered.file), covered.test, true)).toBe(true);
});

test('a test that is gone, skipped or only mentioned is not found', () => {
  const text =
    "test('a b', f);\ntest.skip('c', f);\n// d\ntest.each([\n  ['e', 1],\n])('f %s', g);\ntest(\n  'h i',\n";
  const found = ['a b', 'c', 'd', 'e', 'f %s', 'h i'].filter((name) => names(`${text}'`, name, true));
  expect(found).toEqual(['a b', 'e', 'f %s', 'h i']);
  expect(names(text, 'a', true)).toBe(false);
  expect(names(text, 'a', false)).toBe(true);
});
