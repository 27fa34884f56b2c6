import { expect, test } from 'vitest';
import { limitOfCounter } from '../../../policies/limits/limits.ts';
import { aDirectory, NOW_MS, someLimits } from '../documents.ts';

const LIMITS = someLimits(
  {
    limits: [
      { on: { group: 101 }, money: 5, per: 'month' },
      { on: { group: 104 }, minutes: 7, per: 'day', until: '2026-11-01' },
    ],
    group_defaults: [
      { groups: 'acme/**', money: 3, per: 'month' },
      { groups: 'acme/**', minutes: 4, per: 'day' },
    ],
    personal_default: [{ money: 1, per: 'month' }],
  },
  undefined,
  aDirectory,
);

test.each([
  ['group/101', 'money-month', 5_000_000, 'its own, and not the default of its kind'],
  ['group/102', 'money-month', 3_000_000, 'by the pattern of its path'],
  ['group/101', 'minutes-day', 240, 'by the pattern, of a kind it has none of'],
  ['group/190', 'money-month', 1_000_000, 'of a personal namespace, that of all of them'],
  ['group/104', 'minutes-day', 420, 'its own that is over: its counter is still its'],
  ['group/777', 'money-month', undefined, 'none of a group that nobody knows'],
  ['project/1', 'money-month', undefined, 'none of a project, which has no defaults'],
])('%s %s: %s, %s', (subject, limit, amount, _guarantee) => {
  expect(limitOfCounter({ subject, limit }, LIMITS, aDirectory, NOW_MS)?.amount).toBe(amount);
});
