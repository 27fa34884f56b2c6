import { expect, test } from 'vitest';
import { AskedClaims } from '../../../../../scripts/proof/simulate/expected/asked-claims.ts';
import { ExpectedBooks, endedAs, stands } from '../../../../../scripts/proof/simulate/expected/books.ts';
import {
  costOf,
  type Edition,
  type WrittenLimit,
} from '../../../../../scripts/proof/simulate/expected/edition.ts';
import { periodName } from '../../../../../scripts/proof/simulate/expected/period-name.ts';
import { RunEstimates } from '../../../../../scripts/proof/simulate/expected/run-estimates.ts';
import { expectedVerdictOn } from '../../../../../scripts/proof/simulate/expected/verdict.ts';

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

const job = {
  jobId: 1,
  jobName: 'build',
  projectId: 9,
  groupId: 2,
  runnerClass: 'small',
  timeoutSeconds: 3_600,
};
const edition: Edition = {
  limits: [
    limit({}),
    limit({ subject: 'group/2', amount: 'unlimited' }),
    limit({ subject: 'project/9', id: 'jobs-now', unit: 'jobs', per: undefined as never, amount: 2 }),
  ].map(({ per, ...rest }) => (per === undefined ? rest : { ...rest, per })),
  grants: [
    { subject: 'group/1', limit: 'money-month', amount: 500, fromMs: NOON_MS, untilMs: NOON_MS + 1_000 },
  ],
  prices: [
    { version: 'a', fromMs: 0, rates: { small: 60 } },
    { version: 'b', fromMs: NOON_MS, rates: { small: 120 } },
  ],
  exemptions: [{ groupId: 1, jobName: 'build', untilMs: NOON_MS - 1_000 }],
  parentOf: new Map([[2, 1]]),
};
const asked = new AskedClaims(edition);

test('a job asks all limits above it, with the grants and at the price of the instant', () => {
  expect(asked.of(job, NOON_MS - 1, 100)).toMatchObject({ microsPerMinute: 60, groupIds: [1, 2] });
  expect(asked.of(job, NOON_MS, 100).claims).toEqual([
    { counter: 'group/1|money-month|2026-11', unit: 'micros', mode: 'enforce', amount: 200, bound: 1_500 },
    { counter: 'project/9|jobs-now|now', unit: 'jobs', mode: 'enforce', amount: 1, bound: 2 },
  ]);
  expect(asked.of(job, NOON_MS + 1_000, 100).claims[0]?.bound).toBe(1_000);
});

test('an exempt job counts on budgets without asking, and asks for its slot', () => {
  const { exempt, claims } = asked.of(job, NOON_MS - 1_001, 100);
  expect(exempt).toBe(true);
  expect(claims.map(({ bound }) => bound)).toEqual([undefined, 2]);
  expect(asked.of(job, NOON_MS - 1_000, 100).exempt).toBe(false);
});

test('a limit that only watches refuses nobody, and what it would refuse does not count in fitted', () => {
  const claims = [
    { counter: 'a', unit: 'jobs', amount: 1, bound: 1, mode: 'shadow' },
    { counter: 'b', unit: 'jobs', amount: 1, bound: 1, mode: 'enforce' },
  ] as const;
  const full = { committed: 5, fitted: 1 };
  expect(
    expectedVerdictOn(claims, (counter) => (counter === 'a' ? full : { committed: 0, fitted: 0 })),
  ).toEqual({
    refusedBy: [],
    fitted: [false, true],
  });
  expect(expectedVerdictOn(claims, () => full).refusedBy).toEqual(['b']);
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

test('a job counts what it holds, then what it ran at the price of its admission, and nothing at once any more', () => {
  const books = new ExpectedBooks();
  const ask = asked.of(job, NOON_MS - 1, 100);
  const held = {
    job,
    generation: 1,
    state: 'HELD',
    ask,
    fitted: [true, true],
    checked: [true, true],
    held: [100, 1],
    counted: [100, 1],
    refusedBy: [],
    seconds: 0,
  } as const;
  books.put(held);
  expect(books.shows('project/9|jobs-now|now').committed).toBe(1);
  books.put(endedAs(held, 'SETTLED', 130.2));
  expect(books.shows('group/1|money-month|2026-11')).toMatchObject({ committed: 131, settled: 131 });
  expect(books.shows('project/9|jobs-now|now').committed).toBe(0);
});

test('a rejection stands for a minute, and a hold for good', () => {
  const decision = (state: 'HELD' | 'REJECTED' | 'RELEASED') =>
    ({ state, ask: { atMs: NOON_MS } }) as Parameters<typeof stands>[0];
  expect(stands(decision('REJECTED'), NOON_MS + 59_999)).toBe(true);
  expect(stands(decision('REJECTED'), NOON_MS + 60_000)).toBe(false);
  expect(stands(decision('HELD'), NOON_MS + 86_400_000)).toBe(true);
  expect(stands(decision('RELEASED'), NOON_MS)).toBe(false);
});

test.each([
  { seconds: 60, cost: 12_500, guarantee: 'a minute costs the price of a minute' },
  { seconds: 0.2, cost: 209, guarantee: 'a begun second and a begun micro-unit count' },
])('$guarantee', ({ seconds, cost }) => expect(costOf(seconds, 12_500)).toBe(cost));
