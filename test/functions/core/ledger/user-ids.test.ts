/** Ids of users leave the books 90 days after what they were needed for, and nothing that counts changes. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { type PseudonymKeys, replaceUserIds } from '../../../../functions/core/ledger/user-ids.ts';
import { recordVisit } from '../../../../functions/drift/recount.ts';
import { anAsk, claim, counter, someFacts } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const DAY_MS = 86_400_000;
const ALICE = 987_654_321;
const BOB = 123_456_789;

const fixedKeys: Pick<PseudonymKeys, 'keyOf'> = {
  keyOf: async (year) => new TextEncoder().encode(`key of ${year}`),
};

function books() {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  /** A job of a user with limits of money on the group, and on the user by month and by day. */
  async function job(jobId: number, userId: number, month: string): Promise<void> {
    const user = (limit: string, period: string) =>
      claim(`user/${userId}`, 100, undefined, { counter: counter(`user/${userId}`, limit, period) });
    const claims = [
      claim('group/1', 100, 1_000_000, { counter: counter('group/1', 'money-month', month) }),
      ...[user('money-month', month), user('money-day', `${month}-21`)],
      claim(`user/${userId}`, 1, undefined, {
        counter: counter(`user/${userId}`, 'slots', 'now'),
        unit: 'jobs',
      }),
    ];
    await ledger.hold([anAsk(jobId, claims, { facts: someFacts({ userId }) })], clock.monotonicMs() + 60_000);
    await ledger.settle([{ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() + 60_000 }]);
  }
  /** What a night does. */
  async function night() {
    store.collectGarbage();
    let names = { replaced: 0, left: 0 };
    const visit = recordVisit(
      { sinceMs: 0, nowMs: clock.nowMs() },
      {
        mend: async ({ length }) => ({ jobs: length, mended: 0, failed: 0 }),
        keepCounters: async () => {},
        replaceUserIds: async (jobIds) => {
          names = await replaceUserIds(jobIds, Number.POSITIVE_INFINITY, { store, keys: fixedKeys, clock });
        },
      },
    );
    for await (const item of store.scan()) if (item.kind === 'record') visit.see(item.record);
    await visit.work();
    const { drift, unproven } = await ledger.rebuild({ repair: true });
    return { ...names, drifting: drift.length + unproven.length };
  }
  const everything = (): string => JSON.stringify([...store.dump()]);
  return { clock, store, ledger, job, night, everything };
}

test('no user id is left of jobs and periods that are over for 90 days, and a user’s jobs still add up', async () => {
  const { clock, store, ledger, job, night, everything } = books();
  await job(1, ALICE, '2026-11');
  await job(2, ALICE, '2026-11');
  await job(3, BOB, '2026-11');
  // A correction names the user’s counters, too.
  await ledger.settle([{ jobId: 2, durationSeconds: 90, endedAtMs: clock.nowMs() + 90_000 }]);
  let drifting = 0;
  for (let day = 1; day <= 85; day += 1) {
    clock.advance(DAY_MS);
    const { replaced, drifting: found } = await night();
    drifting += found;
    expect(replaced).toBe(0);
  }
  expect(everything()).toContain(String(ALICE));
  for (let day = 86; day <= 101; day += 1) {
    clock.advance(DAY_MS);
    drifting += (await night()).drifting;
  }
  expect(drifting).toBe(0);
  expect(everything()).not.toMatch(new RegExp(`${ALICE}|${BOB}`));
  const names = (await ledger.readRecords([1, 2, 3])).map((record) => record?.facts.userPseudonym);
  expect(names[0]).toBe(names[1]);
  expect(new Set(names).size).toBe(2);
  const [alice] = (await ledger.readRecords([2])).flatMap((record) => record?.claims ?? []).slice(1);
  expect(alice).toMatchObject({ counter: { subject: `user/${names[1]}` }, counted: 60, corrected: 30 });
  const entries = await store.readEntries(2, { timeoutMs: 1000 });
  expect(entries[0]?.deltas.map(({ counter: { subject } }) => subject)).toContain(`user/${names[1]}`);
});

test('what was rewritten says nothing new to readers of the stream, and is not rewritten again', async () => {
  const { clock, ledger, job, night } = books();
  await job(1, ALICE, '2026-11');
  const rev = (await ledger.readRecord(1))?.rev;
  clock.advance(102 * DAY_MS);
  expect(await night()).toMatchObject({ replaced: 1, left: 0 });
  expect((await ledger.readRecord(1))?.rev).toBe(rev);
  expect(await night()).toMatchObject({ replaced: 0, left: 0 });
});

test('a record that somebody writes meanwhile is left for the next night', async () => {
  const { clock, store, job, ledger } = books();
  await job(1, ALICE, '2026-11');
  clock.advance(100 * DAY_MS);
  const stale = await ledger.readRecord(1);
  if (stale === undefined) throw new Error('job 1 was settled and has no record');
  const next = { ...stale, rev: stale.rev + 1 };
  await store.transact([{ kind: 'record', record: next, replaces: stale }], {
    token: randomUUID(),
    timeoutMs: 1000,
  });
  expect(await store.rewrite(stale, [], { timeoutMs: 1000 })).toBe(false);
  expect(await ledger.readRecord(1)).toEqual(next);
});
