import { expect, test } from 'vitest';
import { aJob, ONE, world } from './world.ts';

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
