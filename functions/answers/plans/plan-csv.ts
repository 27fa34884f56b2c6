/** A plan for a spreadsheet: what was used, what will be, what is, and in the column `limit` what shall be. */
import { writtenUnits } from '../../../policies/units/written.ts';
import { type CsvDialect, writtenCell } from '../../core/limits/index.ts';
import type { PlanRow, PlanView } from './model.ts';

/** Columns to look at; a file that comes back may have other numbers in them, or not have them at all. */
export const FIGURE_COLUMNS = ['last_year_mean', 'last_year_most', 'forecast', 'today'] as const;

const COLUMNS = [
  ...['group_path', 'group_id', 'subject', 'limit_id', 'unit', 'period'],
  ...FIGURE_COLUMNS,
  ...['limit', 'version'],
] as const;

/** RFC 4180, without a byte order mark. @param view - with all its rows */
export function planCsv({ id, rows }: PlanView, dialect: CsvDialect): string {
  const lines = rows.map((row) => {
    const written = (amount: number | 'unlimited' | undefined): string =>
      amount === undefined ? '' : amount === 'unlimited' ? amount : writtenUnits(amount, row.kind);
    const decimal = (amount: number | 'unlimited' | undefined): string =>
      writtenCell(written(amount), 'decimal', dialect);
    const plain = (text: string): string => writtenCell(text, 'text', dialect);
    return [
      ...placeOf(row).map((text, index) => writtenCell(text, index === 1 ? 'number' : 'text', dialect)),
      ...[plain(row.limit), plain(row.kind), plain(row.per)],
      ...[
        decimal(row.lastYear?.mean),
        decimal(row.lastYear?.most),
        decimal(row.forecast),
        decimal(row.today),
      ],
      ...[decimal(row.planned), plain(id)],
    ];
  });
  return [COLUMNS, ...lines].map((fields) => `${fields.join(dialect.delimiter)}\r\n`).join('');
}

function placeOf({ subject, path }: PlanRow): readonly [path: string, group: string, subject: string] {
  const group = /^group\/(\d+)$/.exec(subject)?.[1];
  if (group !== undefined) return [path, group, ''];
  return [subject.startsWith('project/') ? path : '', '', subject];
}
