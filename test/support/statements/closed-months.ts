/** Closed months of a group, as a closing writes them. */
import {
  type ClosedStatement,
  type StatementChain,
  sealed,
} from '../../../functions/core/statements/closed-statement.ts';

const aClosedStatement = (
  number: number,
  subject: string,
  month: string,
  previousSha256: string,
): ClosedStatement => ({
  ...{ number, subject, group: 'acme/payments', month, zone: 'UTC', previousSha256 },
  ...{ startMs: Date.parse(`${month}-01T00:00:00Z`), endMs: nextMonthMs(month) },
  closedAtMs: nextMonthMs(month) + 5 * 86_400_000,
  ...{ instance: 'gitlab.example.com', currency: 'EUR', priceVersions: [month] },
  lines: [
    { day: `${month}-05`, jobs: 2, seconds: 90, micros: 6_000_000 },
    // A job whose end nobody knows.
    { day: `${month}-07`, jobs: 0, seconds: 0, micros: 1_000_000 },
  ],
  adjustments: [{ month: '2026-07', number: 1, jobs: 1, corrections: 2, seconds: 3, micros: 30_000 }],
  totals: {
    ...{ jobs: 2, corrections: 0, seconds: 90, micros: 7_000_000 },
    ...{ adjustmentMicros: 30_000, dueMicros: 7_030_000 },
  },
});

const nextMonthMs = (month: string): number => {
  const [year, number] = month.split('-').map(Number);
  return Date.UTC(year ?? 0, number ?? 0, 1);
};

/** Closes months of a subject, the first after what is there. */
export async function closeMonths(
  chain: StatementChain,
  subject: string,
  months: readonly string[],
): Promise<void> {
  for (const month of months) {
    const { last } = await chain.register();
    const before = (await chain.last(subject))?.sha256 ?? '';
    if ((await chain.append(sealed(aClosedStatement(last + 1, subject, month, before)))) !== 'written')
      throw new Error(`${month} of ${subject} was not closed`);
  }
}
