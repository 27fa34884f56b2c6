import type { LimitKind } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { PeriodKind } from '../../../policies/limits/period.ts';
import type { Unit } from '../../../policies/unit.ts';

/** What all limits of a kind and period come to: a check sum for whoever sums the column, parents and children alike. */
export interface TotalChange {
  readonly kind: LimitKind;
  readonly unit: Unit;
  /** Absent for what is counted at once. */
  readonly per?: PeriodKind;
  readonly before: Total;
  readonly after: Total;
}

export interface Total {
  readonly limits: number;
  /** Of them without an amount. */
  readonly unlimited: number;
  /** Whole units; sums may pass what a number holds. */
  readonly amount: bigint;
}

const NOTHING: Total = { limits: 0, unlimited: 0, amount: 0n };

/** One per kind and period there is, before or after. Defaults are left out: nobody knows how many have them. */
export function totalChanges(before: LimitSet, after: LimitSet): readonly TotalChange[] {
  const [was, is] = [totalsOf(before), totalsOf(after)];
  return [...new Map([...was, ...is]).entries()]
    .map(([name, { total: _, ...what }]) => ({
      ...what,
      before: was.get(name)?.total ?? NOTHING,
      after: is.get(name)?.total ?? NOTHING,
    }))
    .toSorted((a, b) => b.after.limits - a.after.limits || b.before.limits - a.before.limits);
}

type Summed = Pick<TotalChange, 'kind' | 'unit' | 'per'> & { readonly total: Total };

function totalsOf({ bySubject }: LimitSet): ReadonlyMap<string, Summed> {
  const totals = new Map<string, Summed>();
  for (const limits of bySubject.values()) {
    for (const { kind, unit, per, amount } of limits) {
      const name = `${kind} ${per ?? ''}`;
      const { total } = totals.get(name) ?? { total: NOTHING };
      totals.set(name, {
        kind,
        unit,
        ...(per !== undefined && { per }),
        total: {
          limits: total.limits + 1,
          unlimited: total.unlimited + (amount === 'unlimited' ? 1 : 0),
          amount: total.amount + (amount === 'unlimited' ? 0n : BigInt(amount)),
        },
      });
    }
  }
  return totals;
}
