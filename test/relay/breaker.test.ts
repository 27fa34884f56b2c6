import { expect, test } from 'vitest';
import {
  admitCall,
  type BreakerState,
  CLOSED,
  COOLDOWN_MS_MAX,
  COOLDOWN_MS_MIN,
  callFailed,
  callSucceeded,
  createBreaker,
  FAILURES_MAX,
} from '../../relay/breaker.ts';

const NOW_MS = 1_000;
const closed = (failures: number): BreakerState => ({ name: 'closed', failures });
const open = (cooldownMs: number, untilMs = NOW_MS + cooldownMs): BreakerState => ({
  name: 'open',
  untilMs,
  cooldownMs,
});
const halfOpen = (cooldownMs: number): BreakerState => ({ name: 'half_open', cooldownMs });

test('the bounds are those of the design: five failures, 5 s, 30 s', () => {
  expect([FAILURES_MAX, COOLDOWN_MS_MIN, COOLDOWN_MS_MAX]).toEqual([5, 5_000, 30_000]);
});

test.each([
  { from: closed(0), to: closed(1), guarantee: 'one failure opens nothing' },
  { from: closed(3), to: closed(4), guarantee: 'four failures open nothing' },
  { from: closed(4), to: open(5_000), guarantee: 'the fifth opens it for 5 s' },
  { from: open(5_000, 3_000), to: open(5_000, 3_000), guarantee: 'a straggler lengthens no pause' },
  { from: halfOpen(5_000), to: open(10_000), guarantee: 'a failed probe doubles the pause' },
  { from: halfOpen(10_000), to: open(20_000), guarantee: 'and again' },
  { from: halfOpen(20_000), to: open(30_000), guarantee: 'up to 30 s' },
  { from: halfOpen(30_000), to: open(30_000), guarantee: 'and no longer' },
])('failure, $from.name → $to.name: $guarantee', ({ from, to }) => {
  expect(callFailed(from, NOW_MS)).toEqual(to);
});

test.each([
  { from: closed(0), guarantee: 'stays closed' },
  { from: closed(4), guarantee: 'only failures in a row count' },
  { from: open(5_000), guarantee: 'a late success means the function answers' },
  { from: halfOpen(30_000), guarantee: 'the probe closes it, and the next outage begins at 5 s again' },
])('success, $from.name → closed: $guarantee', ({ from }) => {
  expect(callSucceeded(from)).toEqual(CLOSED);
});

test.each([
  { from: closed(4), allowed: true, to: closed(4), guarantee: 'lets calls through while closed' },
  { from: open(5_000, 1_001), allowed: false, to: open(5_000, 1_001), guarantee: 'lets none through early' },
  { from: open(5_000, 1_000), allowed: true, to: halfOpen(5_000), guarantee: 'lets a probe through in time' },
  {
    from: halfOpen(5_000),
    allowed: false,
    to: halfOpen(5_000),
    guarantee: 'lets one probe through, not two',
  },
])('asking, $from.name → $to.name: $guarantee', ({ from, allowed, to }) => {
  expect(admitCall(from, NOW_MS)).toEqual({ allowed, state: to });
});

test('fault 5: an outage trips it once, a probe is sent after the pause, and every change is told once', () => {
  let nowMs = 0;
  const changes: string[] = [];
  const breaker = createBreaker(
    () => nowMs,
    (name) => changes.push(name),
  );
  for (let call = 0; call < 7; call += 1) breaker.failed();
  expect(breaker.allow()).toBe(false);
  nowMs = 5_000;
  expect([breaker.allow(), breaker.allow()]).toEqual([true, false]);
  breaker.failed();
  nowMs = 14_999;
  expect(breaker.allow()).toBe(false);
  nowMs = 15_000;
  expect(breaker.allow()).toBe(true);
  breaker.succeeded();
  breaker.succeeded();
  expect(breaker.allow()).toBe(true);
  expect(changes).toEqual(['open', 'half_open', 'open', 'half_open', 'closed']);
});
