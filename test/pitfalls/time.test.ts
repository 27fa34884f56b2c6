import { expect, test } from 'vitest';
import { decide } from '../../functions/core/admission/decide.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { aJob, MINUTE_MS, ONE, ran, rulesOf, wordOf, world } from './world.ts';

const per = (period: string, zone: string, money = 1) => [{ on: { group: 100 }, money, per: period, zone }];

/** The last millisecond of a period, the first of the next, and what the two are called. */
const EDGES: readonly (readonly [string, string, string, string, string])[] = [
  ['day', 'Europe/Berlin', '2026-10-25T23:00:00Z', '2026-10-25', '2026-10-26'],
  ['month', 'Pacific/Kiritimati', '2026-11-30T10:00:00Z', '2026-11', '2026-12'],
];

test.each(EDGES)(
  'a %s in %s: full to the last millisecond, free with the next',
  async (kind, zone, next, before, after) => {
    const { outcome, goTo, clock, committed } = world({ limits: per(kind, zone) });
    goTo(next);
    clock.advance(-1);
    expect(await outcome(aJob(1))).toBe('admitted');
    expect(await outcome(aJob(2))).toBe('BUDGET_EXHAUSTED');
    clock.advance(1);
    expect(await outcome(aJob(3))).toBe('admitted');
    const limit = `money-${kind}`;
    expect([await committed('group/100', before, limit), await committed('group/100', after, limit)]).toEqual(
      [ONE, ONE],
    );
  },
);

test('a period boundary while holding: the hold stays in its period and takes nothing of the next', async () => {
  const { outcome, goTo, clock, committed, hear } = world({ limits: per('month', 'UTC') });
  goTo('2026-11-30T23:50:00Z');
  await outcome(aJob(1));
  clock.advance(20 * MINUTE_MS);
  expect(await outcome(aJob(2))).toBe('admitted');
  expect([await committed('group/100', '2026-11'), await committed('group/100', '2026-12')]).toEqual([
    ONE,
    ONE,
  ]);
  await hear(ran(1, 60), ran(2, 60));
  expect([await committed('group/100', '2026-11'), await committed('group/100', '2026-12')]).toEqual([
    100_000, 100_000,
  ]);
});

test('a clock 5 min skewed: each program counts by its own clock, every job once, and a repeated job where it was', async () => {
  const documents = { limits: per('month', 'UTC') };
  const { store, clock, ask, outcome, goTo, committed, hear, drift } = world(documents);
  goTo('2026-11-30T23:58:00Z');
  const ahead = { ...clock, nowMs: () => clock.nowMs() + 5 * MINUTE_MS };
  const ledger = createLedger({ store, clock: ahead });
  const askAhead = async (jobId: number) => {
    const rules = rulesOf(documents);
    const deps = { ledger, currentRules: async () => rules, clock: ahead, log: silentLog };
    return decide([aJob(jobId)], clock.monotonicMs() + 30_000, deps);
  };
  const [first] = await ask([aJob(1)]);
  const [second] = await askAhead(2);
  expect([wordOf(first), wordOf(second)]).toEqual(['admitted', 'admitted']);
  expect([await askAhead(1), await ask([aJob(2)])]).toEqual([[first], [second]]);
  expect(await outcome(aJob(3))).toBe('BUDGET_EXHAUSTED');
  expect([await committed('group/100', '2026-11'), await committed('group/100', '2026-12')]).toEqual([
    ONE,
    ONE,
  ]);
  await hear(ran(1, 60), ran(2, 60));
  expect([await committed('group/100', '2026-11'), await committed('group/100', '2026-12')]).toEqual([
    100_000, 100_000,
  ]);
  expect(await drift()).toEqual([]);
});
