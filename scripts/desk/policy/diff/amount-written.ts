import type { Limit } from '../../../../policies/limits/limits.ts';
import { moneyText } from '../../../../policies/text/money-text.ts';

/** An amount as limits.yaml would have it: `500.00`, `30 minutes`, `20 jobs`, `2500m cpu`, `1073741824 bytes memory`. */
export function amountWritten(
  limit: Limit,
  key: 'amount' | 'softAmount' | 'graceAmount' | 'carryMax' = 'amount',
): string {
  const amount = limit[key];
  if (amount === undefined) return 'none';
  if (amount === 'unlimited') return amount;
  switch (limit.kind) {
    case 'money':
      return moneyText(amount);
    case 'minutes':
      return `${amount / 60} minutes`;
    case 'cpu':
      return `${amount}m cpu`;
    case 'memory':
      return `${amount} bytes memory`;
    case 'jobs':
    case 'starts':
      return `${amount} ${limit.kind}`;
  }
}
