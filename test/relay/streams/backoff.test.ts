import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STATUS } from '../../../relay/router/router.ts';
import { backoffMs, remedyFor } from '../../../relay/streams/backoff.ts';
import { fullAllowance, spend } from '../../../relay/streams/entrance.ts';

const span = (code: number, attempt: number) => [
  backoffMs(code, attempt, () => 0),
  backoffMs(code, attempt, () => 1),
];

test.each([
  { code: STATUS.UNAVAILABLE, attempt: 1, ms: [100, 200], guarantee: 'a lost router is tried again soon' },
  { code: STATUS.UNAVAILABLE, attempt: 4, ms: [100, 1_600], guarantee: 'the span doubles' },
  { code: STATUS.UNAVAILABLE, attempt: 20, ms: [100, 2_000], guarantee: 'two seconds are the most' },
  { code: 13, attempt: 1, ms: [100, 200], guarantee: 'unknown failures are treated like a lost router' },
  {
    code: STATUS.RESOURCE_EXHAUSTED,
    attempt: 1,
    ms: [10_000, 20_000],
    guarantee: 'a full router is left alone for ten',
  },
  {
    code: STATUS.RESOURCE_EXHAUSTED,
    attempt: 9,
    ms: [10_000, 60_000],
    guarantee: 'and for a minute at the most',
  },
  {
    code: STATUS.UNAUTHENTICATED,
    attempt: 1,
    ms: [30_000, 60_000],
    guarantee: 'a refused token is tried slowly',
  },
  { code: STATUS.PERMISSION_DENIED, attempt: 9, ms: [30_000, 60_000], guarantee: 'and not ever more slowly' },
  { code: STATUS.NOT_FOUND, attempt: 1, ms: [30_000, 60_000], guarantee: 'an unknown controller likewise' },
  {
    code: STATUS.UNIMPLEMENTED,
    attempt: 1,
    ms: [60_000, 120_000],
    guarantee: 'a router without the method needs an update',
  },
  {
    code: STATUS.INVALID_ARGUMENT,
    attempt: 1,
    ms: [1_000, 2_000],
    guarantee: 'our own mistake does not loop hot',
  },
])('code $code, attempt $attempt waits $ms ms: $guarantee', ({ code, attempt, ms }) => {
  expect(span(code, attempt)).toEqual(ms);
});

test('no code and no attempt ever waits less than 100 ms or more than 5 min', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (code, attempt, random) => {
        const ms = backoffMs(code, attempt, () => random);
        expect(ms).toBeGreaterThanOrEqual(100);
        expect(ms).toBeLessThanOrEqual(300_000);
      },
    ),
  );
});

test('what only an operator can mend comes with its remedy', () => {
  expect(remedyFor(STATUS.UNIMPLEMENTED)).toMatch(/update GitLab.*proto:sync.*--proto/);
  expect(remedyFor(STATUS.UNAUTHENTICATED)).toMatch(/token/);
  expect(remedyFor(STATUS.UNAVAILABLE)).toBeUndefined();
});

test('brief ends are free for a restart of the router and not for a loop', () => {
  let allowance = fullAllowance(0);
  const spendAt = (nowMs: number): boolean => {
    const left = spend(allowance, nowMs);
    if (left !== undefined) allowance = left;
    return left !== undefined;
  };
  expect(Array.from({ length: 40 }, () => spendAt(0)).filter(Boolean)).toHaveLength(32);
  expect(spendAt(99)).toBe(false);
  expect(spendAt(100)).toBe(true);
  expect(spendAt(100)).toBe(false);
});
