import { expect, test } from 'vitest';
import type { Reason } from '../../../policies/reason.ts';
import { retryAdvice } from '../../../policies/text/reason-texts.ts';
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

test.each([
  ['45s', '45 seconds'],
  ['90s', '1 minutes'],
  ['2h', '120 minutes'],
])('a job over %s is told to set a timeout that passes', (max, written) => {
  const [reason] = reasonsOf(timeout({ max }), { timeoutSeconds: 86_400 });
  expect(reason && retryAdvice(reason as Reason, 'all', 0)[0]).toContain(`timeout: ${written}`);
});
