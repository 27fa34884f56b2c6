import { CsvError, parse } from 'csv-parse/sync';
import { closest } from '../../../../policies/document/reading.ts';
import {
  type Cells,
  CSV_COLUMNS,
  type CsvColumn,
  type CsvDialect,
  type CsvProblem,
  FIGURE_COLUMNS,
  PROBLEMS_MAX,
  textOfCell,
  typeOf,
} from './columns.ts';

export interface CsvRow {
  readonly line: number;
  readonly cells: Cells;
}

interface Refused {
  readonly ok: false;
  readonly problems: readonly CsvProblem[];
}

/** A hundred thousand limits of 160 characters. */
export const CSV_BYTES_MAX = 16 * 1024 * 1024;
const ROWS_MAX = 100_000;
/** No row of a limit comes near; one that does has lost a quote. */
const ROW_CHARACTERS_MAX = 16_384;

/**
 * The rows of a file, and the set it was exported from (`version`; undefined: it does not say). RFC 4180 with any line
 * breaks, commas or semicolons; UTF-8 with or without a byte order mark, or Windows-1252. Nothing is known of limits here.
 */
export function readRows(file: Uint8Array, dialect: CsvDialect) {
  if (file.length > CSV_BYTES_MAX)
    return refused(0, `has ${file.length} bytes; expected at most ${CSV_BYTES_MAX}`);
  const decoded = decode(file);
  if (decoded === undefined)
    return refused(0, 'has no letters that can be read; save it as "CSV UTF-8" in the spreadsheet');
  const { text, notes } = decoded;
  // Column names contain neither, so the header shows which one it is.
  const [head = ''] = text.split(/[\r\n]/, 1);
  const delimiter = ([';', ','] as const).find((each) => head.includes(each)) ?? dialect.delimiter;
  const records = recordsOf(text, delimiter);
  if ('ok' in records) return records;
  const [header, ...body] = records;
  if (header === undefined) return refused(0, 'is empty; expected a header and a row for each limit');
  const problems: CsvProblem[] = [];
  const columns = readHeader(header, problems);
  if (problems.length > 0) return { ok: false, problems } as const;
  if (body.length > ROWS_MAX) return refused(0, `has ${body.length} rows; expected at most ${ROWS_MAX}`);
  const rows = body.flatMap((record) => rowOf(record, columns, problems) ?? []);
  const version = versionOf(rows, problems);
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) } as const;
  return { ok: true, rows, version, notes } as const;
}

function decode(file: Uint8Array): { readonly text: string; readonly notes: readonly string[] } | undefined {
  const [text, western] = ['utf-8', 'windows-1252'].map((encoding) => {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(file);
    } catch {
      return undefined;
    }
  });
  if (text !== undefined) return text.includes('\0') ? undefined : { text, notes: [] };
  // Control letters are in no spreadsheet: then these are other bytes altogether. Tabs and line breaks are text.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return western === undefined || /[\0-\x08\x80-\x9f]/.test(western)
    ? undefined
    : { text: western, notes: ['is not UTF-8: its letters are read as Windows-1252'] };
}

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

function recordsOf(text: string, delimiter: string): CsvRecord[] | Refused {
  const records: CsvRecord[] = [];
  let line = 1;
  try {
    parse(text, {
      delimiter,
      // Declare all three, because concatenated files mix them.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      max_record_size: ROW_CHARACTERS_MAX,
      on_record: (fields, { lines }) => {
        records.push({ line, fields });
        line = lines + 1;
        return null;
      },
    });
    return records;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return refused(
      line,
      'has a quote that does not end, or that is in the middle of a cell: put the whole cell in quotes, and double those in it (RFC 4180)',
    );
  }
}

const FIGURES: readonly string[] = FIGURE_COLUMNS;

function readHeader({ line, fields }: CsvRecord, problems: CsvProblem[]): readonly (CsvColumn | undefined)[] {
  const names = fields.map((field) => textOfCell(field.trim()));
  const refuse = (column: string, message: string): void => void problems.push({ line, column, message });
  for (const [index, name] of names.entries()) {
    if (name === '' || FIGURES.includes(name)) continue;
    const guess = closest(name, CSV_COLUMNS);
    if (!CSV_COLUMNS.includes(name))
      refuse(
        name,
        `is no column; ${guess ? `did you mean ${guess}?` : `expected ${CSV_COLUMNS.join(', ')}`}`,
      );
    else if (names.indexOf(name) !== index) refuse(name, 'is there twice; expected each column once');
  }
  for (const needed of [['unit'], ['limit'], ['group_id', 'group_path', 'subject']])
    if (!needed.some((name) => names.includes(name)))
      refuse(needed[0] ?? '', `is missing in the header: ${needed.join(' or ')}`);
  return names.map((name) => name || undefined);
}

function rowOf(
  { line, fields }: CsvRecord,
  columns: readonly (CsvColumn | undefined)[],
  problems: CsvProblem[],
): CsvRow | undefined {
  if (fields.every((field) => field.trim() === '')) return undefined;
  if (fields.length !== columns.length) {
    const message = `has ${fields.length} cells and the header ${columns.length}; does a cell lack its quotes?`;
    problems.push({ line, message });
    return undefined;
  }
  const cells: Partial<Record<CsvColumn, string>> = {};
  for (const [index, column] of columns.entries()) {
    const field = fields[index] ?? '';
    // Spreadsheets save columns without a title when something was typed below one.
    if (column === undefined) {
      if (field.trim() !== '')
        problems.push({ line, message: `'${field.trim().slice(0, 60)}' stands in a column without a name` });
    } else if (!FIGURES.includes(column)) cells[column] = cellText(field, column);
  }
  return { line, cells };
}

function cellText(field: string, column: CsvColumn): string {
  if (typeOf(column) !== 'text') return textOfCell(field.trim()).trim();
  // A cell of nothing but blanks looks empty.
  return field.trim() === '' ? '' : textOfCell(field);
}

function versionOf(rows: readonly CsvRow[], problems: CsvProblem[]): string | undefined {
  const [first, ...more] = rows.filter(({ cells }) => cells.version);
  const version = first?.cells.version;
  const other = more.find(({ cells }) => cells.version !== version);
  if (first !== undefined && other !== undefined)
    problems.push({
      line: other.line,
      column: 'version',
      message: `'${other.cells.version}'; line ${first.line} has '${version}': rows of two exports are mixed`,
    });
  return version;
}

const refused = (line: number, message: string): Refused => ({ ok: false, problems: [{ line, message }] });
