import type { Unit } from '../units/unit.ts';
import { UNIT_TEXTS } from '../units/unit-texts.ts';
import type { Rounding } from './money-text.ts';

/** An amount with its unit, as a person writes it: `500.00 EUR`, `1,000 min`, `20 jobs`, `0.5 CPU`, `6 GiB`. */
export const amountText = (amount: number, unit: Unit, currency: string, rounding?: Rounding): string =>
  UNIT_TEXTS[unit].amount(amount, currency, rounding);

/** The same without the unit, for the first of `498.70 of 500.00 EUR`. Bytes keep theirs: `512 MiB of 6 GiB`. */
export const bareAmountText = (amount: number, unit: Unit, rounding?: Rounding): string =>
  UNIT_TEXTS[unit].bare(amount, rounding);
