import { expect, test } from 'vitest';
import type { Reason } from '../../../../policies/reason.ts';
import { headline, retryAdvice } from '../../../../policies/text/reason-texts.ts';
import { NOW_MS, told, toldDiscreetly } from '../told.ts';
import { cpu, hourFull, memory, minuteFull, once, slots } from './limit-reasons.ts';

const first = (reason: Reason): string => headline(reason, { currency: 'EUR', nowMs: NOW_MS });
const advice = (reason: Reason): readonly string[] => retryAdvice(reason, 'binding', NOW_MS);

test('no free slot: a retry helps', () => {
  expect(told([slots])).toMatchInlineSnapshot(`
    "All 20 CI job slots of group acme are taken: wait until a job there has finished.

    [CONCURRENCY_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
      group acme: 20 of 20 jobs at once
    A retry will work as soon as one of the running jobs has finished.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(slots)).toMatchInlineSnapshot(`
    "Too many CI jobs are running at once: wait until one has finished.

    [CONCURRENCY_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
    A retry will work as soon as one of the running jobs has finished.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
});

test('one slot is told in the singular', () => {
  const one = { ...slots, limitAmount: 1, committed: 1 } as Reason;
  expect(first(one)).toBe(
    'The only CI job slot of group acme is taken: wait until the job there has finished.',
  );
});

test('what is borrowed, and what is lent out, is told apart from what is its own', () => {
  const borrowing = { ...slots, limitAmount: 10, borrow: 5, committed: 15 } as Reason;
  expect(told([borrowing])).toContain(
    'The 10 CI job slots of group acme and 5 borrowed are taken: wait until a job there has finished.',
  );
  expect(told([borrowing])).not.toContain('15');
  const noneLeft = { ...slots, limitAmount: 10, borrow: 5, committed: 10, lentOut: true } as Reason;
  expect(first(noneLeft)).toBe(
    'All 10 CI job slots of group acme are taken, and none can be borrowed now: wait until a job there has finished.',
  );
  const lentOut = { ...slots, limitAmount: 10, committed: 7, lentOut: true } as Reason;
  expect(first(lentOut)).toBe(
    'Other groups run CI jobs on slots of group acme: the next free one is not lent again.',
  );
  const cores = { ...cpu, borrow: 6_000, committed: 15_000 } as Reason;
  expect(told([cores])).toContain('use all of their 12 CPU and 3 borrowed');
  expect(told([cores])).toContain('12 of 12 CPU in use and 3 borrowed, this job needs 4 CPU');
  expect(first({ ...cpu, lentOut: true } as Reason)).toContain(
    'Other groups use what group acme lends of 12 CPU',
  );
});

test('too little CPU left, and no memory left: a retry helps', () => {
  expect(told([cpu])).toMatchInlineSnapshot(`
    "Running CI jobs of group acme leave 1.5 of 12 CPU free, this job needs 4: wait until a job there has finished.

    [CAPACITY_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
      group acme: 10.5 of 12 CPU in use, this job needs 4 CPU; 2.5 CPU missing
    A retry will work as soon as enough of the running jobs have finished, and sooner if this job asks for less CPU.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
  expect(told([memory])).toMatchInlineSnapshot(`
    "Running CI jobs of group acme use all of their 6 GiB memory: wait until a job there has finished.

    [CAPACITY_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
      group acme: 6 GiB of 6 GiB memory in use, this job needs 1 GiB; 1 GiB missing
    A retry will work as soon as enough of the running jobs have finished, and sooner if this job asks for less memory.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(memory)).toMatchInlineSnapshot(`
    "Running CI jobs leave too little memory for this job: wait until one has finished.

    [CAPACITY_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
    A retry will work as soon as enough of the running jobs have finished, and sooner if this job asks for less memory.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
});

test('job starts used up: when the window opens', () => {
  expect(told([hourFull])).toMatchInlineSnapshot(`
    "All 30 job starts of group acme are used up: more from 21 Nov 2026 14:00 Europe/Berlin (in 60 minutes).

    [WINDOW_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
      group acme: 30 of 30 job starts for the hour from 12:00 UTC on 21 November 2026
    Retrying now will fail again. It will work after 21 Nov 2026 14:00 Europe/Berlin (in 60 minutes), or with a higher limit.
    Decision: d-01JABC"
  `);
  expect(toldDiscreetly(hourFull)).toMatchInlineSnapshot(`
    "Too many CI jobs were started lately: wait until more may start.

    [WINDOW_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
    Retrying now will fail again. It will work when the next window opens, or with a higher limit.
    Decision: d-01JABC"
  `);
});

test('an automatic retry is offered only for a window that opens before it is in vain', () => {
  expect(told([minuteFull])).toMatchInlineSnapshot(`
    "The only job start of group acme is used up: more from 21 Nov 2026 13:01 Europe/Berlin (in 1 minute).

    [WINDOW_FULL] job "e2e-large" was not started. Nothing is wrong with your code.
      group acme: 1 of 1 job start for 12:00 UTC on 21 November 2026
    Retrying now will fail again. It will work after 21 Nov 2026 13:01 Europe/Berlin (in 1 minute), or with a higher limit.
    To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}
    Decision: d-01JABC"
  `);
  expect(advice(hourFull).join()).not.toContain('job_router_failure');
});

test('a window that never opens again promises nothing', () => {
  const forGood: Reason = {
    code: 'WINDOW_FULL',
    ...once,
    unit: 'starts',
    limitAmount: 30,
    committed: 30,
    settled: 30,
  };
  expect(first(forGood)).toBe('All 30 job starts of group acme/payments are used up.');
  expect(advice(forGood)).toEqual([
    'Retrying will fail again: this limit never resets, it has to be raised.',
  ]);
});

test('a name too long for the line is shortened, the numbers are not', () => {
  const deep: Reason = { ...cpu, subjectLabel: `group ${'sub/'.repeat(40)}end` } as Reason;
  expect(first(deep)).toMatchInlineSnapshot(
    `"Running CI jobs of group sub/sub/sub/sub/sub/su…/sub/sub/sub/sub/sub/sub/end leave 1.5 of 12 CPU free, this job needs 4."`,
  );
  expect(
    first({ ...hourFull, subjectLabel: `group ${'sub/'.repeat(40)}end` } as Reason),
  ).toMatchInlineSnapshot(
    `"All 30 job starts of group sub/sub/sub/sub/sub/sub/sub/sub/sub/s…ub/sub/sub/sub/sub/sub/sub/sub/sub/sub/end are used up."`,
  );
});
