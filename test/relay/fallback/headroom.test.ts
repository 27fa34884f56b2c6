import { expect, test } from 'vitest';
import { createAdmitApp } from '../../../functions/admit/app.ts';
import type { AdmissionsResponse } from '../../../functions/core/contract/admissions.ts';
import { type LedgerClock, silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { readHeadroom } from '../../../relay/admit/response.ts';
import { createFallback, type Fallback } from '../../../relay/fallback/fallback.ts';
import { Headroom } from '../../../relay/fallback/headroom.ts';
import { statelessCheck } from '../../../relay/fallback/stateless-check.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { aPolicy, NOW_MS, someLimits } from '../../policies/documents.ts';
import { range } from '../../support/relay/commit-bench.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Ten minutes at 0.10 EUR. */
const JOB_MICROS = 1_000_000;

interface Setting {
  readonly limits: readonly object[];
  readonly rules?: readonly object[];
  readonly disclose?: object;
  readonly relays?: number;
  readonly failurePolicy?: 'admit' | 'reject';
}

/** The admit function over a table in memory, and the relays that hear its answers. */
function aHouse({ limits, rules, disclose, relays = 1, failurePolicy = 'admit' }: Setting) {
  const policy = aPolicy({ ...(rules && { rules }), ...(disclose && { disclose }) });
  const set = someLimits({ limits }, policy);
  let nowMs = NOW_MS;
  const clock: LedgerClock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} };
  const ledger = createLedger({ store: new MemoryStore({ instance: 'room.example.com' }), clock });
  const app = createAdmitApp({
    ledger,
    currentRules: async () => ({ policy, limits: set, directory: undefined, estimator: timeoutEstimator }),
    clock,
    log: silentLog,
  });
  let settled = true;
  const all = range(0, relays - 1).map(() => {
    const room = new Headroom({
      clock,
      policy,
      directory: () => undefined,
      relays,
      isBookedSince: () => settled,
    });
    const fallback = createFallback({
      clock: { ...handClock(0), nowMs: clock.nowMs },
      stateless: statelessCheck(policy, clock),
      costAndCapacity: failurePolicy,
      newDecisionId: () => 'f-1',
      headroom: room,
    });
    return { room, fallback };
  });
  const ask = async (...requests: readonly AdmissionRequest[]): Promise<AdmissionsResponse> => {
    const body = JSON.stringify({ requests, remainingMs: 2_000 });
    const response = await app.request('/v1/admissions', { method: 'POST', body });
    const answer = (await response.json()) as AdmissionsResponse;
    for (const { room } of all)
      room.report({ headroom: readHeadroom(answer), admitted: [], sentAtMs: nowMs });
    return answer;
  };
  return {
    ask,
    /** The ledger admitted these through one relay, and told nothing. */
    admittedBy: (relay: number, ...requests: readonly AdmissionRequest[]) =>
      all[relay]?.room.report({ headroom: [], admitted: requests, sentAtMs: nowMs }),
    /** All at their first one. */
    fallbacks: all.map(({ fallback }) => fallback),
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Whether all answers of the fallback are in the ledger. */
    settle: (is: boolean) => {
      settled = is;
    },
  };
}

const aJob = (jobId: number, group = 100, more: object = {}): AdmissionRequest => ({
  jobId,
  jobName: 'build',
  projectId: group * 10,
  namespaceId: group,
  rootNamespaceId: group,
  timeoutSeconds: 3_600,
  ...more,
});

const admits = (fallback: Fallback | undefined, job: AdmissionRequest): boolean =>
  fallback?.answer(job, 'unreachable').answer.outcome === 'admitted';

const textOf = (fallback: Fallback | undefined, job: AdmissionRequest): string => {
  const { answer } = fallback?.answer(job, 'unreachable') ?? {};
  return answer?.outcome === 'rejected' ? answer.reason : 'admitted';
};

const money = (amount: number, more: object = {}): object => ({
  on: { group: 100 },
  money: amount,
  per: 'month',
  ...more,
});

