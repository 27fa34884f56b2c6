import { expect, test } from 'vitest';
import {
  admitCall,
  type BreakerState,
  CALLS_MIN,
  CLOSED,
  COOLDOWN_MS_MAX,
  COOLDOWN_MS_MIN,
  callFailed,
  callSucceeded,
  callThrottled,
  createBreaker,
  FAILING_MS_MIN,
  FAILURE_SHARE,
  WINDOW_MS,
} from '../../relay/breaker.ts';

const NOW_MS = 100_000;
const open = (cooldownMs: number, untilMs = NOW_MS + cooldownMs): BreakerState => ({
  name: 'open',
  untilMs,
  cooldownMs,
});
const halfOpen = (cooldownMs: number): BreakerState => ({ name: 'half_open', cooldownMs });

/** Calls spread evenly from one moment to another. */
interface Calls {
  readonly fromMs: number;
  readonly toMs: number;
  readonly succeeded?: number;
  readonly failed?: number;
}

function after(...calls: readonly Calls[]): BreakerState {
  const ended = calls.flatMap(({ fromMs, toMs, succeeded = 0, failed = 0 }) => {
    const at = (count: number, index: number) => fromMs + ((toMs - fromMs) * index) / Math.max(1, count - 1);
    return [
      ...Array.from({ length: succeeded }, (_, index) => ({ atMs: at(succeeded, index), ok: true })),
      ...Array.from({ length: failed }, (_, index) => ({ atMs: at(failed, index), ok: false })),
    ];
  });
  let state = CLOSED;
  for (const { atMs, ok } of ended.sort((a, b) => a.atMs - b.atMs))
    state = ok ? callSucceeded(state, atMs) : callFailed(state, atMs);
  return state;
}

test('the bounds are those of the design', () => {
  expect([WINDOW_MS, FAILURE_SHARE, CALLS_MIN, FAILING_MS_MIN]).toEqual([10_000, 0.8, 20, 2_000]);
  expect([COOLDOWN_MS_MIN, COOLDOWN_MS_MAX]).toEqual([500, 10_000]);
});

test.each([
  {
    guarantee: 'a hundred failures of forty lanes within one bad moment open nothing',
    calls: [{ fromMs: 50_000, toMs: 51_900, failed: 100 }],
    name: 'closed',
  },
  {
    guarantee: 'two seconds of nothing but failures open it',
    calls: [{ fromMs: 50_000, toMs: 52_000, failed: 20 }],
    name: 'open',
  },
  {
    guarantee: 'few calls open nothing, however long they fail: nobody else is spared',
    calls: [{ fromMs: 50_000, toMs: 58_000, failed: 19 }],
    name: 'closed',
  },
  {
    guarantee: 'while one call in four succeeds it stays closed',
    calls: [
      { fromMs: 50_000, toMs: 59_000, succeeded: 34 },
      { fromMs: 50_000, toMs: 59_000, failed: 100 },
    ],
    name: 'closed',
  },
  {
    guarantee: 'a few successes among many failures do not keep it closed',
    calls: [
      { fromMs: 50_000, toMs: 50_900, succeeded: 20 },
      { fromMs: 51_000, toMs: 59_000, failed: 100 },
    ],
    name: 'open',
  },
  {
    guarantee: 'what was before the window counts no more, for and against',
    calls: [
      { fromMs: 20_000, toMs: 30_000, succeeded: 1_000 },
      { fromMs: 50_000, toMs: 52_500, failed: 25 },
    ],
    name: 'open',
  },
  {
    guarantee: 'failures that passed long ago do not make a new one old',
    calls: [
      { fromMs: 20_000, toMs: 21_000, failed: 15 },
      { fromMs: 50_000, toMs: 51_000, failed: 15 },
    ],
    name: 'closed',
  },
])('$guarantee', ({ calls, name }) => {
  expect(after(...calls).name).toBe(name);
});

test('the memory is a few spans, however many calls there are', () => {
  const state = after({ fromMs: 0, toMs: 60_000, succeeded: 10_000 });
  expect(state.name === 'closed' && state.recent.length).toBeLessThanOrEqual(21);
});

test.each([
  { from: open(500, 3_000), probe: false, to: open(500, 3_000), guarantee: 'a straggler lengthens no pause' },
  { from: halfOpen(500), probe: true, to: open(1_000), guarantee: 'a failed probe doubles the pause' },
  { from: halfOpen(8_000), probe: true, to: open(10_000), guarantee: 'up to 10 s and no longer' },
  { from: halfOpen(500), probe: false, to: halfOpen(500), guarantee: 'a straggler is no probe' },
])('failure, $from.name → $to.name: $guarantee', ({ from, probe, to }) => {
  expect(callFailed(from, NOW_MS, probe)).toEqual(to);
});

test.each([
  { from: CLOSED, probe: false, to: CLOSED, guarantee: 'throttling alone opens nothing' },
  {
    from: halfOpen(2_000),
    probe: true,
    to: open(2_000),
    guarantee: 'a throttled probe looks again, no later',
  },
  { from: halfOpen(2_000), probe: false, to: halfOpen(2_000), guarantee: 'another call changes nothing' },
])('throttled, $from.name → $to.name: $guarantee', ({ from, probe, to }) => {
  expect(callThrottled(from, NOW_MS, probe)).toEqual(to);
});

test.each([
  { from: open(5_000), guarantee: 'a late success means the function answers' },
  { from: halfOpen(10_000), guarantee: 'the probe closes it, and the next outage begins anew' },
])('success, $from.name → closed: $guarantee', ({ from }) => {
  expect(callSucceeded(from, NOW_MS)).toEqual(CLOSED);
});

test.each([
  { from: CLOSED, allowed: 'call', to: CLOSED, guarantee: 'lets calls through while closed' },
  { from: open(500, NOW_MS + 1), allowed: undefined, to: open(500, NOW_MS + 1), guarantee: 'none early' },
  { from: open(500, NOW_MS), allowed: 'probe', to: halfOpen(500), guarantee: 'lets a probe through in time' },
  { from: halfOpen(500), allowed: undefined, to: halfOpen(500), guarantee: 'one probe, not two' },
])('asking, $from.name → $to.name: $guarantee', ({ from, allowed, to }) => {
  expect(admitCall(from, NOW_MS)).toEqual({ allowed, state: to });
});

test('fault 5: an outage trips it once, a probe looks after half a second, and every change is told once', () => {
  let nowMs = 0;
  const changes: string[] = [];
  const breaker = createBreaker(
    () => nowMs,
    (name) => changes.push(name),
  );
  for (; breaker.state.name === 'closed'; nowMs += 100) breaker.allow()?.failed();
  const openedMs = nowMs - 100;
  expect(openedMs).toBe(2_000);
  nowMs = openedMs + 499;
  expect(breaker.allow()).toBeUndefined();
  nowMs = openedMs + 500;
  const probe = breaker.allow();
  expect([probe !== undefined, breaker.allow()]).toEqual([true, undefined]);
  probe?.failed();
  nowMs = openedMs + 1_499;
  expect(breaker.allow()).toBeUndefined();
  nowMs = openedMs + 1_500;
  const second = breaker.allow();
  second?.succeeded();
  expect(breaker.allow()).toBeDefined();
  expect(changes).toEqual(['open', 'half_open', 'open', 'half_open', 'closed']);
});
