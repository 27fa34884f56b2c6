import { expect, test } from 'vitest';
import type { ControllerScope } from '../../../functions/core/ledger/controller.ts';
import { house, VISIT_MS } from './house.ts';

const RUNNER = 7;
const AMOUNTS = { estimateSeconds: 60, costMicros: 60, microsPerMinute: 60, timeoutSeconds: 3_600 };

const scopeOf = (nowMs: number, over: Partial<ControllerScope> = {}): ControllerScope => ({
  controllerId: 1,
  state: 'enabled',
  readAtMs: nowMs,
  runners: new Map([[RUNNER, 0]]),
  ...over,
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