test('a decision tells what is left of budgets, with what it took itself, once a second', async () => {
  const { ask, pass } = aHouse({ limits: [money(10), { on: { group: 100 }, jobs: 50 }] });
  const { room = [] } = await ask(aJob(1), aJob(2));
  expect(room).toHaveLength(1);
  expect(room[0]).toMatchObject({
    policy: 'room',
    periodMs: 30 * 24 * HOUR_MS,
    refusal: {
      rule: 'budgets',
      reason: { subject: 'group/100', limit: 'money-month', committed: 2 * JOB_MICROS },
    },
  });
  expect(readHeadroom({ room })).toEqual(room);
  pass(999);
  expect(await ask(aJob(4))).not.toHaveProperty('room');
  pass(1);
  const { room: later } = await ask(aJob(5));
  expect(later?.[0]?.refusal.reason).toMatchObject({ committed: 4 * JOB_MICROS });
});

test('an hour without the function: groups with 5 % of their budget left get no more than that', async () => {
  const groups = range(201, 240);
  const limits = groups.map((group) => ({ on: { group }, money: 100, per: 'month' }));
  for (const relays of [1, 2]) {
    const house = aHouse({ limits, relays });
    for (const group of groups) await house.ask(...range(1, 95).map((n) => aJob(group * 1_000 + n, group)));
    house.pass(2_000);
    for (const group of groups) await house.ask(aJob(group * 1_000 + 96, group));
    const admitted = new Map<number, number>();
    for (const minute of range(0, 59)) {
      house.pass(MINUTE_MS);
      for (const group of groups) {
        for (const [index, fallback] of house.fallbacks.entries()) {
          const jobId = group * 1_000 + 100 + minute * 2 + index;
          if (admits(fallback, aJob(jobId, group))) admitted.set(group, (admitted.get(group) ?? 0) + 1);
        }
      }
    }
    // 4 EUR are left of each; a job costs 1 EUR.
    expect([...admitted.values()]).toEqual(groups.map(() => 4));
  }
});

test('two relays do not give the same rest twice', async () => {
  const { ask, fallbacks } = aHouse({ limits: [money(10)], relays: 2 });
  await ask(...range(1, 7).map((n) => aJob(n)));
  const given = fallbacks.map((fallback) => range(11, 20).filter((n) => admits(fallback, aJob(n))).length);
  expect(given).toEqual([1, 1]);
});

test('beyond it the text says that nobody could be asked, and what was last known', async () => {
  const { ask, fallbacks, pass } = aHouse({ limits: [money(10)], disclose: { default: 'binding' } });
  await ask(...range(1, 9).map((n) => aJob(n)));
  pass(12_000);
  expect(admits(fallbacks[0], aJob(11))).toBe(true);
  const text = textOf(fallbacks[0], aJob(12));
  expect(text).toContain('cannot be asked right now: of the 1.00 EUR last known to be left 12 s ago');
  expect(text).toContain('[BUDGET_EXHAUSTED]');
});

test('a group whose limits are not told gets no number', async () => {
  const { ask, fallbacks } = aHouse({ limits: [money(10)], disclose: { default: 'none' } });
  await ask(...range(1, 9).map((n) => aJob(n)));
  expect(admits(fallbacks[0], aJob(11))).toBe(true);
  const text = textOf(fallbacks[0], aJob(12));
  expect(text).toMatch(/^A CI limit cannot be asked right now: of what was last known to be left/);
  expect(text).not.toMatch(/EUR|budget|group 100/);
});

test('slots are given out freely unless the limit or its rule says otherwise', async () => {
  const slots = { on: { group: 100 }, jobs: 2 };
  const rules = [{ id: 'slots', kind: 'concurrency', mode: 'enforce', when_unreachable: 'room' }];
  const admittedBy = async (setting: Setting): Promise<number> => {
    const { ask, fallbacks } = aHouse(setting);
    await ask(aJob(1));
    return range(11, 20).filter((n) => admits(fallbacks[0], aJob(n))).length;
  };
  expect(await admittedBy({ limits: [slots] })).toBe(10);
  expect(await admittedBy({ limits: [{ ...slots, when_unreachable: 'room' }] })).toBe(1);
  expect(await admittedBy({ limits: [slots], rules })).toBe(1);
  expect(await admittedBy({ limits: [{ ...slots, when_unreachable: 'admit' }], rules })).toBe(10);
  expect(await admittedBy({ limits: [money(10, { when_unreachable: 'admit' })] })).toBe(10);
});

