import { expect, test } from 'vitest';
import { type ControllerScope, isOutOfScope, scopeAfter } from '../../../functions/core/ledger/controller.ts';
import { house, MINUTE_MS, VISIT_MS } from './house.ts';

const RUNNER = 7;
const OTHER = 8;
const AMOUNTS = { estimateSeconds: 60, costMicros: 60, microsPerMinute: 60, timeoutSeconds: 3_600 };

const scopeOf = (nowMs: number, over: Partial<ControllerScope> = {}): ControllerScope => ({
  controllerId: 1,
  state: 'enabled',
  readAtMs: nowMs,
  runners: new Map([[RUNNER, 0]]),
  ...over,
});

test('a job on a runner that GitLab asks nobody about is no bypass: counted apart, charged nothing, and once', async () => {
  const { clock, gitlab, charged, sweep, finished, truth } = house();
  const scope = () => ({ scope: scopeOf(clock.nowMs()) });
  // The search begins with the first run: what ran before is nobody's.
  await sweep(scope());
  clock.advance(VISIT_MS);
  gitlab.put(finished(1, 60), finished(2, 60, { runnerId: OTHER }), truth(3, { runnerId: OTHER }));
  const report = await sweep(scope());
  expect(report).toMatchObject({ ran: 1, unadmitted: 1, outOfScope: 2, bypass: 1 });
  clock.advance(VISIT_MS);
  gitlab.put(finished(3, 600, { runnerId: OTHER }));
  expect(await sweep(scope())).toMatchObject({ unadmitted: 0, outOfScope: 0, bypass: 0 });
  expect(charged.map(({ jobId }) => jobId)).toEqual([1]);
});

test('what was rejected and ran is no bypass in dry run, and one while the controller is enabled', async () => {
  const seen: object[] = [];
  for (const state of ['dry_run', 'enabled'] as const) {
    const { clock, gitlab, ledger, sweep, finished } = house();
    const instanceSinceMs = 0;
    const scope = () => ({ scope: scopeOf(clock.nowMs(), { state, instanceSinceMs }) });
    await sweep(scope());
    clock.advance(VISIT_MS);
    await ledger.recordUnmetered(
      [
        {
          jobId: 1,
          facts: { runnerClass: 'any', priceVersion: '', policyVersion: '', ...AMOUNTS },
          violations: [],
          claims: [],
          answered: 'rejected',
          cause: 'test',
          answeredAtMs: clock.nowMs(),
        },
      ],
      clock.monotonicMs() + 30_000,
    );
    gitlab.put(finished(1, 60));
    const { unadmitted, ranRejected, ran } = await sweep(scope());
    seen.push({ state, unadmitted, ranRejected, ran });
  }
  expect(seen).toEqual([
    { state: 'dry_run', unadmitted: 0, ranRejected: 1, ran: 1 },
    { state: 'enabled', unadmitted: 1, ranRejected: 0, ran: 1 },
  ]);
});

const NOW = 10 * 24 * 60 * MINUTE_MS;
test.each<[string, Parameters<typeof isOutOfScope>[0], ControllerScope | undefined, boolean]>([
  ['nobody read the scope', { runnerId: OTHER }, undefined, false],
  ['the whole instance', { runnerId: OTHER }, scopeOf(NOW, { instanceSinceMs: 0 }), false],
  ['its runner', { runnerId: RUNNER }, scopeOf(NOW), false],
  ['another runner', { runnerId: OTHER }, scopeOf(NOW), true],
  ['a runner nobody told', {}, scopeOf(NOW), false],
  ['no scope at all', { runnerId: RUNNER }, scopeOf(NOW, { runners: new Map() }), true],
  ['started before its runner came into scope', { runnerId: 9, startedAtMs: 1 }, withNine(2), true],
  ['started after its runner came into scope', { runnerId: 9, startedAtMs: 2 }, withNine(2), false],
  ['a scope that nobody keeps up', { runnerId: OTHER }, scopeOf(NOW - 25 * 60 * MINUTE_MS), false],
])('out of scope: %s', (_, truth, scope, out) => {
  expect(isOutOfScope(truth, scope, NOW)).toBe(out);
});
function withNine(sinceMs: number): ControllerScope {
  return scopeOf(NOW, { runners: new Map([[9, sinceMs]]) });
}

test('a runner keeps the time since when it is in scope; a first look believes it was always there', () => {
  const read = { controllerId: 1, state: 'enabled', instance: false, runnerIds: [7] } as const;
  const first = scopeAfter(undefined, read, 100);
  const second = scopeAfter(first, { ...read, runnerIds: [7, 8] }, 200);
  expect([...second.runners]).toEqual([
    [7, 0],
    [8, 200],
  ]);
  const whole = scopeAfter(second, { ...read, instance: true, runnerIds: [] }, 300);
  expect(whole.instanceSinceMs).toBe(300);
  expect([...scopeAfter(whole, read, 400).runners]).toEqual([[7, 300]]);
  expect([...scopeAfter(second, { ...read, controllerId: 2 }, 500).runners]).toEqual([[7, 0]]);
});
