import { expect, test } from 'vitest';
import { problemsOf, reasonsOf } from './checking.ts';

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

test.each<[object, string]>([
  [{}, 'rules[0].max: missing; expected a duration such as 90s, 10m or 2h, at most 31d'],
  [{ max: 3_600 }, 'rules[0].max: 3600; expected a duration such as 90s, 10m or 2h, at most 31d'],
  [{ max: '0s' }, "rules[0].max: '0s'; expected a duration such as 90s, 10m or 2h, at most 31d"],
  [{ max: '32d' }, "rules[0].max: '32d'; expected a duration such as 90s, 10m or 2h, at most 31d"],
])('%j is refused: %s', (rule, problem) => {
  expect(problemsOf(timeout(rule))).toEqual([problem]);
});
