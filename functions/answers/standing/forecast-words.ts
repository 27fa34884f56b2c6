import { amountText, bareAmountText } from '../../../policies/units/unit-texts.ts';
import type { LimitRow } from './model.ts';

/**
 * Text of a forecast with its range, for pages and the command line: `Forecast 812.40 EUR (770.10 to
 * 861.00); over the last 6 months it was off by 7.3 % on average.` Undefined: unknown.
 */
export function forecastWords({ forecast, unit }: LimitRow, currency: string): string | undefined {
  const { atEndAmount, atEndLow, atEndHigh, tested } = forecast ?? {};
  if (atEndAmount === undefined) return undefined;
  const bare = (amount: number): string => bareAmountText(amount, unit);
  const band =
    atEndLow === undefined || atEndHigh === undefined ? '' : ` (${bare(atEndLow)} to ${bare(atEndHigh)})`;
  const error =
    tested === undefined
      ? 'no whole month is known yet to test it on'
      : `over the last ${monthsText(tested.months)} it was off by ${tested.errorPercent} % on average`;
  return `Forecast ${amountText(atEndAmount, unit, currency)}${band}; ${error}.`;
}

const monthsText = (months: number): string => (months === 1 ? 'month' : `${months} months`);
