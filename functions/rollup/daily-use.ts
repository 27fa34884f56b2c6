/** What a limit's subject used day by day, for the forecast in a warning. Read only where a level is reached. */
import type { CounterKey } from '../../policies/claim.ts';
import { type DailyUsage, HISTORY_DAYS } from '../../policies/forecast/daily-usage.ts';
import { calendarDay, dayNumber, two } from '../../policies/limits/calendar.ts';
import { dayIn } from '../../policies/limits/zone.ts';
import { kindRow, type LimitKind } from '../../policies/units/unit.ts';
import { type RollupStore, usageOf } from '../core/usage/index.ts';

interface DailyUseDeps {
  readonly store: Pick<RollupStore, 'readUsage'>;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  readonly clock: { nowMs(): number };
}

/** One item a day, eight weeks of them; empty: usage does not tell what the limit counts. @throws {LedgerError} */
export const dailyUseOf =
  ({ store, zone, clock }: DailyUseDeps) =>
  async (
    { subject }: CounterKey,
    { limit }: { readonly limit: { readonly kind: LimitKind } },
  ): Promise<readonly DailyUsage[]> => {
    const { usedOn } = kindRow(limit.kind);
    if (usedOn === undefined) return [];
    const today = dayNumber(dayIn(zone, clock.nowMs()));
    const days = Array.from({ length: HISTORY_DAYS }, (_, index) =>
      calendarDay(today - HISTORY_DAYS + index),
    );
    const tallies = await store.readUsage(
      days.map(({ year, month, day }) => ({ subject, day: `${year}-${two(month)}-${two(day)}` })),
    );
    return days.flatMap((day, index): DailyUsage[] => {
      const tally = tallies[index];
      const amount = tally === undefined ? 0 : usedOn(usageOf(tally));
      return amount === 0 ? [] : [{ day, amount }];
    });
  };
