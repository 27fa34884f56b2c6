import type { PriceName, Prices } from './prices.ts';

/** Part of a line. `always` is fixed; `desk` depends on visits; the others are per admission. */
export type CostPart = 'always' | 'desk' | 'admission' | 'usage' | 'kept';

/** quantity × unit price = amount. */
export interface CostLine {
  readonly part: CostPart;
  readonly label: string;
  /** A month for what is always there and for the desk; per admission otherwise. */
  readonly quantity: number;
  readonly price: PriceName;
}

export const dollars = ({ quantity, price }: CostLine, prices: Prices): number =>
  (quantity * prices[price].usd) / prices[price].per;

export const lineSum = (lines: readonly CostLine[], prices: Prices): number =>
  lines.reduce((total, line) => total + dollars(line, prices), 0);
