import { expect, test } from 'vitest';
import { aPolicy } from '../documents.ts';
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

test('the reason has both timeouts and the runner class', () => {
  expect(reasonsOf(timeout({ max: '1h' }), { timeoutSeconds: 7_200, runnerTags: ['large'] })).toEqual([
    { code: 'TIMEOUT_TOO_LONG', timeoutSeconds: 7_200, timeoutSecondsMax: 3_600, runnerClass: 'large' },
  ]);
});

test.each([{}, { timeoutSeconds: 0 }])('no timeout is a missing field, not a short one: %j', (request) => {
  expect(reasonsOf(timeout({ max: '1h' }), request)).toEqual([
    { code: 'FIELD_MISSING', field: 'timeoutSeconds' },
  ]);
});

test('a long timeout costs money: its class is cost unless the rule says otherwise', () => {
  const classOf = (rule: object): string | undefined =>
    aPolicy({ rules: [{ id: 't', mode: 'enforce', kind: 'timeout', max: '1h', ...rule }] }).rules[0]?.class;
  expect(classOf({})).toBe('cost');
  expect(classOf({ class: 'security' })).toBe('security');
});

test.each<[object, string]>([
  [{}, 'rules[0].max: missing; expected a duration such as 90s, 10m or 2h, at most 31d'],
  [{ max: 3_600 }, 'rules[0].max: 3600; expected a duration such as 90s, 10m or 2h, at most 31d'],
  [{ max: '0s' }, "rules[0].max: '0s'; expected a duration such as 90s, 10m or 2h, at most 31d"],
  [{ max: '32d' }, "rules[0].max: '32d'; expected a duration such as 90s, 10m or 2h, at most 31d"],
])('%j is refused: %s', (rule, problem) => {
  expect(problemsOf(timeout(rule))).toEqual([problem]);
});
