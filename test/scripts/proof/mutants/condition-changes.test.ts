/** What is tried is every comparison, "and", "or" and "not" of a file, and nothing that is no condition. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { changedSource, conditionChanges } from '../../../../scripts/proof/mutants/condition-changes.ts';
import { isHarmless, misnamedHarmless } from '../../../../scripts/proof/mutants/harmless-changes.ts';
import { MUTANT_TARGETS } from '../../../../scripts/proof/mutants/targets.ts';
import { changeText, mutantsOf } from '../../../../scripts/proof/mutants/try-changes.ts';

const changes = (source: string): readonly string[] => conditionChanges(source).map(changeText);

test.each([
  {
    source: 'const fits = seen + amount <= bound;',
    changed: ['seen + amount <= bound → seen + amount < bound'],
  },
  { source: 'const is = (a: number): boolean => a === 1;', changed: ['a === 1 → a !== 1'] },
  {
    source: 'const is = a && !b;',
    changed: ['a && !b → a || !b', '!b → b'],
  },
  { source: 'if (isOver) end();', changed: ['if (isOver) end(); → if (!isOver) end();'] },
  { source: 'const left = isOver ? 0 : 1;', changed: ['isOver ? 0 : 1 → !isOver ? 0 : 1'] },
  { source: "numberIs(REV, '=', 1);", changed: ["numberIs(REV, '=', 1) → numberIs(REV, '>=', 1)"] },
  { source: "other(REV, '=', 1); const sum = a + b; const c = a ?? b;", changed: [] },
])('$source', ({ source, changed }) => {
  expect(changes(source)).toEqual(changed);
});

test('of a long condition what is around the change is told, so that two changes are told apart', () => {
  const source = `const is = ${'first'.repeat(10)} || ${'second'.repeat(10)} || ${'third'.repeat(10)} || last;`;
  const told = changes(source);
  expect(told[0]).toContain('first || second');
  expect(new Set(told).size).toBe(3);
  for (const each of told) expect(each.split(' → ')[0]).not.toBe(each.split(' → ')[1]);
});

test('a change is one place, and says in which line it is', () => {
  const source = 'const a = 1;\nconst b = a < 2 && a > 0;\n';
  const all = conditionChanges(source);
  expect(all.map(({ line }) => line)).toEqual([2, 2, 2]);
  expect(all.map((change) => changedSource(source, change).split('\n')[1])).toEqual([
    'const b = a <= 2 && a > 0;',
    'const b = a < 2 || a > 0;',
    'const b = a < 2 && a >= 0;',
  ]);
});

test('what is called harmless is one change of these files', () => {
  expect(misnamedHarmless(mutantsOf('.', MUTANT_TARGETS))).toEqual([]);
});

test('what is called harmless and is no change any more, or is two of them, is an error', () => {
  const all = mutantsOf('.', MUTANT_TARGETS);
  const [harmless] = all.filter(isHarmless);
  if (harmless === undefined) throw new Error('nothing is called harmless');
  expect(misnamedHarmless(all.filter((each) => each !== harmless))).toHaveLength(1);
  expect(misnamedHarmless([...all, harmless])).toHaveLength(1);
});

test('each file has conditions and tests that are there', () => {
  for (const { source, tests } of MUTANT_TARGETS) {
    expect(conditionChanges(readFileSync(source, 'utf8')).length).toBeGreaterThan(0);
    expect(tests.length).toBeGreaterThan(0);
  }
});
