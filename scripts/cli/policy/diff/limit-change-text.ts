import type { ChangeRow, FieldValue } from '../../../../functions/core/limits/index.ts';
import { edgeText } from '../../../../policies/text/edge-text.ts';
import { amountWritten } from './amount-written.ts';
import { leafText, valueText } from './leaves.ts';

/** `7.50 → 8.00`, `absent → warn`; thresholds show what came (+) and went (-). */
export function limitDifferenceText(row: ChangeRow): string {
  if (row.field === 'thresholds') return leafText({ path: [], from: listOf(row.from), to: listOf(row.to) });
  return `${textOf(row.from, row)} → ${textOf(row.to, row)}`;
}

/** All of a thing that came or went: `7.50, per month, owner leads`. Its amount needs no name, nor does the usual mode. */
export const thingText = (rows: readonly ChangeRow[]): string =>
  rows
    .map((row) => ({ row, value: valueIn(row) }))
    .filter(({ row, value }) => row.field !== 'mode' || value !== 'enforce')
    .map(({ row, value }) =>
      row.field === 'amount' ? textOf(value, row) : `${row.field} ${textOf(value, row)}`,
    )
    .join(', ');

/** `50.00 from 1 Nov 2026 to the end of 30 Nov 2026 Europe/Berlin: release week, FIN-12`. */
export function grantText(rows: readonly ChangeRow[], zone: string, nowMs: number): string {
  const byField = new Map(rows.map((row) => [row.field, textOf(valueIn(row), row)]));
  const said = (field: string): string => byField.get(field) ?? '';
  const [fromMs, untilMs] = [Date.parse(said('from')), Date.parse(said('until'))];
  const from = edgeText(fromMs, 'start', zone).slice(0, -(zone.length + 1));
  const why = ['reason', 'ticket'].map(said).filter((text) => text !== '');
  const over = untilMs <= nowMs ? ' (is over)' : '';
  return `${said('amount')} from ${from} to ${edgeText(untilMs, 'end', zone)}: ${why.join(', ')}${over}`;
}

const valueIn = ({ from, to }: ChangeRow): FieldValue => to ?? from;

const textOf = (value: FieldValue, { unit }: ChangeRow): string =>
  typeof value === 'number' && unit !== undefined ? amountWritten(value, unit) : valueText(value);

/** `[50, 75]` → 50 and 75. */
function listOf(value: FieldValue): readonly string[] | undefined {
  if (value === null) return undefined;
  const inside = String(value).slice(1, -1);
  return inside === '' ? [] : inside.split(', ');
}
