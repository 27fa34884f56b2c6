import { expect, test } from 'vitest';
import { limitOf } from '../../../../functions/core/thresholds/limit-of.ts';
import { aDirectory, NOW_MS, someLimits } from '../../../policies/documents.ts';

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
      on: { group: 101 },
      limit: 'money-month',
      amount: 20,
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'launch',
      ticket: 'FIN-1',
    },
  ],
  personal_default: [{ money: 20, per: 'month' }],
  group_defaults: [{ groups: 'acme/payments/*', money: 7, per: 'week' }],
});
const found = (subject: string, limit: string) =>
  limitOf({ subject, limit, period: '2026-11' }, limits, aDirectory, NOW_MS);

test.each([
  ['group/101', 'money-month', 'group acme/payments', 120_000_000, [80]],
  ['group/104', 'minutes-day', 'group acme/payments/cards', 3_000, []],
  ['project/1', 'jobs-now', 'project acme/payments/cards/api', 3, undefined],
  ['instance', 'money-year', 'the whole GitLab', 9_000_000, [80]],
  ['group/104', 'money-week', 'group acme/payments/cards', 7_000_000, [80]],
  ['group/190', 'money-month', 'personal namespace jane', 20_000_000, [80]],
])(
  'the limit behind %s %s is that of %s, with what is granted now',
  (subject, id, label, amount, thresholds) => {
    expect(found(subject, id)).toMatchObject({ subjectLabel: label, limit: { amount } });
    expect(found(subject, id)?.limit.thresholds).toEqual(thresholds);
  },
);

test('a counter of a limit that is gone has none', () => {
  expect(found('group/101', 'money-week')).toBeUndefined();
  expect(found('group/999', 'money-month')).toBeUndefined();
});
