import { expect, test } from 'vitest';
import type { JobEnd } from '../../../../functions/core/ledger/ledger.ts';
import { bypassMove, settleMove } from '../../../../functions/core/ledger/settle.ts';
import { endOfJob } from '../../../../functions/core/truth/verdict.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';

const NOW_MS = Date.UTC(2026, 10, 21);

test('GitLab says it with the end; what never ran has none', () => {
  const truth = { jobId: 1, projectId: 2, startedAtMs: NOW_MS, durationSeconds: 60 };
  for (const status of ['success', 'failed', 'canceled'] as const)
    expect(endOfJob({ ...truth, status }, NOW_MS)).toMatchObject({ kind: 'ran', end: { outcome: status } });
  expect(endOfJob({ jobId: 1, projectId: 2, status: 'canceled' }, NOW_MS)).toEqual({
    kind: 'gone',
    cause: 'canceled',
  });
});

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

test('a job without admission has it, too, in whole seconds; one that never ran has none', () => {
  const truth = { jobId: 1, projectId: 2, startedAtMs: NOW_MS, durationSeconds: 60 };
  const queue = { retryCount: 2, queuedSeconds: 12.5 };
  const ran = endOfJob({ ...truth, ...queue, status: 'success' }, NOW_MS);
  expect(ran).toMatchObject({ end: { retryCount: 2, queuedSeconds: 13 } });
  if (ran.kind !== 'ran') throw new Error(ran.kind);
  const asked = { ...ran.end, decidedAtMs: NOW_MS, facts: aRecord().facts, claims: [], violations: [] };
  expect(bypassMove(undefined, { ...asked, unchecked: 'bypass' }, NOW_MS).record?.facts).toMatchObject({
    ...{ retryCount: 2, queuedSeconds: 13 },
  });
  expect(endOfJob({ jobId: 1, projectId: 2, status: 'canceled', ...queue }, NOW_MS)).toEqual({
    kind: 'gone',
    cause: 'canceled',
  });
});
