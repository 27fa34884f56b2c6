/** A report for a terminal. */
import { hasOthers, type SpendReport } from '../../../functions/answers/report/model.ts';
import { queueText, retriesText } from '../../../functions/answers/report/spend-text.ts';
import { durationText, moneyText } from '../../../policies/units/unit-texts.ts';
import { printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { hourTable } from './hour-text.ts';

type Figured = SpendReport['total'];

export function spendText(report: SpendReport, columns: number): string {
  const { path, fromDay, toDay, before, currency, notes } = report;
  const beside = before === undefined ? '' : ` beside ${before.fromDay} to ${before.toDay}`;
  const told = notes.map((note) => `\n${note}\n`).join('');
  const hours = report.by === 'hour' ? `${hourTable(report, columns)}\n` : '';
  const shown = report.by === 'hour' ? { ...report, rows: [] } : report;
  return `${printable(path)}, ${fromDay} to ${toDay}${beside}, ${currency}\n\n${hours}${rowsText(shown, columns)}${wasteText(report)}${told}`;
}

/** All rows together; the CSV has them for each. */
const wasteText = (report: SpendReport): string =>
  report.total.jobs === 0 ? '' : `\n${retriesText(report)}\n${queueText(report)}\n`;

function rowsText(report: SpendReport, columns: number): string {
  const { rows, other, total, by, before } = report;
  const cells = (name: string, row: Figured): readonly string[] => [
    ...[
      name,
      String(row.jobs),
      String(row.rejected),
      durationText(Math.round(row.seconds)),
      moneyText(row.micros),
    ],
    ...(row.before === undefined
      ? []
      : [
          moneyText(row.before.micros),
          moneyText(row.micros - row.before.micros),
          row.before.micros > 0 ? `${Math.round((row.micros / row.before.micros - 1) * 100)} %` : '',
        ]),
  ];
  const right = { align: 'right', even: true } as const;
  return table(
    [
      { title: by },
      { title: 'jobs', align: 'right' },
      { title: 'rejected', align: 'right' },
      { title: 'ran', align: 'right' },
      { title: 'spent', ...right },
      ...(before === undefined
        ? []
        : [
            { title: 'before', ...right },
            { title: 'change', ...right },
            { title: '', align: 'right' as const },
          ]),
    ],
    [
      ...rows.map((row) => cells(row.name === '' ? 'no class' : printable(row.name), row)),
      ...(hasOthers(report) ? [cells(printable(other.label.toLowerCase()), other)] : []),
      cells('total', total),
    ],
    columns,
  );
}
