import type { CounterAmounts, UncheckedCause } from './ledger.ts';

export const UNCHECKED_CAUSES: readonly UncheckedCause[] = ['exempt', 'unmetered', 'bypass'];

/** Amounts of a counter that does not exist. */
export const NO_AMOUNTS: CounterAmounts = {
  committed: 0,
  fitted: 0,
  settled: 0,
  unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
};

export const sameAmounts = (a: CounterAmounts, b: CounterAmounts): boolean =>
  a.committed === b.committed &&
  a.fitted === b.fitted &&
  a.settled === b.settled &&
  UNCHECKED_CAUSES.every((cause) => a.unchecked[cause] === b.unchecked[cause]);

/** Amounts being summed up. */
export interface AmountsSum {
  committed: number;
  fitted: number;
  settled: number;
  readonly unchecked: Record<UncheckedCause, number>;
}

export const startSum = (from: CounterAmounts = NO_AMOUNTS): AmountsSum => ({
  committed: from.committed,
  fitted: from.fitted,
  settled: from.settled,
  unchecked: { ...from.unchecked },
});

/** The counter after a write added to it. */
export function plus(amounts: CounterAmounts, add: CounterAmounts): CounterAmounts {
  const sum = startSum(amounts);
  sum.committed += add.committed;
  sum.fitted += add.fitted;
  sum.settled += add.settled;
  for (const cause of UNCHECKED_CAUSES) sum.unchecked[cause] += add.unchecked[cause];
  return sum;
}
