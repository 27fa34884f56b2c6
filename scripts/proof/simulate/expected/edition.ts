/**
 * What people have written down and what is therefore in force: limits, grants, prices, exemptions and the tree of groups.
 * Every edit makes a new edition. The month is run on documents made of it, and judged by the rules of this folder, which
 * follow the comments of policy.yaml and limits.yaml and share no code with the product.
 */

/** `micros` and `seconds` per period, `starts` per window, `jobs` at once. */
export type CountedUnit = 'micros' | 'seconds' | 'starts' | 'jobs';

export interface WrittenLimit {
  /** `group/101`, `project/100001`, `runner-class/large`. */
  readonly subject: string;
  /** `money-month`. */
  readonly id: string;
  readonly unit: CountedUnit;
  /** Absent: at once. */
  readonly per?: 'hour' | 'day' | 'week' | 'month' | 'year';
  readonly zone: string;
  /** `MM-DD`: the first day of the fiscal year. */
  readonly fiscalStart?: string;
  readonly mode: 'enforce' | 'shadow';
  /** Whole units; seconds come in whole minutes. */
  readonly amount: number | 'unlimited';
  /** Whole seconds that a job may be kept waiting for room. Absent: it is rejected at once. */
  readonly waitSeconds?: number;
}

export interface WrittenGrant {
  readonly subject: string;
  readonly limit: string;
  readonly amount: number;
  /** Unix ms, half-open. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface PriceVersion {
  readonly version: string;
  /** Unix ms; the first version also holds before its own date. */
  readonly fromMs: number;
  /** Micro-units a minute, by runner class. */
  readonly rates: Readonly<Record<string, number>>;
}

/** Jobs that no budget asks: those of a group and below with one of these names, until a time. */
interface WrittenExemption {
  readonly groupId: number;
  readonly jobName: string;
  readonly untilMs: number;
}

export interface Edition {
  readonly limits: readonly WrittenLimit[];
  readonly grants: readonly WrittenGrant[];
  readonly prices: readonly PriceVersion[];
  readonly exemptions: readonly WrittenExemption[];
  /** Keyed by group id; root groups have none. */
  readonly parentOf: ReadonlyMap<number, number>;
}

/** Root first, the group itself last. */
export function groupChainOf(groupId: number, parentOf: Edition['parentOf']): readonly number[] {
  const chain = [groupId];
  for (let id = parentOf.get(groupId); id !== undefined; id = parentOf.get(id)) chain.unshift(id);
  return chain;
}

/** The last version that has begun. */
export function priceAt(prices: readonly PriceVersion[], atMs: number): PriceVersion {
  const price = prices.findLast(({ fromMs }) => fromMs <= atMs) ?? prices[0];
  if (price === undefined) throw new RangeError('an edition has a version of the prices');
  return price;
}

/** A begun second counts as a whole one, and so does a begun micro-unit. */
export const costOf = (seconds: number, microsPerMinute: number): number =>
  Math.ceil((Math.ceil(seconds) * microsPerMinute) / 60);
