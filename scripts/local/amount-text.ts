import type { Unit } from '../../policies/units/unit.ts';
import { bareAmountText, amountText as exactText } from '../../policies/units/unit-texts.ts';

export const formatMoney = (micros: number, currency: string): string =>
  exactText(micros, 'micros', currency);

/** A limit's amount for people: `7.50 EUR`, `20 min`, `8 jobs`, `32 GiB`. */
export const limitAmountText = (amount: number, unit: Unit, currency: string): string =>
  exactText(amount, unit, currency);

/** Leaves out the unit, for where that stands beside it. */
export const numberText = (amount: number, unit: Unit): string => bareAmountText(amount, unit);
