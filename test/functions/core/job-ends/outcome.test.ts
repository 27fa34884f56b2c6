import { expect, test } from 'vitest';
import type { JobEnd } from '../../../../functions/core/ledger/ledger.ts';
import { settleMove } from '../../../../functions/core/ledger/settle.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';

const NOW_MS = Date.UTC(2026, 10, 21);

test('how often a job was retried and how long it was queued is on its record, whatever order its ends come in', () => {
  const end = (endedAtMs: number, told: Partial<JobEnd>): JobEnd => ({
    ...{ jobId: 1, durationSeconds: 60, endedAtMs, ...told },
  });
  const ends = [
    end(NOW_MS, { retryCount: 1, queuedSeconds: 30, outcome: 'failed' }),
    end(NOW_MS + 1, { queuedSeconds: 31 }),
    end(NOW_MS + 2, {}),
  ];
  const after = (order: readonly JobEnd[]) =>
    order.reduce(
      (record, one) => settleMove(record, one, NOW_MS + 10).record ?? record,
      aRecord({ jobId: 1 }),
    ).facts;
  for (const order of [ends, ends.toReversed()])
    expect(after(order)).toMatchObject({ retryCount: 1, queuedSeconds: 31 });
  const untold = after([end(NOW_MS, {})]);
  expect(untold).not.toHaveProperty('retryCount');
  expect(untold).not.toHaveProperty('queuedSeconds');
});
