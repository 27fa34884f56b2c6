import { expect, test } from 'vitest';
import { groupSum, type UsedInMonth } from '../../../../functions/core/usage/sums.ts';

const used = (settledMicros: number, heldMicros = 0): UsedInMonth => ({
  ...{ settledMicros, heldMicros, seconds: settledMicros * 60, jobs: 1 },
});

test('listed groups and the rest come to the total, in every amount', () => {
  const listed = [used(60, 5), used(15)];
  const { total, rest, restLabel } = groupSum('group/1', used(100, 9), listed, 2);
  for (const amount of ['settledMicros', 'heldMicros', 'seconds', 'jobs'] as const)
    expect(listed.reduce((sum, each) => sum + each[amount], rest[amount])).toBe(total[amount]);
  expect(restLabel).toBe('Projects right in this group');
});

test.each([
  { total: used(70), below: 3, label: 'Other groups, and projects right in this group' },
  { total: used(50), below: 1, label: 'Used in other groups, before groups were moved here' },
])('the rest has the name of what it is: $label', ({ total, below, label }) => {
  expect(groupSum('group/1', total, [used(60)], below).restLabel).toBe(label);
});
