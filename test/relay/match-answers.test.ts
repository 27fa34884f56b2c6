import { expect, test } from 'vitest';
import { CONTENDED_MAX } from '../../functions/core/contract/admissions.ts';
import { contendedIn, matchDecisions, matchResults } from '../../relay/match-answers.ts';

const asked = { batch: 'b1', jobIds: [1, 2, 3] };
const about = (jobId: unknown, decisionId: unknown = `d-${jobId}`) => ({
  jobId,
  decisionId,
  outcome: 'admitted',
});
const jobsOf = (decisions: readonly unknown[] = []) =>
  decisions.map((decision) => (decision as { jobId?: unknown } | undefined)?.jobId);

test.each([
  { decisions: [about(1), about(2), about(3)], says: 'in order', jobs: [1, 2, 3] },
  { decisions: [about(3), about(2), about(1)], says: 'in reversed order', jobs: [1, 2, 3] },
  { decisions: [about(1), about(3)], says: 'without one', jobs: [1, undefined, 3] },
  {
    decisions: [about(1), about(2), about(2, 'd-9'), about(3)],
    says: 'with one twice',
    jobs: [1, undefined, 3],
  },
  { decisions: [about(1), about(9), about(3)], says: 'with a job of somebody else', jobs: [1, undefined, 3] },
  { decisions: [about(1), about('2'), about(3)], says: 'with an id that is a text', jobs: [1, undefined, 3] },
  {
    decisions: [about(1), { outcome: 'admitted', decisionId: 'd-2' }, about(3)],
    says: 'without an id',
    jobs: [1, undefined, 3],
  },
  {
    decisions: [about(1), null, [], 'x', about(3)],
    says: 'with what is no decision',
    jobs: [1, undefined, 3],
  },
  {
    decisions: [about(1), about(2, 'd-1'), about(3)],
    says: 'with one decision id for two jobs',
    jobs: [undefined, undefined, 3],
  },
])('decisions $says count for the jobs they name and for nobody else', ({ decisions, jobs }) => {
  const matched = matchDecisions({ batch: 'b1', decisions }, asked);
  expect(jobsOf(matched?.decisions)).toEqual(jobs);
  expect(matched?.unmatched).toBe(jobs.filter((job) => job === undefined).length);
});

test('jobs that could not be decided need no decision id', () => {
  const decisions = [1, 2, 3].map((jobId) => ({ jobId, outcome: 'undecided', cause: 'deadline' }));
  expect(matchDecisions({ batch: 'b1', decisions }, asked)?.unmatched).toBe(0);
});

test.each([
  { body: { batch: 'b2', decisions: [about(1), about(2), about(3)] }, flaw: 'another batch' },
  { body: { decisions: [about(1), about(2), about(3)] }, flaw: 'no batch' },
  { body: { batch: 'b1', decisions: 'all' }, flaw: 'no list' },
  { body: [], flaw: 'a list' },
  { body: null, flaw: 'nothing' },
])('an answer about $flaw is none', ({ body }) => {
  expect(matchDecisions(body, asked)).toBeUndefined();
});

test('without a name for the batch only the jobs are compared', () => {
  const body = { decisions: [about(2), about(1)] };
  expect(jobsOf(matchDecisions(body, { jobIds: [1, 2] })?.decisions)).toEqual([1, 2]);
});

test('what became of unmetered answers is told by job, and of what is unclear nothing', () => {
  const results = [
    { jobId: 3, outcome: 'invalid' },
    { jobId: 1, outcome: 'recorded' },
    { jobId: 9, outcome: 'recorded' },
    { jobId: 4, outcome: 'recorded' },
    { jobId: 4, outcome: 'recorded' },
    { jobId: 5, outcome: 'lost' },
    { outcome: 'recorded' },
  ];
  expect([...(matchResults({ results }, [1, 2, 3, 4, 5]) ?? [])]).toEqual([
    [1, 'recorded'],
    [3, 'invalid'],
  ]);
});

test.each([null, { results: 'recorded' }, { decisions: [] }])(
  '%j says nothing of unmetered answers',
  (body) => {
    expect(matchResults(body, [1])).toBeUndefined();
  },
);

test('counters that were fought for count for the jobs asked about only', () => {
  const contended = [
    { counter: 'instance|jobs-now|now', jobIds: [1, 3, 9, '2'] },
    { counter: 'runner/41|jobs-now|now', jobIds: [2] },
  ];
  expect(contendedIn({ decisions: [], contended }, [1, 2, 3])).toEqual([
    { counter: 'instance|jobs-now|now', jobIds: [1, 3] },
    { counter: 'runner/41|jobs-now|now', jobIds: [2] },
  ]);
});

test.each([
  undefined,
  null,
  'instance',
  { counter: 'instance', jobIds: [1] },
  [null, 'x', { counter: '', jobIds: [1] }, { counter: 7, jobIds: [1] }, { counter: 'a' }],
  [{ counter: 'a'.repeat(2_049), jobIds: [1] }],
])('a word about fights that is not of the contract is passed over: %o', (contended) => {
  expect(contendedIn({ contended }, [1])).toEqual([]);
});

test('of endless fights the first are heard', () => {
  const contended = Array.from({ length: 1_000 }, (_, index) => ({ counter: `user/${index}`, jobIds: [1] }));
  expect(contendedIn({ contended }, [1])).toHaveLength(CONTENDED_MAX);
});
