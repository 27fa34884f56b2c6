import type { Oversubscription } from '../../core/limits/index.ts';

/** Sum of the numeric limits below a pool, and the number of unlimited ones. */
type PoolSums = Pick<Oversubscription, 'childrenAmount' | 'children' | 'unlimited'>;

/**
 * `3 limits below come to 900.00 EUR, more than the 500.00 EUR here`, `1 limit below is unlimited, above the
 * 800.00 EUR here`.
 *
 * @param format - formats an amount of the pool's unit
 */
export function poolWords(
  { childrenAmount, children, unlimited }: PoolSums,
  amount: number,
  format: (amount: number) => string,
): string {
  const numbered = children - unlimited;
  if (numbered === 0)
    return `${limits(unlimited)} below ${unlimited === 1 ? 'is' : 'are'} unlimited, above the ${format(amount)} here`;
  const isMore = childrenAmount > amount;
  const sum = `${limits(numbered)} below ${numbered === 1 ? 'comes' : 'come'} to ${format(childrenAmount)}, ${isMore ? 'more than' : 'within'} the ${format(amount)} here`;
  if (unlimited === 0) return sum;
  return `${sum}, and ${unlimited === 1 ? '1 more is' : `${unlimited.toLocaleString('en-US')} more are`} unlimited`;
}

const limits = (count: number): string =>
  count === 1 ? '1 limit' : `${count.toLocaleString('en-US')} limits`;
