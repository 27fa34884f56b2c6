import { expect, test } from 'vitest';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { retryClaims, toRequeueEntry } from '../../../../functions/core/requeue-list.ts';
import type { Violation } from '../../../../policies/reason.ts';
import { aPolicy, someLimits, using } from '../../../policies/documents.ts';
import { claim, counter, someFacts } from '../../../support/ledger/asks.ts';

const DECIDED_MS = 1_000_000;
const SETTINGS = { groupId: 101, retries: 2, withinSeconds: 3_600, priority: 0 };
const slot = claim('group/101', 1, 1, { counter: counter('group/101', 'jobs-now', 'now'), unit: 'jobs' });
const full: Violation = {
  ...{ rule: 'slots', class: 'capacity', mode: 'enforce' },
  reason: slot.refusal({ committed: 1, settled: 0 }),
};

/** Rejected for one missing slot. */
const rejected = (over: Partial<JobRecord> = {}): JobRecord => ({
  ...{ jobId: 2, state: 'REJECTED', generation: 1, rev: 1, claims: [], shadow: [], entries: 0 },
  facts: someFacts({ projectId: 1001, rootId: 100 }),
  violations: [full],
  ...{ answered: 'ledger', flagged: false, decidedAtMs: DECIDED_MS },
  ...over,
});
const entryOf = (over?: Partial<JobRecord>) => toRequeueEntry(rejected(over), [], SETTINGS);

test('a job that the ledger rejected for lack of slots, and nothing else, may be retried', () => {
  expect(entryOf()).toMatchObject({
    ...{ jobId: 2, projectId: 1001, root: 100, state: 'waiting', retries: 0, rejectedAtMs: DECIDED_MS },
  });
});

test.each<[string, Partial<JobRecord>]>([
  ['holds what it asked for', { state: 'HELD' }],
  ['was rejected by the fallback', { answered: 'fallback' }],
  ['ran all the same', { flagged: true }],
  ['came past us', { unchecked: 'bypass' }],
  ['has no project', { facts: someFacts({ rootId: 100 }) }],
  ['has no root group', { facts: someFacts({ projectId: 1001 }) }],
  ['was rejected for nothing that is known', { violations: [] }],
])('a job that %s is never retried', (_what, over) => {
  expect(entryOf(over)).toBeUndefined();
});

const ENFORCED = {
  rules: ['budget', 'concurrency', 'capacity'].map((kind) => ({ id: kind, kind, mode: 'enforce' })),
};
const RULES = using(
  aPolicy(ENFORCED),
  someLimits({
    limits: [
      { on: { group: 100 }, jobs: 9, mode: 'shadow' },
      { on: { group: 100 }, cpu: 8 },
      { on: { group: 101 }, memory: '4Ki' },
      { on: { group: 101 }, jobs: 3, cohort: 'ci', borrow: 2, lend: 1 },
      { on: { group: 101 }, money: 5, per: 'month' },
      { on: { group: 102 }, jobs: 4, cohort: 'ci' },
      { on: { runner_class: 'large' }, jobs: 7 },
    ],
  }),
);
const claimed = (over: Partial<JobRecord>, rules = RULES): readonly string[] =>
  retryClaims(rejected({ facts: someFacts({ rootId: 100, groupId: 101 }), ...over }), rules).map(
    ({ counter: { subject, limit }, amount, bound }) => `${subject} ${limit} ${amount} of ${bound}`,
  );

test('a retried job claims what is given back in every limit on its way, and in their cohorts', () => {
  expect(claimed({})).toEqual([
    ...['group/100 jobs-now 1 of 9', 'group/101 jobs-now 1 of 5'],
    ...['cohort/ci jobs:group/101:jobs-now 1 of 2', 'cohort/ci jobs:lent 1 of 5', 'cohort/ci jobs 1 of 7'],
  ]);
});

const lacking = (unit: 'millicpu' | 'bytes', asked: number): Violation => ({
  ...full,
  reason: claim('group/100', asked, 1, { unit }).refusal({ committed: 1, settled: 0 }),
});

test('a retried job of several containers needs all the CPU it asked for, not what one container may request', () => {
  const small = { name: 'small', rate_per_minute: '0.10', cpu: 1, overwrites: { cpu_request: 2 } };
  const prices = { version: '1', classes: [small], default_class: 'small' };
  const limits = someLimits({ limits: [{ on: { group: 100 }, cpu: 8 }] });
  const violations = [lacking('millicpu', 2_500)];
  expect(claimed({ violations }, using(aPolicy({ ...ENFORCED, prices }), limits))).toEqual([
    'group/100 cpu-now 2500 of 8000',
  ]);
});

test('CPU and memory, which came from variables that no record keeps, are those that the rejection names', () => {
  const at = (violations: readonly Violation[]) =>
    claimed({ violations }).filter((one) => !one.includes('jobs'));
  expect(at([full])).toEqual([]);
  expect(at([lacking('millicpu', 2_500), full])).toEqual(['group/100 cpu-now 2500 of 8000']);
  expect(at([lacking('bytes', 1_024)])).toEqual(['group/101 memory-now 1024 of 4096']);
});
