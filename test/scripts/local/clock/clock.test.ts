import { afterEach, expect, test, vi } from 'vitest';
import { fastClock } from '../../../../scripts/local/clock.ts';

afterEach(() => void vi.useRealTimers());

test('a clock that slows down goes on from where it was, at the usual pace', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'] });
  const clock = fastClock(600);
  const startMs = clock.nowMs();
  vi.advanceTimersByTime(1_000);
  expect(clock.nowMs() - startMs).toBe(600_000);
  clock.slowDown();
  expect(clock.nowMs() - startMs).toBe(600_000);
  vi.advanceTimersByTime(1_000);
  expect(clock.nowMs() - startMs).toBe(601_000);
});
