import type { CounterKey } from '../../policies/claim.ts';
import type { DailyUsage } from '../../policies/forecast.ts';
import { kindRow, type LimitKind } from '../../policies/unit.ts';
import { readDays, today } from '../answers/reading/usage-days.ts';
import { dailyOf, historySpan } from '../answers/status/outlook.ts';
import type { RollupStore } from '../core/usage/rollup-store.ts';

interface DailyUseDeps {
  readonly store: Pick<RollupStore, 'readUsage'>;
  readonly zone: string;
  readonly clock: { nowMs(): number };
}

/** Reads one item per day, four weeks; empty: usage does not have the limit's unit. @throws {LedgerError} */
export const dailyUseOf =
  ({ store, zone, clock }: DailyUseDeps) =>
  async (
    { subject }: CounterKey,
    { limit: { kind } }: { readonly limit: { readonly kind: LimitKind } },
  ): Promise<readonly DailyUsage[]> => {
    if (kindRow(kind).usedOn === undefined) return [];
    const { from, to } = historySpan(today(zone, clock.nowMs()));
    const usage = await readDays([subject], { from, to: to - 1 }, store);
    return dailyOf(usage.get(subject) ?? [], kind);
  };