test('slots come back when their jobs must have ended', async () => {
  const { ask, fallbacks, pass } = aHouse({
    limits: [{ on: { group: 100 }, jobs: 2, when_unreachable: 'room' }],
  });
  await ask(aJob(1));
  expect(range(11, 13).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, false, false]);
  pass(10 * MINUTE_MS);
  expect(range(14, 15).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, false]);
});

test('a window that is over begins anew with the whole limit, again and again', async () => {
  const { ask, fallbacks, pass } = aHouse({
    limits: [{ on: { group: 100 }, starts: 3, per: 'minute', when_unreachable: 'room' }],
    rules: [{ id: 'starts', kind: 'window', mode: 'enforce' }],
  });
  await ask(aJob(1));
  const admittedOf = (from: number): number =>
    range(from, from + 9).filter((n) => admits(fallbacks[0], aJob(n))).length;
  expect(admittedOf(10)).toBe(2);
  pass(MINUTE_MS);
  expect(admittedOf(20)).toBe(3);
  pass(59_000);
  expect(admittedOf(30)).toBe(0);
  pass(3 * MINUTE_MS);
  expect(admittedOf(40)).toBe(3);
});

test('a limit that says reject lets nobody start, and one of 0 stays blocked', async () => {
  const rejecting = aHouse({ limits: [money(10, { when_unreachable: 'reject' })] });
  await rejecting.ask(aJob(1));
  expect(textOf(rejecting.fallbacks[0], aJob(2))).toMatch(
    /lets no job start in that time\.\n\[CONTROLLER_ERROR\]/,
  );
  const blocked = aHouse({ limits: [money(0)] });
  await blocked.ask(aJob(1));
  expect(admits(blocked.fallbacks[0], aJob(2))).toBe(false);
  expect(admits(blocked.fallbacks[0], aJob(3, 300))).toBe(true);
});

test('what was given stays given until the ledger knows of it', async () => {
  const { ask, fallbacks, pass, settle } = aHouse({ limits: [money(10)] });
  await ask(...range(1, 7).map((n) => aJob(n)));
  settle(false);
  expect(range(11, 12).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, true]);
  pass(1_000);
  // It tells of eight jobs and does not know of the two.
  await ask(aJob(8));
  expect(range(13, 14).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([false, false]);
  settle(true);
  pass(1_000);
  await ask(aJob(9));
  expect(range(15, 16).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, false]);
});

test('what the ledger admitted since it told is deducted by the relay that heard of it, and forgotten when it tells again', async () => {
  const { ask, admittedBy, fallbacks, pass } = aHouse({ limits: [money(10)], relays: 2 });
  await ask(...range(1, 2).map((n) => aJob(n)));
  // Eight are left; both relays have four of them.
  admittedBy(0, ...range(3, 5).map((n) => aJob(n)));
  admittedBy(1, aJob(6));
  admittedBy(1, aJob(7, 300));
  expect(range(11, 12).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, false]);
  expect(range(13, 16).map((n) => admits(fallbacks[1], aJob(n)))).toEqual([true, true, true, false]);
  pass(2_000);
  // It knows of three jobs of its own, and all answers of the fallback are taken to be in it.
  await ask(aJob(8));
  expect(range(21, 24).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, true, true, false]);
});

