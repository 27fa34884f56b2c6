import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAdmitApp } from '../../../functions/admit/app.ts';
import type { AdmissionsResponse } from '../../../functions/core/contract/admissions.ts';
import { type LedgerClock, silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { readHeadroom } from '../../../relay/admit/response.ts';
import { createFallback, type Fallback } from '../../../relay/fallback/fallback.ts';
import { Headroom, type HeadroomSnapshot } from '../../../relay/fallback/headroom.ts';
import { createHeadroomSnapshots } from '../../../relay/fallback/headroom-snapshot.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { aPolicy, NOW_MS, someLimits } from '../../policies/documents.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { range } from '../../support/relay/commit-bench.ts';
import { budgetRoom } from '../../support/relay/decisions.ts';

const MINUTE_MS = 60_000;

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
      policy: () => policy,
      directory: () => undefined,
      relays,
      isDelivered: () => settled,
    });
    const fallback = createFallback({
      clock: { ...handClock(0), nowMs: clock.nowMs },
      policy: () => policy,
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
    for (const { room } of all) room.report(readHeadroom(answer));
    return answer;
  };
  return {
    ask,
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
  expect(textOf(rejecting.fallbacks[0], aJob(2))).toMatch(/starts no job until then\.\n\[CONTROLLER_ERROR\]/);
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

describe('restarts in an outage', () => {
  const clock = handClock();
  const policy = () => aPolicy();
  const newRoom = (relays: number): Headroom =>
    new Headroom({ clock, policy, relays, isDelivered: () => true, directory: () => undefined });

  const relaysInAnOutage = [
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 0, max: 30 }),
    fc.array(
      fc.record({
        relay: fc.nat({ max: 3 }),
        does: fc.constantFrom('asks', 'asks', 'asks', 'writes', 'dies'),
      }),
      { maxLength: 120 },
    ),
  ] as const;

  test('however often relays die in an outage, they give what is left, and again only what the dead had not written down', () => {
    fc.assert(
      fc.property(...relaysInAnOutage, (relays, left, steps) => {
        const written: HeadroomSnapshot[] = [];
        const started = () => {
          const room = newRoom(relays);
          createHeadroomSnapshots({
            ...{ left: [...written], write: async () => {}, clock, headroom: room, failed: () => {} },
          }).restore();
          return { room, place: written.push({ rooms: [], given: [] }) - 1, unwritten: 0 };
        };
        const now = range(1, relays).map(started);
        for (const { room, place } of now) {
          room.report([budgetRoom(left)]);
          written[place] = room.snapshot();
        }
        let admitted = 0;
        let lost = 0;
        const refusedBy = new Set<number>();
        steps.forEach(({ relay, does }, jobId) => {
          const at = relay % relays;
          const one = now[at] ?? started();
          if (does === 'dies') {
            lost += one.unwritten;
            now[at] = started();
          } else if (does === 'writes') {
            written[one.place] = one.room.snapshot();
            one.unwritten = 0;
          } else if (one.room.take(aJob(jobId)) === undefined) {
            admitted += 1;
            one.unwritten += 1;
          } else refusedBy.add(at);
        });
        expect(admitted).toBeLessThanOrEqual(left + lost);
        // A relay that refused without a death before has given its whole share.
        if (!steps.some(({ does }) => does === 'dies')) {
          const share = Math.floor(left / relays);
          expect(admitted).toBeGreaterThanOrEqual(refusedBy.size * share);
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});
