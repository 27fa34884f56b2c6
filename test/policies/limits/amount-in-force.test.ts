import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { carriedInto, limitAt } from '../../../policies/limits/limits.ts';
import { aPolicy, NOW_MS, someLimits, using } from '../documents.ts';

const GRANT = { on: { group: 101 }, limit: 'money-month', reason: 'release', ticket: 'FIN-7' };
const NOVEMBER = { from: '2026-11-01', until: '2026-11-30' };

const document = (limit: object, grants: readonly object[] = []) => ({
  limits: [{ on: { group: 101 }, money: 500, per: 'month', ...limit }],
  grants: grants.map((grant) => ({ ...GRANT, ...NOVEMBER, ...grant })),
});
function limitOf(limit: object, grants: readonly object[] = [], over: Partial<Limit> = {}): Limit {
  const [read] = someLimits(document(limit, grants)).bySubject.get('group/101') ?? [];
  if (read === undefined) throw new Error('the limit was not read');
  return { ...read, ...over };
}
const inForce = (limit: Limit, atMs = NOW_MS): number => {
  const { amount } = limitAt(limit, atMs);
  return amount === 'unlimited' ? Number.POSITIVE_INFINITY : amount / 1_000_000;
};
const opening = (carried: number, period = '2026-11') => ({
  opening: { period, carried: carried * 1_000_000 },
});
const claimOf = (limit: object, grants: readonly object[], nowMs = NOW_MS) => {
  const policy = aPolicy();
  const request = { jobId: 1, namespaceId: 101, rootNamespaceId: 100, jobTags: ['large'] };
  return evaluate(request, using(policy, someLimits(document(limit, grants), policy), { nowMs }));
};

describe('grants', () => {
  test('grants overlapping add up; those of another time do not count', () => {
    const limit = limitOf({}, [
      { amount: '+200' },
      { amount: 50.5 },
      { amount: 1000, from: '2026-12-01', until: '2026-12-31' },
      { amount: 1000, from: '2026-10-01', until: '2026-10-31' },
    ]);
    expect(inForce(limit)).toBe(750.5);
  });

  test('they are half-open, on the calendar of the limit’s zone', () => {
    const limit = limitOf({ zone: 'Europe/Berlin' }, [
      { amount: 200, from: '2026-11-21', until: '2026-11-21' },
    ]);
    const [startMs, endMs] = [Date.UTC(2026, 10, 20, 23), Date.UTC(2026, 10, 21, 23)];
    expect([startMs - 1, startMs, endMs - 1, endMs].map((atMs) => inForce(limit, atMs))).toEqual([
      500, 700, 700, 500,
    ]);
  });

  test('shares of soft and grace grow along, amounts of them keep their distance or their place', () => {
    const shares = limitAt(limitOf({ soft: '80%', grace: '10%' }, [{ amount: 500 }]), NOW_MS);
    expect([shares.softAmount, shares.graceAmount]).toEqual([800_000_000, 1_100_000_000]);
    const amounts = limitAt(limitOf({ soft: 400, grace: 50 }, [{ amount: 500 }]), NOW_MS);
    expect([amounts.softAmount, amounts.graceAmount]).toEqual([400_000_000, 1_050_000_000]);
  });

  test('the bound that is asked, and the number a rejection names, are those in force', () => {
    const { claims } = claimOf({ money: 5 }, [{ amount: 3 }]);
    expect(claims[0]?.bound).toBe(8_000_000);
    expect(claims[0]?.refusal({ committed: 8_000_000, settled: 0 })).toMatchObject({
      limitAmount: 8_000_000,
    });
    const { violations } = claimOf({ money: 5 }, [{ amount: 3 }], Date.UTC(2026, 11, 1));
    expect(violations[0]?.reason).toMatchObject({ code: 'EXCEEDS_LIMIT_ALONE', limitAmount: 5_000_000 });
  });
});

describe('carry-over', () => {
  const MICROS = 1_000_000;
  const into = (limit: Limit, committed: number, settled = committed, carried = 0): number =>
    carriedInto(limit, NOW_MS, {
      committed: committed * MICROS,
      settled: settled * MICROS,
      carried: carried * MICROS,
    }) / MICROS;

  test.each([
    [0, 100, 'at most the cap'],
    [420, 80, 'what is left'],
    [500, 0, 'nothing of what is used up'],
    [620, 0, 'nothing of what is overdrawn: it is absorbed'],
  ])('after %i of 500 were used the next period gets %i: %s', (used, expected) => {
    expect(into(limitOf({ carry: { max: '20%' } }), used)).toBe(expected);
  });

  test('an overdraft that is carried is taken from the next period, of which never less than nothing is left', () => {
    const limit = limitOf({ overdraft: 'carry' });
    expect(into(limit, 620)).toBe(-120);
    expect(inForce({ ...limit, ...opening(-120) })).toBe(380);
    expect(inForce({ ...limit, ...opening(-800) })).toBe(0);
    expect(into(limitOf({ overdraft: 'alert' }), 620)).toBe(0);
  });

  test('what was overdrawn is named where it makes the limit smaller, and nowhere else', () => {
    const overdrawn = (limit: Limit) => limitAt(limit, NOW_MS).overdrawn;
    expect(overdrawn(limitOf({}, [], opening(-120)))).toBe(120_000_000);
    expect(overdrawn(limitOf({}, [], opening(40)))).toBeUndefined();
    expect(overdrawn(limitOf({}, [], opening(-120, '2026-10')))).toBeUndefined();
    // Somebody set it to 0: that is why it blocks.
    expect(overdrawn(limitOf({ money: 0 }, [], opening(-120)))).toBeUndefined();
  });

  test('a grant that ended leaves nothing over, but what was spent under it is no overdraft', () => {
    const early = { amount: 200, from: '2026-10-01', until: '2026-10-10' };
    const limit = limitOf({ carry: { max: 100 }, overdraft: 'carry' }, [early]);
    expect(into(limit, 650)).toBe(0);
    expect(into(limit, 710)).toBe(-10);
    expect(into(limit, 450)).toBe(50);
  });
});
