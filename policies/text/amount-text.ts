import type { Unit } from '../unit.ts';
import { bytesText } from './bytes-text.ts';
import { grouped } from './digits.ts';
import { durationText } from './duration-text.ts';
import { moneyText, type Rounding } from './money-text.ts';

/** An amount with its unit, as a person writes it: `500.00 EUR`, `1,000 min`, `20 jobs`, `0.5 CPU`, `6 GiB`. */
export function amountText(amount: number, unit: Unit, currency: string, rounding?: Rounding): string {
  switch (unit) {
    case 'micros':
      return `${moneyText(amount, rounding)} ${currency}`;
    case 'seconds':
      return secondsText(amount, rounding);
    case 'jobs':
      return amount === 1 ? '1 job' : `${bareAmountText(amount, unit)} jobs`;
    case 'starts':
      return amount === 1 ? '1 job start' : `${bareAmountText(amount, unit)} job starts`;
    case 'millicpu':
      return `${bareAmountText(amount, unit)} CPU`;
    case 'bytes':
      return bytesText(amount, rounding);
  }
}

/** The same without the unit, for the first of `498.70 of 500.00 EUR`. Bytes keep theirs: `512 MiB of 6 GiB`. */
export function bareAmountText(amount: number, unit: Unit, rounding?: Rounding): string {
  switch (unit) {
    case 'micros':
      return moneyText(amount, rounding);
    case 'seconds':
      return secondsText(amount, rounding).replace(/ min$/, '');
    case 'jobs':
    case 'starts':
      return countText(amount);
    case 'millicpu':
      // All three places are told, so there is nothing to round.
      return countText(amount / 1_000);
    case 'bytes':
      return bytesText(amount, rounding);
  }
}

const secondsText = (seconds: number, rounding?: Rounding): string =>
  durationText(seconds, rounding === 'down' ? 'down' : 'up');

function countText(count: number): string {
  const [whole = '0', fraction] = String(Math.abs(count)).split('.');
  return `${count < 0 ? '-' : ''}${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`;
}
