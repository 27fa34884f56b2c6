import { expect, test } from 'vitest';
import { agreementOf } from '../../../../functions/answers/groups/agreement.ts';
import type { LimitRow } from '../../../../functions/answers/status/model.ts';
import { agreementText } from '../../../../functions/answers/status/texts.ts';

const EUR = 1_000_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const RECOUNTED_MS = Date.UTC(2026, 10, 21, 3, 10);
const recount = { records: 1, recountedAtMs: RECOUNTED_MS, drifting: [], unlisted: 0 };
const drift = {
  key: { subject: 'group/101', limit: 'money-month', period: '2026-11' },
  ...{ committed: 90 * EUR, recounted: 87 * EUR },
};

/** @param micros - used on the first day of the period; the day before it does not count */
const agreement = (over: object, micros: number, found: object | undefined = recount) => {
  const row = {
    ...{ subject: 'group/101', id: 'money-month', kind: 'money', unit: 'micros', zone: 'UTC', per: 'month' },
    period: { key: '2026-11', startMs: Date.UTC(2026, 10, 1) },
    ...{ settled: 80 * EUR, held: 10 * EUR, inForce: true, ...over },
  } as unknown as LimitRow;
  const day = { heldMicros: 0, seconds: 60, admitted: 1, ranRejected: 0, released: 0 };
  const first = Date.UTC(2026, 10, 1) / 86_400_000;
  const days = [first - 1, first].map((number) => ({ ...day, settledMicros: micros, number }));
  return agreementOf(row, { days, zone: 'UTC', nowMs: NOW_MS, recount: found as typeof recount });
};

test.each([
  [{}, 90, recount, 'fits', 'Counter = usage = statement (recounted 21 Nov 2026 03:10 UTC).'],
  [{}, 80, recount, 'differs', 'has 10.00 EUR more than the days of usage: jobs that were decided just now'],
  [{}, 95, recount, 'differs', 'has 5.00 EUR less than the days of usage: jobs from before this limit'],
  [{ zone: 'Asia/Tokyo' }, 95, recount, 'differs', 'begins its days in another time zone'],
  [{ kind: 'minutes', unit: 'seconds', settled: 60, held: 500 }, 0, recount, 'fits', 'Counter = usage = st'],
  [{}, 90, { ...recount, drifting: [drift] }, 'differs', 'It had 3.00 EUR more than the records'],
  [{}, 90, { ...recount, unlisted: 3 }, 'differs', 'It had another amount than the records'],
  [{}, 90, { ...recount, recountedAtMs: Date.UTC(2026, 9, 31) }, 'fits', 'Not recounted in this period'],
] as const)('%j with %d EUR on its days and the recount %j %s', (over, euros, found, tone, text) => {
  const compared = agreement(over, euros * EUR, found);
  expect(compared && agreementText(compared, 'EUR', 'UTC')).toMatchObject({
    ...{ tone, text: expect.stringContaining(text) },
  });
});

test.each([
  [{ kind: 'jobs', unit: 'jobs', per: undefined, period: undefined }],
  [{ per: 'hour' }],
  [{ per: 'once', period: { key: 'once', startMs: Number.NEGATIVE_INFINITY } }],
  [{ inForce: false }],
])('%j has none', (over) => expect(agreement(over, 90)).toBeUndefined());
