import { expect, test } from 'vitest';
import type { JobRecord } from '../../../../functions/core/ledger/index.ts';
import { requeueEntryOf } from '../../../../functions/core/requeue/index.ts';
import type { Violation } from '../../../../policies/reason.ts';
import { claim, counter, someFacts } from '../../../support/ledger/asks.ts';

const DECIDED_MS = 1_000_000;
const SETTINGS = { groupId: 101, retries: 2, withinSeconds: 3_600, priority: 0 };
const slot = claim('group/101', 1, 1, { counter: counter('group/101', 'jobs-now', 'now'), unit: 'jobs' });
const full = (seen: { readonly lentOut?: true } = {}): Violation => ({
  ...{ rule: 'slots', class: 'capacity', mode: 'enforce' },
  reason: slot.refusal({ committed: 1, settled: 0, ...seen }),
});

/** Rejected for one missing slot. */
const rejected = (over: Partial<JobRecord> = {}): JobRecord => ({
  ...{ jobId: 2, state: 'REJECTED', generation: 1, rev: 1, claims: [], shadow: [], entries: 0 },
  facts: someFacts({ projectId: 1001, rootId: 100 }),
  violations: [full()],
  ...{ answered: 'ledger', flagged: false, decidedAtMs: DECIDED_MS },
  ...over,
});
const entryOf = (over?: Partial<JobRecord>) => requeueEntryOf(rejected(over), [], SETTINGS);

test('a job that the ledger rejected for lack of slots, and nothing else, may be retried', () => {
  expect(entryOf()).toMatchObject({
    ...{ jobId: 2, projectId: 1001, root: 100, state: 'waiting', retries: 0, rejectedAtMs: DECIDED_MS },
    wants: [{ counter: slot.counter, asked: 1, limitAmount: 1 }],
  });
  expect(entryOf()?.againAtMs).toBeUndefined();
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

test('where others of the cohort have the slot it is asked for after five minutes', () => {
  expect(entryOf({ violations: [full({ lentOut: true })] })).toMatchObject({
    againAtMs: DECIDED_MS + 5 * 60_000,
  });
});

test('a retried job counts the retries before it, and no more than the group allows', () => {
  const [first] = [entryOf()];
  if (first === undefined) throw new Error('it may be retried');
  const after = (retries: number) =>
    requeueEntryOf(
      rejected({ jobId: 3, decidedAtMs: DECIDED_MS + 60_000 }),
      [{ ...first, state: 'retried', newJobId: 3, retries }],
      SETTINGS,
    );
  expect(after(1)).toMatchObject({ state: 'waiting', retries: 1, firstAtMs: DECIDED_MS });
  expect(after(2)).toMatchObject({ state: 'over', why: 'it was retried 2 of 2 times' });
});
