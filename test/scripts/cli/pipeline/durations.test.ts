import { expect, test } from 'vitest';
import { parseDuration } from '../../../../scripts/cli/pipeline/durations.ts';

test.each([
  ['1h 30m', 5_400],
  ['60m', 3_600],
  ['1 hour 30 minutes', 5_400],
  ['1h30m', 5_400],
  ['20 minutes', 1_200],
  ['3 hours and 5 mins', 11_100],
  ['2 days, 1 hour', 176_400],
  ['1 week', 604_800],
  ['1.5 hours', 5_400],
  ['45', 45],
  [3_600, 3_600],
  ['soon', undefined],
  ['', undefined],
  ['5 parsecs', undefined],
  ['1h or so', undefined],
])('%j is %j seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});
