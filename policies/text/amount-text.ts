import type { Unit } from '../claim.ts';
import { durationText } from './duration-text.ts';
import { moneyText, type Rounding } from './money-text.ts';

/** An amount with its unit, as a person writes it: `500.00 EUR`, `1,000 min`, `20 jobs`. */
export function amountText(amount: number, unit: Unit, currency: string, rounding?: Rounding): string {
  switch (unit) {
    case 'micros':
      return `${moneyText(amount, rounding)} ${currency}`;
    case 'seconds':
      return durationText(amount);
    case 'jobs':
      return amount === 1 ? '1 job' : `${amount} jobs`;
  }
}

/** The same without the unit, for the first of `498.70 of 500.00 EUR`. */
export function bareAmountText(amount: number, unit: Unit, rounding?: Rounding): string {
  switch (unit) {
    case 'micros':
      return moneyText(amount, rounding);
    case 'seconds':
      return durationText(amount).replace(/ min$/, '');
    case 'jobs':
      return String(amount);
  }
}
