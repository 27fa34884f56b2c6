import type { PriceList, PriceTable } from '../price.ts';

/**
 * The prices in force at an instant: the latest version that has begun. The first also holds before its own date,
 * because every job has a price.
 */
export function pricesAt(prices: PriceTable, nowMs: number): PriceList {
  let inForce: PriceList = prices;
  for (const each of prices.later ?? []) {
    if (each.fromMs > nowMs) break;
    inForce = each;
  }
  return inForce;
}

/** Every version, oldest first. */
export const priceVersions = (prices: PriceTable): readonly PriceList[] => [prices, ...(prices.later ?? [])];

/** The names of the classes of all versions: what rules and limits may be about. */
export const runnerClassNames = (prices: PriceTable): readonly string[] => [
  ...new Set(priceVersions(prices).flatMap(({ classes }) => classes.map(({ name }) => name))),
];
