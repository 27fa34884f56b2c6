import { expect, test } from 'vitest';
import { reasonsOf } from './checking.ts';

const timeout = (rule: object): object => ({ kind: 'timeout', ...rule });

test.each<[string, number, boolean, string]>([
  ['2h', 7_200, true, 'a job with exactly the longest timeout passes'],
  ['2h', 7_201, false, 'one second more does not'],
  ['1h 30m', 5_400, true, 'units add up'],
  ['1h 30m', 5_401, false, 'and no further'],
  ['31d', 31 * 86_400, true, 'a month is the longest there is'],
  ['1s', 1, true, 'a second the shortest'],
])('max %s on %i s passes: %s: %s', (max, timeoutSeconds, passes) => {
  expect(reasonsOf(timeout({ max }), { timeoutSeconds })).toHaveLength(passes ? 0 : 1);
});
