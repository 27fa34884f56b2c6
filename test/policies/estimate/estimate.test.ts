import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EstimateMode, historyEstimator } from '../../../policies/estimate.ts';
import {
  decodeHistory,
  ESTIMATE_SECONDS_MIN,
  encodeHistory,
  estimateOfRuns,
  HISTORY_CHARACTERS_MAX,
  type JobRun,
  NO_HISTORY,
  OUTLIER_FACTOR,
  type ProjectHistory,
  type RunHistory,
  withRun,
  withRuns,
} from '../../../policies/run-history.ts';

const HOUR_MS = 3_600_000;
const historyOf = (...seconds: readonly number[]): RunHistory =>
  seconds.reduce<RunHistory | undefined>((history, each) => withRun(history, each, HOUR_MS), undefined) ?? {
    lastSeconds: [],
    runs: 0,
    usedAtHour: 0,
  };
const aRun = (jobName: string, seconds: number, over: Partial<JobRun> = {}): JobRun => ({
  jobName,
  runnerClass: 'small',
  seconds,
  endedAtMs: HOUR_MS,
  ...over,
});
const times = (count: number, seconds: number): number[] => Array.from({ length: count }, () => seconds);

test.each<[readonly number[], number | undefined, string]>([
  [[120, 120], undefined, 'two runs tell too little'],
  [[120, 130, 140], 140, 'the longest of a few'],
  [[...times(17, 100), 300, 350, 390], 300, 'three of twenty may not'],
  [[1, 1, 1], ESTIMATE_SECONDS_MIN, 'never nothing'],
  [[100, 100, 72_000], 400, 'a run of 20 h counts for four times the median'],
  [[0, -5, Number.NaN, 120, 130], undefined, 'a job that did not run tells nothing'],
])('%j → %s: %s', (seconds, expected) => {
  expect(estimateOfRuns(historyOf(...seconds))).toBe(expected);
});

test('one run of any length moves the estimate of a known job to at most four times its longest usual run', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 60, max: 180 }), { minLength: 2, maxLength: 40 }),
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.nat(40),
      (usual, poison, at) => {
        const runs = [...usual.slice(0, at), poison, ...usual.slice(at)];
        expect(estimateOfRuns(historyOf(...runs))).toBeLessThanOrEqual(Math.max(...usual) * OUTLIER_FACTOR);
      },
    ),
  );
});

test('whatever jobs are called, a history survives its text as far as it fits, and stays below 100 KB', () => {
  const run = fc.record({
    jobName: fc.oneof(
      fc.string({ minLength: 1, maxLength: 300, unit: 'binary' }),
      fc.constantFrom('__proto__', '日'.repeat(120), '"'.repeat(120), '\n', 'constructor'),
    ),
    runnerClass: fc.constantFrom('small', 'large'),
    seconds: fc.integer({ min: 1, max: 3_000_000 }),
    endedAtMs: fc.integer({ min: 0, max: 4e12 }),
  });
  fc.assert(
    fc.property(fc.array(run, { maxLength: 400 }), (runs) => {
      const project = withRuns(NO_HISTORY, runs);
      const text = encodeHistory(project);
      expect(text.length).toBeLessThanOrEqual(HISTORY_CHARACTERS_MAX);
      expect(Buffer.byteLength(text)).toBeLessThan(100_000);
      const again = decodeHistory(text);
      for (const [key, history] of again) expect(history).toEqual(project.get(key));
      if (text.length < HISTORY_CHARACTERS_MAX - 1_000) expect(again.size).toBe(project.size);
    }),
    { numRuns: 100 },
  );
});

const estimated = (history: ProjectHistory | undefined, request: object = {}, mode?: EstimateMode): number =>
  historyEstimator(() => history).estimateSeconds(
    { jobId: 1, jobName: 'unit', projectId: 7, timeoutSeconds: 3_600, ...request },
    { defaultSeconds: 600, timeoutSeconds: 3_600, ...(mode && { mode }) },
    { name: 'small', estimateSeconds: 900 },
  );
const known = withRuns(
  NO_HISTORY,
  times(5, 200).map((seconds) => aRun('unit', seconds)),
);

test.each<[string, number, number]>([
  ['a known job takes its p90', estimated(known), 200],
  ['never more than its timeout', estimated(known, { timeoutSeconds: 100 }), 100],
  ['an unknown job takes the default of its class', estimated(known, { jobName: 'other' }), 900],
  ['where nothing was read the default counts', estimated(undefined), 900],
  ['mode timeout holds the worst case', estimated(known, {}, 'timeout'), 3_600],
])('%s', (_name, seconds, expected) => {
  expect(seconds).toBe(expected);
});
