import type { Unit } from '../../policies/unit.ts';

export const formatMoney = (micros: number, currency: string): string =>
  `${(micros / 1e6).toFixed(2)} ${currency}`;

/** A limit's amount for people: `7.50 EUR`, `20 min`, `8 jobs`, `32 GiB`. */
export const amountText = (amount: number, unit: Unit, currency: string): string =>
  `${numberText(amount, unit)} ${unitText(unit, currency)}`;

/** Leaves out the unit, for where that stands beside it. */
export function numberText(amount: number, unit: Unit): string {
  switch (unit) {
    case 'micros':
      return (amount / 1e6).toFixed(2);
    case 'seconds':
      return (amount / 60).toFixed(0);
    case 'jobs':
    case 'starts':
      return String(amount);
    case 'millicpu':
      return String(amount / 1000);
    case 'bytes':
      return (amount / 2 ** 30).toFixed(1).replace(/\.0$/, '');
  }
}

function unitText(unit: Unit, currency: string): string {
  switch (unit) {
    case 'micros':
      return currency;
    case 'seconds':
      return 'min';
    case 'millicpu':
      return 'CPU';
    case 'bytes':
      return 'GiB';
    case 'jobs':
    case 'starts':
      return unit;
  }
}
