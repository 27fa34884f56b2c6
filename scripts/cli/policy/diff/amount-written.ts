import { type Unit, unitRow, writtenUnits } from '../../../../policies/units/unit.ts';
import { moneyText } from '../../../../policies/units/unit-texts.ts';

/** An amount as limits.yaml would have it: `500.00`, `30 minutes`, `20 jobs`, `2500m cpu`, `1Gi memory`. */
export function amountWritten(amount: number, unit: Unit): string {
  const { inCurrency, kind } = unitRow(unit);
  return inCurrency ? moneyText(amount) : `${writtenUnits(amount, kind)} ${kind}`;
}
