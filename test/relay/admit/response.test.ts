import { expect, test } from 'vitest';
import { readContended, readDecisions, readResults } from '../../../relay/admit/response.ts';

const violation = {
  rule: 'budgets',
  class: 'cost',
  mode: 'enforce',
  reason: { code: 'BUDGET_EXHAUSTED', later: 'field' },
};
const admitted = { jobId: 1, outcome: 'admitted', decisionId: 'd-1', shadow: [] };
const rejected = {
  jobId: 3,
  outcome: 'rejected',
  decisionId: 'd-3',
  violations: [violation],
  shadow: [{ ...violation, mode: 'shadow' }],
  text: 'BUDGET_EXHAUSTED: acme has used its budget.',
};
const malformed = { outcome: 'undecided', cause: 'malformed' };
const requested = { batch: 'b1', jobIds: [1, 2, 3] };
const about = (jobId: unknown, decisionId: unknown = `d-${jobId}`) => ({ ...admitted, jobId, decisionId });

test.each([
  { decisions: [about(1), about(2), about(3)], order: 'in order', jobs: [1, 2, 3] },
  { decisions: [about(3), about(2), about(1)], order: 'in reversed order', jobs: [1, 2, 3] },
  { decisions: [about(1), about(3)], order: 'without one', jobs: [1, undefined, 3] },
  {
    decisions: [about(1), about(2), about(2, 'd-9'), about(3)],
    order: 'with one twice',
    jobs: [1, undefined, 3],
  },
  {
    decisions: [about(1), about(9), about(3)],
    order: 'with a job of another batch',
    jobs: [1, undefined, 3],
  },
  { decisions: [about(1), about(undefined), about(3)], order: 'without an id', jobs: [1, undefined, 3] },
])('decisions $order count only for the jobs that they name', ({ decisions, jobs }) => {
  const read = readDecisions({ batch: 'b1', decisions }, requested);
  expect(read?.decisions).toEqual(jobs.map((jobId) => (jobId === undefined ? malformed : about(jobId))));
  expect(read?.unmatched).toBe(jobs.filter((job) => job === undefined).length);
});

test.each([
  { body: { batch: 'b2', decisions: [about(1), about(2), about(3)] }, flaw: 'another batch' },
  { body: { batch: 'b1', decisions: 'all' }, flaw: 'no list' },
  { body: { batch: 'b1' }, flaw: 'no decisions' },
  { body: null, flaw: 'nothing' },
])('fault 5: a response with $flaw decides no job', ({ body }) => {
  expect(readDecisions(body, requested)).toBeUndefined();
});

const read = (...decisions: readonly object[]) =>
  readDecisions({ decisions, later: true }, { jobIds: [1, 2, 3].slice(0, decisions.length) })?.decisions;

const other = about(2);
const refused = { ...rejected, ...{ jobId: 2, decisionId: 'd-2' } };
test.each([
  { decision: { outcome: 'allowed' }, flaw: 'an unknown outcome' },
  { decision: { ...other, decisionId: '' }, flaw: 'an empty decision id' },
  { decision: { ...other, shadow: [{ rule: 'budgets' }] }, flaw: 'half a violation' },
  { decision: { ...refused, text: '' }, flaw: 'a rejection without a text' },
  { decision: { ...refused, violations: [] }, flaw: 'a rejection without a reason' },
  {
    decision: { ...refused, violations: [{ ...violation, reason: { ...violation.reason, subject: 42 } }] },
    flaw: 'a subject that is a number',
  },
  { decision: { ...refused, shadow: [{ ...violation, mode: 'off' }] }, flaw: 'a violation in mode off' },
  { decision: { ...other, terms: { group: 7 } }, flaw: 'a group that is a number' },
  { decision: { outcome: 'undecided', cause: 'not-a-secret' }, flaw: 'a cause that would become a label' },
  { decision: { outcome: 'undecided', cause: 'circuit_open' }, flaw: 'a cause only the relay may give' },
])('fault 14: $flaw spoils one decision, and its neighbours stand', ({ decision }) => {
  expect(read(admitted, { ...decision, jobId: 2 }, rejected)).toEqual([admitted, malformed, rejected]);
});

const waiting = {
  jobId: 1,
  outcome: 'waiting',
  leftMs: 20_000,
  counters: ['group/1|jobs-now|now'],
  violations: [violation],
  text: 'full',
};

test.each([
  { leftMs: 0 },
  { leftMs: Number.POSITIVE_INFINITY },
  { counters: [''] },
  { counters: Array.from({ length: 65 }, (_, at) => `c${at}`) },
  { violations: [] },
])('a waiting job with %j is malformed', (part) => {
  expect(read({ ...waiting, ...part })).toEqual([malformed]);
});

test('results of unmetered decisions count by job, unclear ones not at all', () => {
  const results = [
    { jobId: 3, outcome: 'invalid' },
    { jobId: 1, outcome: 'recorded' },
    { jobId: 9, outcome: 'recorded' },
    { jobId: 4, outcome: 'recorded' },
    { jobId: 4, outcome: 'recorded' },
    { jobId: 5, outcome: 'lost' },
    { outcome: 'recorded' },
  ];
  expect([...(readResults({ results }, [1, 2, 3, 4, 5]) ?? [])]).toEqual([
    [1, 'recorded'],
    [3, 'invalid'],
  ]);
});

test('contended counters count for the requested jobs only', () => {
  const contended = [
    { counter: 'instance|jobs-now|now', jobIds: [1, 3, 9, '2'] },
    { counter: 'runner/41|jobs-now|now', jobIds: [2] },
  ];
  expect(readContended({ decisions: [], contended }, [1, 2, 3])).toEqual([
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
])('malformed contention is skipped: %o', (contended) => {
  expect(readContended({ contended }, [1])).toEqual([]);
});
