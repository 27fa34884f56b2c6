import { expect, test } from 'vitest';
import type { SpendFigures, SpendReport } from '../../../../functions/answers/report/model.ts';
import { queueStepText, queueText, retriesText } from '../../../../functions/answers/report/spend-text.ts';

const NONE: SpendFigures = {
  ...{
    micros: 0,
    heldMicros: 0,
    jobs: 0,
    seconds: 0,
    rejected: 0,
    ranRejected: 0,
    neverRan: 0,
    endUnknown: 0,
  },
  ...{
    unmetered: 0,
    bypass: 0,
    exempt: 0,
    estimated: 0,
    overEstimate: 0,
    ran: 0,
    retriesKnown: 0,
    retries: 0,
  },
  ...{ retryMicros: 0, queuedKnown: 0, queuedSeconds: 0 },
};
const steps = (...jobs: readonly number[]): SpendReport['queue'] =>
  jobs.map((count, index) => {
    const toSeconds = [10, 60, 300, 900, 3_600][index];
    return toSeconds === undefined ? { jobs: count } : { toSeconds, jobs: count };
  });
const report = (total: Partial<SpendFigures>, queue = steps(0, 0, 0, 0, 0, 0)) => ({
  ...{ total: { ...NONE, ...total }, queue, currency: 'EUR' },
});

test('retries are told with what they rest on', () => {
  expect(retriesText(report({ ran: 1_004, retriesKnown: 912, retries: 12, retryMicros: 3_400_000 }))).toBe(
    '12 jobs were retries, for 3.40 EUR. Known of 912 of 1,004 jobs that ran.',
  );
  expect(retriesText(report({ ran: 1, retriesKnown: 1 }))).toBe(
    'No job was a retry. Known of 1 of 1 job that ran.',
  );
});

test('what GitLab told of no job is unknown, and never 0', () => {
  const untold = report({ ran: 7 });
  expect(retriesText(untold)).toBe('GitLab told of none of 7 jobs that ran whether it was a retry.');
  expect(queueText(untold)).toBe('GitLab told of none of 7 jobs that ran how long it was queued.');
  expect([retriesText(report({})), queueText(report({}))]).toEqual(['No job ran.', 'No job ran.']);
});

test('the queue is a mean and what nine of ten did not exceed', () => {
  const told = { ran: 10, queuedKnown: 10, queuedSeconds: 424 };
  expect(queueText(report(told, steps(5, 3, 1, 1, 0, 0)))).toBe(
    'Jobs were queued for 42 s on average, nine of ten for 5 min at most. Known of 10 of 10 jobs that ran.',
  );
  expect(queueText(report(told, steps(5, 3, 0, 0, 0, 2)))).toContain(', more than one of ten over 1 h.');
});

test('steps are called by their bounds', () => {
  const queue = steps(0, 0, 0, 0, 0, 0);
  expect(queue.map((_, index) => queueStepText(index, queue))).toEqual([
    'up to 10 s',
    '10 s to 1 min',
    '1 min to 5 min',
    '5 min to 15 min',
    '15 min to 1 h',
    'over 1 h',
  ]);
});
