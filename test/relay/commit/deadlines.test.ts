import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadlines, SPAN_MS } from '../../../relay/commit/deadlines.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';

test('a deadline runs early by less than a span, never late, whatever else was asked for', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 3_000, noNaN: true }), { minLength: 1, maxLength: 40 }),
      (delays) => {
        const clock = handClock(1_000);
        const deadlines = new Deadlines(clock);
        const startMs = clock.monotonicMs();
        const ran = delays.map((): number[] => []);
        for (const [index, delayMs] of delays.entries())
          deadlines.at(startMs + delayMs, () => ran[index]?.push(clock.monotonicMs() - startMs));
        clock.advance(4_000);
        for (const [index, delayMs] of delays.entries()) {
          expect(ran[index]).toHaveLength(1);
          const atMs = ran[index]?.[0] ?? Number.NaN;
          expect(atMs).toBeLessThanOrEqual(delayMs);
          expect(atMs).toBeGreaterThan(delayMs - SPAN_MS);
        }
        expect(clock.timers).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});

test('ten thousand deadlines share one timer', () => {
  const clock = handClock(1_000);
  const deadlines = new Deadlines(clock);
  let ran = 0;
  for (let index = 0; index < 10_000; index += 1) {
    deadlines.at(clock.monotonicMs() + 100 + (index % 500), () => {
      ran += 1;
    });
  }
  expect(clock.timers).toBe(1);
  clock.advance(600);
  expect(ran).toBe(10_000);
});

test('a timer that fires early runs nothing before its span and is set again', () => {
  const clock = handClock(1_000);
  const early = {
    ...bound(clock),
    after: (ms: number, run: () => void) => clock.after(Math.max(1, ms - 3), run),
  };
  const ran: number[] = [];
  const startMs = clock.monotonicMs();
  new Deadlines(early).at(startMs + 110, () => ran.push(clock.monotonicMs() - startMs));
  clock.advance(200);
  expect(ran).toEqual([100]);
});

const bound = (clock: HandClock) => ({
  nowMs: () => clock.nowMs(),
  monotonicMs: () => clock.monotonicMs(),
});
