import { expect, test } from 'vitest';
import { keepLatest } from '../../policies/keep-latest.ts';

test('beyond so many, what was put longest ago goes, and what is put again stays', () => {
  const kept = new Map<string, number>();
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    keepLatest(kept, key, value, 2);
  expect([...kept]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
