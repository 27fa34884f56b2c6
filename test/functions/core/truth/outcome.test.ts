import { expect, test } from 'vitest';
import type { JobEnd } from '../../../../functions/core/ledger/ledger.ts';
import { settleMove } from '../../../../functions/core/ledger/settle.ts';
import { endOfJob } from '../../../../functions/core/truth/end-of-job.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';

const NOW_MS = Date.UTC(2026, 10, 21);

test('how a job ended is on its record, whatever order its ends come in: as the last one says', () => {
  const failed: JobEnd = { jobId: 1, durationSeconds: 60, endedAtMs: NOW_MS, outcome: 'failed' };
  const better: JobEnd = { jobId: 1, durationSeconds: 60, endedAtMs: NOW_MS + 1, outcome: 'success' };
  const silent: JobEnd = { jobId: 1, durationSeconds: 60, endedAtMs: NOW_MS + 2 };
  const after = (...ends: readonly JobEnd[]) =>
    ends.reduce((record, end) => settleMove(record, end, NOW_MS + 10).record ?? record, aRecord({ jobId: 1 }))
      .facts.outcome;
  expect(after(failed)).toBe('failed');
  expect([after(failed, better), after(better, failed)]).toEqual(['success', 'success']);
  expect([after(failed, silent, better), after(silent, better, failed)]).toEqual([undefined, undefined]);
});

test('GitLab says it with the end; what never ran has none', () => {
  const truth = { jobId: 1, projectId: 2, startedAtMs: NOW_MS, durationSeconds: 60 };
  for (const status of ['success', 'failed', 'canceled'] as const)
    expect(endOfJob({ ...truth, status }, NOW_MS)).toMatchObject({ kind: 'ran', end: { outcome: status } });
  expect(endOfJob({ jobId: 1, projectId: 2, status: 'canceled' }, NOW_MS)).toEqual({
    kind: 'gone',
    cause: 'canceled',
  });
});
