import { expect, test } from 'vitest';
import { createBreaker } from '../../../relay/admit/breaker.ts';

function breakerAt(startMs: number) {
  const now = { ms: startMs };
  const changes: string[] = [];
  const breaker = createBreaker(
    () => now.ms,
    (state) => changes.push(state),
  );
  return { now, changes, breaker };
}

function opened() {
  const rig = breakerAt(0);
  for (; rig.breaker.state === 'closed'; rig.now.ms += 100) rig.breaker.allow()?.failed();
  rig.now.ms -= 100;
  return { ...rig, openedMs: rig.now.ms };
}

interface Calls {
  readonly fromMs: number;
  readonly toMs: number;
  readonly succeeded?: number;
  readonly failed?: number;
}

test.each([
  {
    guarantee: 'a hundred failures of forty lanes within one bad moment open nothing',
    calls: [{ fromMs: 50_000, toMs: 51_900, failed: 100 }],
    state: 'closed',
  },
  {
    guarantee: 'two seconds of nothing but failures open it',
    calls: [{ fromMs: 50_000, toMs: 52_000, failed: 20 }],
    state: 'open',
  },
  {
    guarantee: 'while one call in four succeeds it stays closed',
    calls: [
      { fromMs: 50_000, toMs: 59_000, succeeded: 34 },
      { fromMs: 50_000, toMs: 59_000, failed: 100 },
    ],
    state: 'closed',
  },
  {
    guarantee: 'calls before the window do not count',
    calls: [
      { fromMs: 20_000, toMs: 30_000, succeeded: 1_000 },
      { fromMs: 50_000, toMs: 52_500, failed: 25 },
    ],
    state: 'open',
  },
])('$guarantee', ({ calls, state }: { calls: readonly Calls[]; state: string }) => {
  const { now, breaker } = breakerAt(0);
  const ended = calls.flatMap(({ fromMs, toMs, succeeded = 0, failed = 0 }) => {
    const spread = (count: number, outcome: 'succeeded' | 'failed') =>
      Array.from({ length: count }, (_, index) => ({
        atMs: fromMs + ((toMs - fromMs) * index) / Math.max(1, count - 1),
        outcome,
      }));
    return [...spread(succeeded, 'succeeded'), ...spread(failed, 'failed')];
  });
  for (const { atMs, outcome } of ended.sort((a, b) => a.atMs - b.atMs)) {
    now.ms = atMs;
    breaker.allow()?.[outcome]();
  }
  expect(breaker.state).toBe(state);
});

test('the pause doubles with each failed probe, up to ten seconds', () => {
  const { now, breaker } = opened();
  const pausesMs = Array.from({ length: 6 }, () => {
    const fromMs = now.ms;
    let probe = breaker.allow();
    for (; probe === undefined; probe = breaker.allow()) now.ms += 100;
    probe.failed();
    return now.ms - fromMs;
  });
  expect(pausesMs).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000]);
});

test('throttling alone opens nothing', () => {
  const { now, breaker } = breakerAt(0);
  for (; now.ms < 10_000; now.ms += 10) breaker.allow()?.throttled();
  expect(breaker.state).toBe('closed');
});
