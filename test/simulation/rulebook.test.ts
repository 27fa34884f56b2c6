import { expect, test } from 'vitest';
import { AskedClaims, expectedVerdict, RunEstimates } from './rulebook/asked-claims.ts';
import { chargeOf, type DecidedJob } from './rulebook/charges.ts';
import { costOf, periodName, type RuleSet, type WrittenLimit } from './rulebook/rule-set.ts';

const NOON_MS = Date.UTC(2026, 10, 16, 12);
const limit = (over: Partial<WrittenLimit>): WrittenLimit => ({
  subject: 'group/1',
  id: 'money-month',
  unit: 'micros',
  per: 'month',
  zone: 'UTC',
  mode: 'enforce',
  amount: 1_000,
  ...over,
});

test.each([
  { at: '2026-11-01T06:59:59Z', zone: 'America/Los_Angeles', per: 'day', name: '2026-10-31' },
  { at: '2026-11-01T07:00:00Z', zone: 'America/Los_Angeles', per: 'day', name: '2026-11-01' },
  // Clocks went back at nine, UTC: from then on days end an hour later.
  { at: '2026-11-02T07:59:59Z', zone: 'America/Los_Angeles', per: 'day', name: '2026-11-01' },
  { at: '2026-11-30T11:00:00Z', zone: 'Pacific/Auckland', per: 'month', name: '2026-12' },
  { at: '2026-12-31T22:59:59Z', zone: 'Europe/Berlin', per: 'year', name: '2026' },
  { at: '2026-12-31T23:00:00Z', zone: 'Europe/Berlin', per: 'year', name: '2027' },
  { at: '2027-01-03T12:00:00Z', zone: 'UTC', per: 'week', name: '2026-W53' },
  { at: '2026-11-16T12:34:56Z', zone: 'UTC', per: 'hour', name: '2026-11-16T12Z' },
] as const)('a $per in $zone: $at is in $name', ({ at, zone, per, name }) => {
  expect(periodName(limit({ per, zone }), Date.parse(at))).toBe(name);
});

test('a fiscal year is named by the year it begins in', () => {
  const fiscal = limit({ per: 'year', fiscalStart: '11-17', zone: 'Pacific/Auckland' });
  expect(periodName(fiscal, Date.parse('2026-11-16T10:59:59Z'))).toBe('2025@11-17');
  expect(periodName(fiscal, Date.parse('2026-11-16T11:00:00Z'))).toBe('2026@11-17');
});

const job = { jobId: 1, jobName: 'build', projectId: 9, runnerClass: 'small', timeoutSeconds: 3_600 };
const { per: _, ...slots } = limit({ subject: 'project/9', id: 'jobs-now', unit: 'jobs', amount: 2 });
const ruleSet: RuleSet = {
  fromMs: 0,
  limits: [limit({}), limit({ subject: 'group/2', amount: 'unlimited' }), slots],
  grants: [
    { subject: 'group/1', limit: 'money-month', amount: 500, fromMs: NOON_MS, untilMs: NOON_MS + 1_000 },
  ],
  prices: [
    { version: 'a', fromMs: 0, rates: { small: 60 } },
    { version: 'b', fromMs: NOON_MS, rates: { small: 120 } },
  ],
  byMinute: [],
  exemptions: [{ groupId: 1, jobName: 'build', untilMs: NOON_MS - 1_000 }],
  parentOf: new Map([[2, 1]]),
  groupOf: new Map([[9, 2]]),
};
const asked = new AskedClaims(ruleSet);

test('a job asks all limits above it, with the grants and at the price of the instant', () => {
  expect(asked.of(job, 2, NOON_MS - 1, 100)).toMatchObject({ microsPerMinute: 60, groupIds: [1, 2] });
  expect(asked.of(job, 2, NOON_MS, 100).claims).toEqual([
    { counter: 'group/1|money-month|2026-11', unit: 'micros', mode: 'enforce', amount: 200, bound: 1_500 },
    { counter: 'project/9|jobs-now|now', unit: 'jobs', mode: 'enforce', amount: 1, bound: 2 },
  ]);
  expect(asked.of(job, 2, NOON_MS + 1_000, 100).claims[0]?.bound).toBe(1_000);
});

test('an exempt job counts on budgets without asking, and asks for its slot', () => {
  const { exempt, claims } = asked.of(job, 2, NOON_MS - 1_001, 100);
  expect(exempt).toBe(true);
  expect(claims.map(({ bound }) => bound)).toEqual([undefined, 2]);
  expect(asked.of(job, 2, NOON_MS - 1_000, 100).exempt).toBe(false);
});

test('a shadow limit refuses no job, and what it would refuse does not count in fitted', () => {
  const claims = [
    { counter: 'a', unit: 'jobs', amount: 1, bound: 1, mode: 'shadow' },
    { counter: 'b', unit: 'jobs', amount: 1, bound: 1, mode: 'enforce' },
  ] as const;
  const full = { committed: 5, fitted: 1 };
  const empty = { committed: 0, fitted: 0 };
  const verdict = expectedVerdict(claims, (counter) => (counter === 'a' ? full : empty), new Set());
  expect(verdict).toEqual({ refusedBy: [], fitted: [false, true] });
  expect(expectedVerdict(claims, () => full, new Set()).refusedBy).toEqual(['b']);
});

test('the estimate is p90 of the last twenty runs, from the third on, and never more than four medians', () => {
  const estimates = new RunEstimates('history', 600);
  estimates.ran(job, 60);
  estimates.ran(job, 70);
  expect(estimates.secondsOf(job)).toBe(600);
  estimates.ran(job, 3_000);
  expect(estimates.secondsOf(job)).toBe(280);
  for (let seconds = 101; seconds <= 120; seconds += 1) estimates.ran(job, seconds);
  expect(estimates.secondsOf(job)).toBe(118);
});

test.each([
  { state: 'HELD', charges: [100, 1] },
  { state: 'SETTLED', charges: [131, 0] },
  { state: 'RELEASED', charges: [0, 0] },
  { state: 'EXPIRED', charges: [100, 0] },
] as const)('a job that is $state is charged $charges', ({ state, charges }) => {
  const ask = asked.of(job, 2, NOON_MS - 1, 100);
  const decided: DecidedJob = {
    ...{
      job,
      ask,
      state,
      decidedAtMs: NOON_MS,
      ranSeconds: 131,
      wasRejected: false,
      isChargedUnknown: true,
      uncheckedBy: undefined,
    },
  };
  expect(ask.claims.map((claim) => chargeOf(claim, decided))).toEqual(charges);
});

test.each([
  { seconds: 60, cost: 12_500, paidBy: 1, guarantee: 'a minute costs the price of a minute' },
  { seconds: 0.2, cost: 209, paidBy: 1, guarantee: 'a begun second and a begun micro-unit count' },
  { seconds: 61, cost: 25_000, paidBy: 60, guarantee: 'a begun minute counts where minutes are paid' },
])('$guarantee', ({ seconds, cost, paidBy }) => expect(costOf(seconds, 12_500, paidBy)).toBe(cost));
