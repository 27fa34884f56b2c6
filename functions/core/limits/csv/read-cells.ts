import {
  readWrittenAmount,
  readWrittenDay,
  type WrittenAmount,
} from '../../../../policies/document/written.ts';
import { isMoney, LIMIT_KINDS } from '../../../../policies/unit.ts';
import { idOf, kindOf, readField } from '../subject-text.ts';
import { type Cells, type CsvColumn, type CsvDialect, FIELD_OF, typeOf } from './columns.ts';

// Thresholds in one cell or field: `50 75 90`, `80 forecast 100`, `none`; empty: as limits of the kind have them.

const NO_THRESHOLDS = 'none';

export const thresholdsText = (thresholds: readonly unknown[]): string =>
  thresholds.length === 0 ? NO_THRESHOLDS : thresholds.map(String).join(' ');

/** Returns undefined for an empty text. The limit's own check reports texts that are not numbers. */
export const readThresholdsText = (text: string): readonly (number | string)[] | undefined => {
  if (text === '') return undefined;
  if (text.toLowerCase() === NO_THRESHOLDS) return [];
  const words = text.match(/forecast\s+\d+|[^\s;,]+/gi) ?? [];
  return words.map((each) =>
    /^\d{1,6}$/.test(each) ? Number(each) : each.toLowerCase().replace(/\s+/, ' '),
  );
};

export interface CellContext {
  readonly dialect: CsvDialect;
  readonly currency: string;
  readonly refuse: (column: CsvColumn, message: string) => undefined;
  readonly understand: (column: CsvColumn, written: string, read: string) => void;
}

/** @param before - the limit as it is: what stands in it already is never asked about. Undefined after a `refuse`. */
export function readCells(
  cells: Cells,
  before: Cells,
  { dialect, currency, refuse, understand }: CellContext,
): Cells | undefined {
  const now: Partial<Record<CsvColumn, string>> = { ...cells };
  const isCounted = LIMIT_KINDS.some((kind) => kind === cells.unit && isMoney(kind));
  let fine = true;
  for (const [column, text = ''] of Object.entries(cells)) {
    const isDecimal = typeOf(column) === 'part';
    if (text === '' || !(isDecimal || typeOf(column) === 'day')) continue;
    const plain = isDecimal ? text.replace(dialect.decimal, '.') : text;
    now[column] = plain;
    if (isSame(column, before[column] ?? '', plain)) continue;
    const read: WrittenAmount = isDecimal
      ? readWrittenAmount(text, {
          ...{ currency, isMoney: isCounted },
          // A decimal point is the default, so it counts as undeclared.
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

/** Spreadsheets save 7.50 as 7.5, and breaks within cells as they like. */
export function isSame(column: CsvColumn, before: string, now: string): boolean {
  if (before === now) return true;
  return typeOf(column) === 'part' ? number(before) === number(now) : lines(before) === lines(now);
}

const DECIMAL = /^0*(\d+)(?:\.(\d+?)0*)?(%?|[A-Za-z]*)$/;

function number(text: string): string {
  const [, whole, fraction = '', unit = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return text;
  return /^0*$/.test(fraction) ? `${whole}${unit}` : `${whole}.${fraction}${unit}`;
}

const lines = (text: string): string => text.replace(/\r\n?/g, '\n');

export type LimitEntry = Readonly<Record<string, unknown>>;

/** All cells that say something about the limit itself, not about whose it is; decimals with a point. */
export function cellsOf(entry: LimitEntry): Cells {
  const kind = kindOf(entry);
  const soft = textOf(entry.soft);
  const share = /^([^%]+)%$/.exec(soft)?.[1];
  return {
    ...Object.fromEntries(
      [...FIELD_OF].map(([column, name]) => [column, textOf(readField(name, entry[name]))]),
    ),
    unit: kind ?? '',
    limit: kind === undefined ? '' : textOf(entry[kind]),
    limit_id: idOf(entry),
    soft_pct: share ?? '',
    soft: share === undefined ? soft : '',
  };
}

const textOf = (value: unknown): string =>
  Array.isArray(value) ? thresholdsText(value) : isThere(value) ? String(value) : '';

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * A text in a cell that spreadsheets leave alone: they run formulas, and read `0042`, `2026-11-01` and `3-4` as numbers
 * and dates, which they save in another form. An apostrophe before such a text makes it a text, and goes on the way back.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const APOSTROPHE = "'";
const FORMULA = /^\s*['=+\-@\uff1d\uff0b\uff0d\uff20|]|^[\t\r\n\0]/;
const NUMBER_OR_DATE =
  /^\s*[-.,:/%\s\d]*\d[-.,:/%\s\d]*(?:e[+-]?\d+)?\s*(?:[ap]m)?\s*$|^\s*(?:true|false)\s*$/i;
/** Spreadsheets keep the first fifteen digits of a longer number. */
const PLAIN_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
const DIGITS_MAX = 15;

export const cellOfText = (text: string): string => (isTaken(text) ? `${APOSTROPHE}${text}` : text);

/** The inverse. An apostrophe that was not added by the export, as in `'tis`, stays. */
export const textOfCell = (cell: string): string =>
  cell.startsWith(APOSTROPHE) && isTaken(cell.slice(1)) ? cell.slice(1) : cell;

/** A number that a spreadsheet reads, sums and saves as it is. */
export const isPlainNumber = (text: string): boolean =>
  PLAIN_NUMBER.test(text) && text.replace('.', '').length <= DIGITS_MAX;

const isTaken = (text: string): boolean => FORMULA.test(text) || NUMBER_OR_DATE.test(text);
