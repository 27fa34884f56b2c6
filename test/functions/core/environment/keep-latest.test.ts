import { expect, test } from 'vitest';
import { keepLatest as keepLatestOfService } from '../../../../functions/core/environment/keep-latest.ts';
import { keepNewest as keepLatestOfRelay } from '../../../../relay/keep-newest.ts';

test.each([
  ['service', keepLatestOfService],
  ['relay', keepLatestOfRelay],
])('%s: beyond so many, what was put longest ago goes, and what is put again stays', (_, keepLatest) => {
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
