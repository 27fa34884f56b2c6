/** A report by hour for a terminal: a line for each hour of the day, and a column for each weekday. */
import type { SpendReport } from '../../../functions/answers/report/model.ts';
import { moneyText } from '../../../policies/units/unit-texts.ts';
import { table } from '../../terminal/table.ts';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Spend per hour; empty without jobs. */
export function hourTable({ rows }: SpendReport, columns: number): string {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const right = { align: 'right', even: true } as const;
  return table(
    [{ title: 'hour' }, ...WEEKDAYS.map((title) => ({ title, ...right }))],
    Array.from({ length: 24 }, (_, index) => {
      const hour = `${String(index).padStart(2, '0')}:00`;
      const cells = WEEKDAYS.map((day) => byName.get(`${day} ${hour}`));
      return [hour, ...cells.map((row) => (row === undefined ? '' : moneyText(row.micros)))];
    }),
    columns,
  );
}
