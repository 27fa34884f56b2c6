import { expect, test } from 'vitest';
import { agreementText } from '../../../../functions/answers/status/texts.ts';
import { recountOutcome } from '../../../../functions/core/ledger/checkpoints.ts';
import {
  agreementDays,
  budgetAgreement,
  type CountedBudget,
} from '../../../../functions/core/usage/budget-agreement.ts';

const EUR = 1_000_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const RECOUNTED_MS = Date.UTC(2026, 10, 21, 3, 10);
const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };

const aBudget = (over: Partial<CountedBudget> = {}): CountedBudget => ({
  subject: 'group/101',
  id: 'money-month',
  kind: 'money',
  unit: 'micros',
  zone: 'UTC',
  per: 'month',
  period: { key: '2026-11', startMs: Date.UTC(2026, 10, 1) },
  settled: 80 * EUR,
  held: 10 * EUR,
  ...over,
});

const days = (micros: number) => [
  {
    settledMicros: micros - 10 * EUR,
    heldMicros: 10 * EUR,
    seconds: 60,
    admitted: 1,
    ranRejected: 0,
    released: 0,
  },
];
const recount = { recountedAtMs: RECOUNTED_MS, drifting: [], unlisted: 0 };

const told = (over: Partial<CountedBudget>, micros: number, found: typeof recount | undefined = recount) =>
  agreementText(
    budgetAgreement(aBudget(over), { days: days(micros), usageZone: 'UTC', recount: found }),
    'EUR',
    'UTC',
  );

test.each([
  [{}, 90 * EUR, 'fits', 'Counter = usage = statement (recounted 21 Nov 2026 03:10 UTC).'],
  [{}, 80 * EUR, 'differs', 'has 10.00 EUR more than the days of usage: jobs that were decided just now'],
  [{}, 95 * EUR, 'differs', 'has 5.00 EUR less than the days of usage: jobs from before this limit counted'],
  [{ zone: 'Asia/Tokyo' }, 95 * EUR, 'differs', 'begins its days in another time zone'],
  [{ kind: 'minutes', unit: 'seconds', settled: 60, held: 500 }, 0, 'fits', 'Counter = usage = statement'],
] as const)('%j with %d on its days %s', (over, micros, tone, text) => {
  const found = told(over, micros);
  expect(found).toMatchObject({ tone, text: expect.stringContaining(text) });
});

test('a counter that the recount found to differ from its records says by how much', () => {
  const amounts = (committed: number) => ({
    ...{ committed, fitted: committed, settled: committed },
    unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
  });
  const drift = [{ key, counter: amounts(90 * EUR), recount: amounts(87 * EUR) }];
  const found = recountOutcome({ records: 1, drift, unproven: [] }, RECOUNTED_MS);
  const agreement = budgetAgreement(aBudget(), { days: days(90 * EUR), usageZone: 'UTC', recount: found });
  expect(agreement.records).toEqual({ recountedAtMs: RECOUNTED_MS, counterBeyond: 3 * EUR });
  expect(agreementText(agreement, 'EUR', 'UTC')).toMatchObject({
    tone: 'differs',
    text: expect.stringContaining('It had 3.00 EUR more than the records that statements are made of'),
  });
});

test('of a period that began after the recount, and without any, nothing is said of records', () => {
  for (const found of [undefined, { ...recount, recountedAtMs: Date.UTC(2026, 9, 31) }]) {
    const agreement = budgetAgreement(aBudget(), { days: days(90 * EUR), usageZone: 'UTC', recount: found });
    expect(agreement.records).toBeUndefined();
    expect(agreementText(agreement, 'EUR', 'UTC')).toMatchObject({ tone: 'fits', text: /not recounted/i });
  }
});

test('more differences than are listed leave the others open', () => {
  const agreement = budgetAgreement(aBudget(), {
    days: days(90 * EUR),
    usageZone: 'UTC',
    recount: { ...recount, unlisted: 3 },
  });
  expect(agreement.records?.counterBeyond).toBeUndefined();
  expect(agreementText(agreement, 'EUR', 'UTC').tone).toBe('differs');
});

test('the days are those of the period so far; what never adds up over days has none', () => {
  const span = agreementDays(aBudget(), 'UTC', NOW_MS);
  expect(span && [span.from, span.to].map((day) => new Date(day * 86_400_000).toISOString())).toEqual([
    '2026-11-01T00:00:00.000Z',
    '2026-11-21T00:00:00.000Z',
  ]);
  for (const other of [
    aBudget({ kind: 'jobs', unit: 'jobs', per: undefined, period: undefined }),
    aBudget({ per: 'hour' }),
    aBudget({ per: 'once', period: { key: 'once', startMs: Number.NEGATIVE_INFINITY } }),
  ])
    expect(agreementDays(other, 'UTC', NOW_MS)).toBeUndefined();
});
