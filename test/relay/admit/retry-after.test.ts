import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../relay/admit/admit-call.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);

test.each([
  ['0', 0],
  ['2', 2_000],
  [' 120 ', 120_000],
  ['Sun, 22 Nov 2026 12:00:05 GMT', 5_000],
  ['Sun, 22 Nov 2026 11:59:00 GMT', 0],
  ['99999999', 31_536_000_000],
  ['999999999999', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('%j asks for %s ms', (header, ms) => {
  expect(retryAfterMs(header, NOW_MS)).toBe(ms);
});
