import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldRequest } from '../../../../functions/core/ledger/ledger.ts';
import { evaluate } from '../../../../policies/evaluate.ts';
import { aPolicy, NOW_MS, someLimits, using } from '../../../policies/documents.ts';
import { anAsk, claim, graced, wordOf } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const policy = aPolicy();
const document = {
  limits: [{ on: { group: 101 }, jobs: 1 }],
  breakglass: [
    {
      on: { group: 101 },
      id: 'b-1',
      users: [5],
      jobs: 2,
      from: '2026-11-21',
      until: '2026-11-22',
      reason: 'outage',
    },
  ],
};

function build() {
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0, sleep: async () => {} };
  const ledger = createLedger({ store: new MemoryStore({ instance: 'gitlab.example.com' }), clock });
  let jobs = 0;
  const hold = async (userId: number, more: object = {}) => {
    jobs += 1;
    const request = { jobId: jobs, projectId: 1, namespaceId: 104, rootNamespaceId: 100, userId };
    const { facts, violations, claims, breakGlass } = evaluate(
      request,
      using(policy, someLimits({ ...document, ...more }, policy)),
    );
    const ask: HoldRequest = {
      jobId: jobs,
      facts,
      violations,
      claims,
      ...(breakGlass !== undefined && { breakGlass }),
    };
    const [outcome] = await ledger.hold([ask], 10_000);
    return outcome;
  };
  return { ledger, hold };
}
const glassCounter = { subject: 'break-glass/b-1', limit: 'jobs', period: '2026-11-22' };
const limitCounter = { subject: 'group/101', limit: 'jobs-now', period: 'now' };

test('glass is broken only for jobs that would be rejected, up to its cap; then they are rejected for what stopped them', async () => {
  const { ledger, hold } = build();
  const used = async () =>
    (await ledger.readCounters([glassCounter, limitCounter])).map(({ committed }) => committed);
  expect(await hold(5)).toMatchObject({ outcome: 'admitted', shadow: [] });
  expect(await used()).toEqual([0, 1]);
  for (let job = 1; job <= 2; job += 1)
    expect(await hold(5)).toMatchObject({
      outcome: 'admitted',
      shadow: [{ reason: { code: 'BREAK_GLASS' } }],
    });
  expect(await used()).toEqual([2, 3]);
  expect(await hold(5)).toMatchObject({
    outcome: 'rejected',
    violations: [{ reason: { code: 'CONCURRENCY_FULL', committed: 3 } }],
  });
  expect(await used()).toEqual([2, 3]);
  expect(await hold(6)).toMatchObject({ outcome: 'rejected' });
});

test('what it let in counts as unchecked, is given back at the end, and stays used', async () => {
  const { ledger, hold } = build();
  await hold(5);
  await hold(5);
  const [counter] = await ledger.readCounters([limitCounter]);
  expect(counter?.unchecked.exempt).toBe(1);
  await ledger.settle([1, 2].map((jobId) => ({ jobId, durationSeconds: 60, endedAtMs: NOW_MS + 60_000 })));
  expect((await ledger.readCounters([glassCounter, limitCounter])).map(({ committed }) => committed)).toEqual(
    [1, 0],
  );
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('glass stays whole for a job that its pipeline’s grace may let in', async () => {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const glass = claim('break-glass/b-1', 1, 5, { counter: glassCounter, unit: 'jobs' });
  const ask = (jobId: number): HoldRequest =>
    anAsk(jobId, graced(7, 90, 100, 200), { breakGlass: { violations: [], claims: [glass] } });
  // A process of its own each, which knows of no pipeline.
  for (const jobId of [1, 2]) {
    const ledger = createLedger({ store, clock, random: () => 0.5 });
    expect((await ledger.hold([ask(jobId)], 10_000)).map(wordOf)).toEqual(['admitted']);
    expect((await ledger.readRecord(jobId))?.unchecked).toBeUndefined();
    expect(await ledger.readCounters([glassCounter])).toMatchObject([{ committed: 0 }]);
  }
});
