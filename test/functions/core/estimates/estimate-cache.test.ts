import { expect, test } from 'vitest';
import { createEstimateCache, type EstimateSource } from '../../../../functions/core/estimates/estimates.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { NO_HISTORY, withRuns } from '../../../../policies/run-history.ts';
import { VirtualTime } from '../../../../scripts/local/clock.ts';

const SETTINGS = { mode: 'history', defaultSeconds: 600, timeoutSeconds: 3_600 } as const;
const CLASS = { name: 'small' };
const request = (projectId: number, jobName = 'unit'): AdmissionRequest => ({
  jobId: projectId,
  projectId,
  jobName,
});
const history = withRuns(
  NO_HISTORY,
  [120, 120, 120].map((seconds) => ({ jobName: 'unit', runnerClass: 'small', seconds, endedAtMs: 0 })),
);

function bench(answer: (time: VirtualTime, projectIds: readonly number[]) => Promise<void> = async () => {}) {
  const time = new VirtualTime();
  const reads: number[][] = [];
  const source: EstimateSource = {
    read: async (projectIds) => {
      reads.push([...projectIds]);
      await answer(time, projectIds);
      return new Map(projectIds.filter((id) => id < 10).map((id) => [id, history]));
    },
  };
  const cache = createEstimateCache({ source, clock: time });
  const ask = async (requests: readonly AdmissionRequest[], leftMs = 2_000): Promise<readonly number[]> => {
    const estimator = await time.run(cache.estimatorFor(requests, SETTINGS, time.monotonicMs() + leftMs));
    return requests.map((each) => estimator.estimateSeconds(each, SETTINGS, CLASS));
  };
  return { time, reads, cache, ask };
}

test('a batch of many projects costs one read, and an old history is read again without a wait', async () => {
  const { ask, reads, time } = bench((clock) => clock.sleep(50));
  expect(await ask([request(1), request(2), request(1), request(11)])).toEqual([120, 120, 120, 600]);
  await ask([request(2), request(11, 'lint')]);
  expect(reads).toEqual([[1, 2, 11]]);
  await time.run(time.sleep(600_000));
  const fromMs = time.nowMs();
  expect(await ask([request(2)])).toEqual([120]);
  expect(time.nowMs()).toBe(fromMs);
  expect(reads).toEqual([[1, 2, 11], [2]]);
});

test('a silent table holds an admission up by at most 150 ms, less when time is short, and its late answer is kept', async () => {
  const { ask, time, reads } = bench((clock) => clock.sleep(700));
  expect(await ask([request(1)])).toEqual([600]);
  expect(time.nowMs()).toBe(150);
  expect(await ask([request(1)], 200)).toEqual([600]);
  expect(time.nowMs()).toBe(200);
  expect(await ask([request(1)], -50)).toEqual([600]);
  expect(time.nowMs()).toBe(200);
  await time.run(time.sleep(600));
  expect(await ask([request(1)])).toEqual([120]);
  expect(reads).toHaveLength(1);
});
