/** Compares the bill of runner classes with their charges. Pure. */
import type { RunnerClass } from '../../../policies/prices/price.ts';
import { type BillSum, PARTS_PER_MICRO } from './read-bill.ts';

/** A class's sum on the month's statement. */
export interface ChargedSum {
  readonly seconds: number;
  readonly micros: number;
}

interface ClassCostRow {
  readonly runnerClass: string;
  readonly seconds: number;
  readonly chargedMicros: number;
  readonly billMicros: number;
  /** Billed cost per minute; absent: no minutes. */
  readonly billMicrosPerMinute?: number;
  readonly chargedMicrosPerMinute?: number;
}

export interface PriceComparison {
  /** Classes of the price list, then others that were charged. */
  readonly classes: readonly ClassCostRow[];
  /** Lines of the bill without the tag, or with a value that is no class. */
  readonly otherBillMicros: number;
  /** Those values: most expensive first, no more than a few. */
  readonly otherValues: readonly string[];
  readonly total: { readonly seconds: number; readonly chargedMicros: number; readonly billMicros: number };
}

const OTHER_VALUES_MAX = 5;

/** @param rateMicros - micro-units of the policy's currency for one unit of the bill's. */
export function comparePrices(
  { parts }: Pick<BillSum, 'parts'>,
  rateMicros: number,
  charged: ReadonlyMap<string, ChargedSum>,
  classNames: readonly string[],
): PriceComparison {
  const names = [...new Set([...classNames, ...charged.keys()])];
  const microsOf = (value: bigint): number => roundedMicros(value * BigInt(rateMicros));
  const classes = names.map((runnerClass) => {
    const { seconds, micros } = charged.get(runnerClass) ?? { seconds: 0, micros: 0 };
    const billMicros = microsOf(parts.get(runnerClass) ?? 0n);
    return {
      runnerClass,
      seconds,
      chargedMicros: micros,
      billMicros,
      ...(seconds > 0 && {
        billMicrosPerMinute: perMinute(billMicros, seconds),
        chargedMicrosPerMinute: perMinute(micros, seconds),
      }),
    };
  });
  const billMicros = microsOf([...parts.values()].reduce((sum, each) => sum + each, 0n));
  const others = [...parts].filter(([value]) => value !== undefined && !names.includes(value));
  return {
    classes,
    // The rest of the total, so that rounding loses nothing.
    otherBillMicros: billMicros - classes.reduce((sum, row) => sum + row.billMicros, 0),
    otherValues: others
      .sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0))
      .slice(0, OTHER_VALUES_MAX)
      .map(([value = '']) => value),
    total: {
      seconds: classes.reduce((sum, { seconds }) => sum + seconds, 0),
      chargedMicros: classes.reduce((sum, row) => sum + row.chargedMicros, 0),
      billMicros,
    },
  };
}

const RATE_PARTS = 1_000_000n * PARTS_PER_MICRO;

/** Half a micro-unit goes away from zero. */
function roundedMicros(scaled: bigint): number {
  const half = RATE_PARTS / 2n;
  return Number((scaled < 0n ? scaled - half : scaled + half) / RATE_PARTS);
}

const perMinute = (micros: number, seconds: number): number => Math.round((micros / seconds) * 60);

/** Rates of a class, micro-units. */
export interface ProposedFigure {
  readonly microsPerMinute: number;
  readonly microsPerCpuHour?: number;
  readonly microsPerGibHour?: number;
}

/**
 * Rates at which the class would have brought in what it cost: the cost of a minute; or, where requests or begun minutes
 * count, every rate by the same factor. Undefined: nothing ran, the bill has nothing of it, or it was free.
 */
export function proposedRates(row: ClassCostRow, current: RunnerClass): ProposedFigure | undefined {
  if (row.seconds <= 0 || row.billMicros <= 0) return undefined;
  const { microsPerMinute, microsPerCpuHour, microsPerGibHour, round } = current;
  if (microsPerCpuHour === undefined && microsPerGibHour === undefined && round === undefined)
    return { microsPerMinute: Math.ceil((row.billMicros * 60) / row.seconds) };
  if (row.chargedMicros <= 0) return undefined;
  const scaled = (micros: number): number => Math.ceil((micros * row.billMicros) / row.chargedMicros);
  return {
    microsPerMinute: scaled(microsPerMinute),
    ...(microsPerCpuHour !== undefined && { microsPerCpuHour: scaled(microsPerCpuHour) }),
    ...(microsPerGibHour !== undefined && { microsPerGibHour: scaled(microsPerGibHour) }),
  };
}
