/** Numbers and days in the cells of a row, as people and spreadsheets write them → as limits.yaml does. */
import { isMoney, LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import { readWrittenAmount, type Written } from '../written/written-amount.ts';
import { readWrittenDay } from '../written/written-day.ts';
import { type Cells, type Column, type CsvDialect, isDecimal } from './columns.ts';

/** How the cells of a file are read. */
export interface CellReading {
  readonly dialect: CsvDialect;
  /** ISO 4217 code of the deployment. */
  readonly currency: string;
  readonly refuse: (column: Column, message: string) => undefined;
  /** A cell that was read as something else than what stands in it. */
  readonly understand: (column: Column, written: string, read: string) => void;
}

const DAYS: ReadonlySet<Column> = new Set(['valid_from', 'valid_until']);

/** @param before - the limit as it is: what stands in it already is never asked about. Undefined after a `refuse`. */
export function readCells(
  cells: Cells,
  before: Cells,
  { dialect, currency, refuse, understand }: CellReading,
): Cells | undefined {
  const now: Partial<Record<Column, string>> = { ...cells };
  let fine = true;
  for (const [column, text] of Object.entries(cells) as [Column, string][]) {
    if (text === '' || !(isDecimal(column) || DAYS.has(column))) continue;
    const plain = isDecimal(column) ? text.replace(dialect.decimal, '.') : text;
    if (plain === before[column] || sameNumber(plain, before[column])) {
      now[column] = plain;
      continue;
    }
    const read: Written = isDecimal(column)
      ? readWrittenAmount(text, {
          currency,
          isMoney: LIMIT_KINDS.some((kind) => kind === cells.unit && isMoney(kind)),
          // A point is what files have by default: nobody said so.
          ...(dialect.decimal === ',' && { decimal: ',' as const }),
          was: column === 'limit' ? before.limit : undefined,
        })
      : readWrittenDay(text);
    if (read.ok) {
      now[column] = read.text;
      if (read.text !== plain) understand(column, text, read.text);
    } else {
      fine = false;
      refuse(column, read.message);
    }
  }
  return fine ? now : undefined;
}

const sameNumber = (one: string, other: string | undefined): boolean =>
  other !== undefined && /^\d+(?:\.\d+)?$/.test(one) && trimmed(one) === trimmed(other);

/** Spreadsheets save 7.50 as 7.5. */
const trimmed = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
