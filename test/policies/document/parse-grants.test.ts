import { expect, test } from 'vitest';
import { problemsOfLimits, someLimits } from '../documents.ts';

const LIMIT = { on: { group: 101 }, money: 500, per: 'month' };
const GRANT = {
  on: { group: 101 },
  limit: 'money-month',
  amount: '+200',
  from: '2026-11-01',
  until: '2026-11-30',
  reason: 'release',
};

test('a grant is put on the limit it names, in the limit’s own units', () => {
  const limits = someLimits({
    limits: [LIMIT, { on: { group: 101 }, cpu: 64 }],
    grants: [
      { ...GRANT, ticket: 'FIN-7' },
      { ...GRANT, limit: 'cpu-now', amount: '+500m' },
    ],
  });
  const [money, cpu] = limits.bySubject.get('group/101') ?? [];
  const november = { fromMs: Date.UTC(2026, 10, 1), untilMs: Date.UTC(2026, 11, 1) };
  expect(money?.grants).toEqual([{ amount: 200_000_000, ...november, reason: 'release', ticket: 'FIN-7' }]);
  expect(cpu?.grants).toEqual([{ amount: 500, ...november, reason: 'release' }]);
});

test.each([
  ['a limit that is not there', { limit: 'money-day' }, 'grants[0].limit: '],
  ['a subject without limits', { on: { group: 7 } }, 'grants[0].limit: '],
  ['nothing', { amount: 0 }, 'grants[0].amount: '],
  ['a word', { amount: 'unlimited' }, 'grants[0].amount: '],
  ['more than can be counted', { amount: '9000000000' }, 'grants[0].amount: '],
  ['an end before its start', { until: '2026-10-31' }, 'grants[0].until: '],
  ['an unknown key', { why: 'x' }, 'grants[0].why: '],
])('a grant with %s is refused', (_, wrong, at) => {
  const problems = problemsOfLimits({ limits: [LIMIT], grants: [{ ...GRANT, ...wrong }] });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(at);
});

test.each([
  ['without a cap', { carry: {} }, 'limits[0].carry.max: '],
  ['more than itself', { carry: { max: '120%' } }, 'limits[0].carry.max: '],
  ['without an amount', { money: 'unlimited', carry: { max: 5 } }, 'limits[0].carry: '],
  ['every hour', { per: 'hour', carry: { max: 5 } }, 'limits[0].carry: '],
  ['in another way', { overdraft: 'forgive' }, 'limits[0].overdraft: '],
])('a limit that carries over %s is refused', (_, wrong, at) => {
  const problems = problemsOfLimits({ limits: [{ ...LIMIT, ...wrong }] });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(at);
});
