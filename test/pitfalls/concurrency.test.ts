import { expect, test } from 'vitest';
import type { StoreFault } from '../../functions/core/ledger/memory-store.ts';
import { aJob, count, ONE, range, wordOf, world } from './world.ts';

const on = (group: number, money: number) => ({ on: { group }, money, per: 'month' });

test('200 parallel admissions against a limit for 37: exactly 37 by two programs, and nobody holds more', async () => {
  const { ask, ledger, other, committed, drift } = world({ limits: [on(100, 37)] });
  const decisions = await Promise.all(
    range(1, 200).map((jobId) => ask([aJob(jobId)], jobId % 2 === 0 ? ledger : other)),
  );
  const words = decisions.flat().map(wordOf);
  expect([count(words, 'admitted'), count(words, 'BUDGET_EXHAUSTED')]).toEqual([37, 163]);
  expect(await committed('group/100')).toBe(37 * ONE);
  expect(await drift()).toEqual([]);
});

test('a hierarchy where only the parent is full: the job is rejected for the parent, its own group untouched', async () => {
  const { ask, outcome, committed } = world({ limits: [on(100, 1), on(101, 50), on(104, 50)] });
  await ask([aJob(1, { projectId: 9, namespaceId: 102 })]);
  const [decision] = await ask([aJob(2)]);
  expect(decision).toMatchObject({
    outcome: 'rejected',
    violations: [{ reason: { code: 'BUDGET_EXHAUSTED', subject: 'group/100', committed: ONE } }],
  });
  expect([await committed('group/101'), await committed('group/104')]).toEqual([0, 0]);
  expect(await outcome(aJob(2))).toBe('BUDGET_EXHAUSTED');
});

test('two siblings racing for the parent: together they get what it has, each at most its own', async () => {
  const { ask, ledger, other, committed, drift } = world({ limits: [on(100, 10), on(101, 8), on(102, 8)] });
  const one = range(1, 20).map((jobId) => ask([aJob(jobId, { namespaceId: 101 })], ledger));
  const two = range(101, 20).map((jobId) => ask([aJob(jobId, { namespaceId: 102 })], other));
  const words = (await Promise.all([...one, ...two])).flat().map(wordOf);
  const [first, second] = [await committed('group/101'), await committed('group/102')];
  expect([await committed('group/100'), first + second, count(words, 'admitted')]).toEqual([
    10 * ONE,
    10 * ONE,
    10,
  ]);
  expect(Math.max(first, second)).toBeLessThanOrEqual(8 * ONE);
  expect(await drift()).toEqual([]);
});

test('conflict retry exhaustion: undecided and never rejected, no trace, and decided once the table is calm', async () => {
  let fault: StoreFault | undefined = { kind: 'conflict' };
  const store = { fault: (operation: string) => (operation === 'transact' ? fault : undefined) };
  const { outcome, committed, record } = world({ limits: [on(100, 10)] }, { store });
  expect(await outcome(aJob(1))).toBe('undecided:contended');
  expect([await committed('group/100'), await record(1)]).toEqual([0, undefined]);
  fault = undefined;
  expect(await outcome(aJob(1))).toBe('admitted');
  expect(await committed('group/100')).toBe(ONE);
});

test('two relays delivering one job: one decision id, one charge, whoever is first', async () => {
  const { ask, ledger, other, committed, drift } = world({ limits: [on(100, 10)] });
  const [[one], [two]] = await Promise.all([ask([aJob(1)], ledger), ask([aJob(1)], other)]);
  expect(one).toMatchObject({ outcome: 'admitted', decisionId: 'd-1-1' });
  expect(two).toEqual(one);
  expect(await committed('group/100')).toBe(ONE);
  expect(await drift()).toEqual([]);
});
