import { CsvError, type CsvErrorCode, parse } from 'csv-parse/sync';
import { closest } from '../../../../policies/document/reading.ts';
import {
  type Cells,
  CSV_COLUMNS,
  type CsvColumn,
  type CsvDialect,
  type CsvProblem,
  FIGURE_COLUMNS,
  type FileText,
  fileText,
  isTextColumn,
  PROBLEMS_MAX,
} from './columns.ts';
import { textOfCell } from './read-cells.ts';

export interface CsvRow {
  readonly line: number;
  readonly cells: Cells;
}

type CsvRows =
  | {
      readonly ok: true;
      readonly rows: readonly CsvRow[];
      readonly version: string | undefined;
      readonly notes: readonly string[];
    }
  | Refused;

interface Refused {
  readonly ok: false;
  readonly problems: readonly CsvProblem[];
}

/** A hundred thousand limits of 160 characters. */
export const CSV_BYTES_MAX = 16 * 1024 * 1024;
/** As many as a document may have. */
const ROWS_MAX = 100_000;
/** No row of a limit comes near; one that does has lost a quote. */
const ROW_CHARACTERS_MAX = 16_384;

/**
 * The rows of a file, and the set it was exported from (`version`; undefined: it does not say). RFC 4180 with any line
 * breaks; UTF-8 with or without a byte order mark, UTF-16 or Windows-1252. Nothing is known of limits here.
 */
export function readRows(file: Uint8Array, dialect: CsvDialect): CsvRows {
  if (file.length > CSV_BYTES_MAX)
    return refused(0, `has ${file.length} bytes; expected at most ${CSV_BYTES_MAX}`);
  const found = fileText(file);
  if (found === undefined)
    return refused(
      0,
      'has no letters that can be read; save it as "CSV UTF-8", which spreadsheets offer beside CSV',
    );
  const { delimiter = dialect.delimiter, notes } = found;
  const records = recordsOf(found, delimiter);
  if ('ok' in records) return records;
  const [header, ...body] = withoutFigures(records);
  if (header === undefined) return refused(0, 'is empty; expected a header and a row for each limit');
  const problems: CsvProblem[] = [];
  const columns = readHeader(header, problems);
  if (problems.length > 0) return { ok: false, problems };
  if (body.length > ROWS_MAX) return refused(0, `has ${body.length} rows; expected at most ${ROWS_MAX}`);
  const rows = body.flatMap((record) => rowOf(record, columns, problems) ?? []);
  const version = versionOf(rows, problems);
  return problems.length > 0
    ? { ok: false, problems: problems.slice(0, PROBLEMS_MAX) }
    : { ok: true, rows, version, notes };
}

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

function recordsOf({ text, linesBefore }: FileText, delimiter: string): CsvRecord[] | Refused {
  const records: CsvRecord[] = [];
  let line = linesBefore + 1;
  try {
    parse(text, {
      delimiter,
      // Declare all three, because concatenated files mix them.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      max_record_size: ROW_CHARACTERS_MAX,
      on_record: (fields, { lines }) => {
        records.push({ line, fields });
        line = linesBefore + lines + 1;
        return null;
      },
    });
    return records;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return refused(line, MISTAKES[error.code] ?? 'is no CSV (RFC 4180)');
  }
}

const STRAY_QUOTE =
  'has a quote in the middle of a cell; put the whole cell in quotes and double those in it';
const MISTAKES: Readonly<Partial<Record<CsvErrorCode, string>>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a cell that begins with a quote and never ends',
  CSV_INVALID_CLOSING_QUOTE: STRAY_QUOTE,
  INVALID_OPENING_QUOTE: STRAY_QUOTE,
  CSV_MAX_RECORD_SIZE: `is longer than ${ROW_CHARACTERS_MAX} characters; does a cell above it lack its closing quote?`,
};

function withoutFigures(records: readonly CsvRecord[]): readonly CsvRecord[] {
  const names: readonly string[] = FIGURE_COLUMNS;
  const [header] = records;
  const left = new Set(
    header?.fields.flatMap((field, index) => (names.includes(textOfCell(field.trim())) ? [index] : [])),
  );
  return records.map(({ line, fields }) => ({ line, fields: fields.filter((_, index) => !left.has(index)) }));
}

function readHeader({ line, fields }: CsvRecord, problems: CsvProblem[]): readonly (CsvColumn | undefined)[] {
  const names = fields.map((field) => textOfCell(field.trim()));
  const columns = names.map((name) => CSV_COLUMNS.find((column) => column === name));
  for (const [index, name] of names.entries()) {
    const guess = closest(name, CSV_COLUMNS);
    if (columns[index] === undefined && name !== '')
      problems.push({
        line,
        column: name,
        message: `is no column; ${guess === undefined ? `expected ${CSV_COLUMNS.join(', ')}` : `did you mean ${guess}?`}`,
      });
    else if (name !== '' && names.indexOf(name) !== index)
      problems.push({ line, column: name, message: 'is there twice; expected each column once' });
  }
  for (const needed of [['unit'], ['limit'], ['group_id', 'group_path', 'subject']])
    if (!needed.some((name) => names.includes(name)))
      problems.push({
        line,
        column: needed[0] ?? '',
        message: `is missing in the header: ${needed.join(' or ')}`,
      });
  return columns;
}

/** Undefined: an empty line, or a mistake. */
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
    if (column !== undefined) cells[column] = cellText(field, column);
    // Spreadsheets save columns without a title when something was typed below one.
    else if (field.trim() !== '')
      problems.push({ line, message: `'${field.trim().slice(0, 60)}' stands in a column without a name` });
  }
  return { line, cells };
}

function cellText(field: string, column: CsvColumn): string {
  if (!isTextColumn(column)) return textOfCell(field.trim()).trim();
  // A cell of nothing but blanks looks empty.
  return field.trim() === '' ? '' : textOfCell(field);
}

/** Rows that were added by hand have none. */
function versionOf(rows: readonly CsvRow[], problems: CsvProblem[]): string | undefined {
  const first = rows.find(({ cells }) => (cells.version ?? '') !== '');
  const version = first?.cells.version;
  const other = rows.find(({ cells }) => (cells.version ?? '') !== '' && cells.version !== version);
  if (first !== undefined && other !== undefined)
    problems.push({
      line: other.line,
      column: 'version',
      message: `'${other.cells.version}'; line ${first.line} has '${version}': rows of two exports are mixed`,
    });
  return version;
}

const refused = (line: number, message: string): Refused => ({ ok: false, problems: [{ line, message }] });