test('slots that were taken before an outage come back by the estimated ends of their jobs, and none that others took', async () => {
  const slots = { on: { group: 100 }, jobs: 4, when_unreachable: 'room' };
  for (const [relays, back] of [
    [1, 3],
    [2, 2],
  ] as const) {
    const { ask, admittedBy, fallbacks, pass } = aHouse({ limits: [slots], relays });
    await ask(aJob(1));
    pass(HOUR_MS);
    await ask(aJob(2), aJob(3), aJob(4));
    admittedBy(0, aJob(2), aJob(3), aJob(4));
    pass(1_000);
    // All four are taken in the books, though the first one must have ended.
    expect((await ask(aJob(5))).decisions[0]).toMatchObject({ outcome: 'rejected' });
    pass(9 * MINUTE_MS);
    expect(admits(fallbacks[0], aJob(11))).toBe(false);
    pass(MINUTE_MS);
    expect(range(21, 26).filter((n) => admits(fallbacks[0], aJob(n)))).toHaveLength(back);
    // The other one let none of them in.
    expect(fallbacks.slice(1).map((other) => admits(other, aJob(31)))).toEqual(relays === 1 ? [] : [false]);
  }
});

test('a relay that may not know all jobs that run gives no slots back', async () => {
  const { ask, admittedBy, fallbacks, pass } = aHouse({
    limits: [{ on: { group: 100 }, jobs: 1, when_unreachable: 'room' }],
  });
  await ask(aJob(1));
  admittedBy(0, aJob(1));
  pass(1_000);
  await ask(aJob(2));
  pass(HOUR_MS - 2_000);
  expect(admits(fallbacks[0], aJob(3))).toBe(false);
  pass(1_000);
  expect(admits(fallbacks[0], aJob(4))).toBe(true);
});

test('a job admitted before any room was told is not known, however long it runs: until its end no slots come back', async () => {
  const { ask, admittedBy, fallbacks, pass } = aHouse({
    limits: [{ on: { group: 100 }, jobs: 1, when_unreachable: 'room' }],
  });
  admittedBy(0, aJob(9, 300, { timeoutSeconds: 3 * 3_600 }));
  await ask(aJob(1));
  admittedBy(0, aJob(1));
  pass(1_000);
  await ask(aJob(2));
  pass(2 * HOUR_MS);
  expect(admits(fallbacks[0], aJob(3))).toBe(false);
  pass(HOUR_MS);
  expect(admits(fallbacks[0], aJob(4))).toBe(true);
});

test('a job that is asked about twice in an outage spends room once', async () => {
  const { ask, fallbacks } = aHouse({ limits: [money(10)] });
  await ask(...range(1, 7).map((n) => aJob(n)));
  expect([11, 11, 12, 11, 13, 14].map((n) => admits(fallbacks[0], aJob(n)))).toEqual([
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
});

test('an answer that was asked for before the room was taken does not give it back', async () => {
  const { ask, fallbacks, pass } = aHouse({ limits: [money(10)] });
  await ask(...range(1, 8).map((n) => aJob(n)));
  expect(range(11, 13).map((n) => admits(fallbacks[0], aJob(n)))).toEqual([true, true, false]);
  pass(1_900);
  // The two are on their way to the ledger, which tells of nine jobs.
  await ask(aJob(9));
  expect(admits(fallbacks[0], aJob(14))).toBe(false);
});

test('a limit that only watches binds nobody, and what is not of the contract is not believed', async () => {
  const { ask } = aHouse({ limits: [money(10, { mode: 'shadow' })] });
  expect(await ask(aJob(1))).not.toHaveProperty('room');
  const honest = await aHouse({ limits: [money(10)] }).ask(aJob(1));
  const [room] = honest.room ?? [];
  const withReason = (parts: object): object => ({
    ...room,
    refusal: { ...room?.refusal, reason: { ...room?.refusal.reason, ...parts } },
  });
  const odd = [
    null,
    { ...room, policy: 'admit' },
    { ...room, periodMs: 0 },
    { policy: 'room' },
    withReason({ unit: 'pears' }),
    withReason({ limitAmount: '10' }),
    withReason({ committed: null }),
    withReason({ subject: '' }),
  ];
  expect(readHeadroom({ room: [...odd, room] })).toEqual([room]);
  expect(readHeadroom({ room: 'all' })).toEqual([]);
});
