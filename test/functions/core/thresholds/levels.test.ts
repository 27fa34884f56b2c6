import { describe, expect, test } from 'vitest';
import { findAlerts, findLimit, listThresholdLevels } from '../../../../functions/core/thresholds/levels.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import { aDirectory, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { aCounter, aLimit } from './limits.ts';

const reached = (spent: number, committed: number, limit: Limit = aLimit()) =>
  findAlerts(aCounter(spent, committed), { limit, subjectLabel: 'group one', to: { owner: 'one' } });
const names = (...of: Parameters<typeof reached>) =>
  reached(...of).map(({ measure, level }) => `${measure} ${level.name}`);

describe('a level is reached exactly at its amount', () => {
  test('rounds up: 2 of 3 starts are less than 75 %', () => {
    const limit = aLimit({ kind: 'starts', unit: 'starts', amount: 3, thresholds: [75] });
    expect(names(0, 2, limit)).toEqual([]);
    expect(names(0, 3, limit)).toEqual(['committed 75 %']);
  });
});

describe('limits with levels', () => {
  const { per: _, ...withoutPeriod } = aLimit({ kind: 'jobs', unit: 'jobs', amount: 10, softAmount: 8 });
  test.each<[string, Limit]>([
    ['a limit in shadow', aLimit({ mode: 'shadow' })],
    ['a limit of 0', aLimit({ amount: 0 })],
    ['an unlimited one', aLimit({ amount: 'unlimited' })],
    ['a budget per hour', aLimit({ per: 'hour' })],
    ['a limit whose thresholds are empty', aLimit({ thresholds: [] })],
    ['a count of running jobs', withoutPeriod],
  ])('%s has none', (_name, limit) => {
    expect(listThresholdLevels(limit)).toEqual([]);
  });

  test('the thresholds of a limit replace the default', () => {
    expect(listThresholdLevels(aLimit({ amount: 200, thresholds: [110, 80] }))).toEqual([
      { name: '80 %', amount: 160 },
      { name: '110 %', amount: 220 },
    ]);
  });
});

describe('the limit of a counter', () => {
  const limits = someLimits({
    thresholds: [80],
    limits: [
      { on: { group: 101 }, money: 100, per: 'month', owner: 'payments-leads' },
      { on: { group: 104 }, minutes: 50, per: 'day', thresholds: [] },
      { on: { project: 1 }, jobs: 3 },
      { on: 'instance', money: 9, per: 'year' },
    ],
    grants: [
      {
        ...{ on: { group: 101 }, limit: 'money-month', amount: 20, reason: 'launch', ticket: 'FIN-1' },
        ...{ from: '2026-11-01', until: '2026-11-30' },
      },
    ],
    personal_default: [{ money: 20, per: 'month' }],
    group_defaults: [{ groups: 'acme/payments/*', money: 7, per: 'week' }],
  });
  const found = (subject: string, limit: string) =>
    findLimit({ subject, limit, period: '2026-11' }, limits, aDirectory, NOW_MS);

  test.each([
    ['group/101', 'money-month', 'group acme/payments', 120_000_000, [80]],
    ['group/104', 'minutes-day', 'group acme/payments/cards', 3_000, []],
    ['project/1', 'jobs-now', 'project acme/payments/cards/api', 3, undefined],
    ['instance', 'money-year', 'the whole GitLab', 9_000_000, [80]],
    ['group/104', 'money-week', 'group acme/payments/cards', 7_000_000, [80]],
    ['group/190', 'money-month', 'personal namespace jane', 20_000_000, [80]],
  ])('%s %s: that of %s, with its grants', (subject, id, subjectLabel, amount, thresholds) => {
    expect(found(subject, id)).toMatchObject({ subjectLabel, limit: { amount } });
    expect(found(subject, id)?.limit.thresholds).toEqual(thresholds);
  });

  test('a removed limit is not found', () => {
    expect(found('group/101', 'money-week')).toBeUndefined();
    expect(found('group/999', 'money-month')).toBeUndefined();
  });
});
