import { moneyText } from '../../../../policies/text/money-text.ts';
import type { Unit } from '../../../../policies/unit.ts';

/** An amount as limits.yaml would have it: `500.00`, `30 minutes`, `20 jobs`, `2500m cpu`, `1073741824 bytes memory`. */
export function amountWritten(amount: number, unit: Unit): string {
  switch (unit) {
    case 'micros':
      return moneyText(amount);
    case 'seconds':
      return `${amount / 60} minutes`;
    case 'millicpu':
      return `${amount}m cpu`;
    case 'bytes':
      return `${amount} bytes memory`;
    case 'jobs':
    case 'starts':
      return `${amount} ${unit}`;
  }
}
