import { expect, test } from 'vitest';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { usageOf } from '../../../../functions/core/usage/usage.ts';
import { blocked } from '../../../support/ledger/asks.ts';
import { aRecord, Feed, rollupBench } from '../../../support/ledger/rollup-bench.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

const rejected = (jobId: number, decidedAtMs = NOVEMBER_21_MS): JobRecord => {
  const { dueAtMs: _due, ...rest } = aRecord({ jobId, decidedAtMs });
  return { ...rest, state: 'REJECTED', endedAtMs: decidedAtMs, violations: [blocked] };
};

test('a rejected job is on the list of every group above it, of its project and of the instance, and of nobody else', async () => {
  const { store, deliver } = rollupBench();
  const feed = new Feed();
  feed.push(aRecord({ jobId: 1 }));
  feed.push(rejected(2));
  feed.push(rejected(3, NOVEMBER_21_MS + 1));
  await deliver(feed.records);
  await deliver(feed.records);
  const subjects = ['instance', 'group/100', 'group/101', 'group/104', 'project/7'];
  for (const { jobs } of await store.readRejections(subjects))
    expect(jobs.map(({ jobId }) => jobId)).toEqual([3, 2]);
  const [other] = await store.readRejections(['group/999']);
  expect(other).toEqual({ subject: 'group/999', jobs: [], rev: 0 });
});

test('what a rule that only watches would have rejected is counted under it, but no warning and no exemption', async () => {
  const { store, deliver } = rollupBench();
  const feed = new Feed();
  const watched = { ...blocked, mode: 'shadow' as const };
  const exempt = { ...watched, rule: 'images', exempt: true as const };
  feed.push(aRecord({ shadow: [watched, watched, exempt] }));
  feed.push({ ...rejected(2), shadow: [watched] });
  await deliver(feed.records);
  const [tally] = await store.readUsage([{ subject: 'instance', day: '2026-11-21' }]);
  expect([...usageOf(tally ?? new Map()).watchedBy]).toEqual([['budget', 1]]);
});
