import { type LimitFieldName, limitFields } from '../../../../policies/limits/limit-fields.ts';

/** Columns that a person looks for first, in this order. */
const FIRST_COLUMNS =
  'group_path group_id unit limit period timezone soft_pct mode owner cost_center valid_from valid_until reason subject limit_id'.split(
    ' ',
  );
export const FIELD_OF: ReadonlyMap<string, LimitFieldName> = new Map(
  limitFields.map(({ name, column = name }) => [column, name]),
);

/** The finance file: one row per limit, one column per field. The order of an export; an import takes any. */
export const CSV_COLUMNS: readonly string[] = [...new Set([...FIRST_COLUMNS, ...FIELD_OF.keys(), 'version'])];

export type CsvColumn = string;

/** Informational columns of an export. An import ignores them. */
export const FIGURE_COLUMNS = ['last_year_mean', 'last_year_most', 'forecast'] as const;

/** Past use and forecast of a limit by column; in whole units. */
export type LimitFigures = Readonly<Partial<Record<(typeof FIGURE_COLUMNS)[number], number>>>;

/** The cells of one row by column; a column that the file does not have is undefined, an empty cell is ''. */
export type Cells = Readonly<Partial<Record<CsvColumn, string>>>;

export interface CsvDialect {
  readonly delimiter: ',' | ';';
  readonly decimal: '.' | ',';
}

export const PLAIN_CSV: CsvDialect = { delimiter: ',', decimal: '.' };

const columnsOf = (...types: readonly string[]): readonly string[] =>
  limitFields.flatMap(({ name, column = name, type }) => (types.includes(type) ? [column] : []));

/** Columns with decimals, whose sign the dialect names. */
const DECIMALS: ReadonlySet<CsvColumn> = new Set(['limit', 'soft_pct', ...columnsOf('part')]);
const DAYS: ReadonlySet<CsvColumn> = new Set(columnsOf('day'));
/** Columns whose blanks at both ends are the author's. */
const TEXTS: ReadonlySet<CsvColumn> = new Set(columnsOf('text'));

export const isDecimal = (column: CsvColumn): boolean => DECIMALS.has(column);
export const isDayColumn = (column: CsvColumn): boolean => DAYS.has(column);
export const isTextColumn = (column: CsvColumn): boolean => TEXTS.has(column);

export interface CsvProblem {
  /** Line of the file, from 1; 0 for the file as a whole, or for what is not in it. */
  readonly line: number;
  readonly column?: string;
  readonly message: string;
}

/** A cell that says the same in another way. */
export interface UnderstoodCell {
  readonly line: number;
  readonly column: CsvColumn;
  readonly written: string;
  /** As limits.yaml has it. */
  readonly read: string;
}

/** `line 7, limit: '9,50' is read as 9.50`. */
export const understoodText = ({ line, column, written, read }: UnderstoodCell): string =>
  `line ${line}, ${column}: '${written}' is read as ${read}`;

/** `line 7, limit: '7,50' …`. */
export const csvProblemText = ({ line, column, message }: CsvProblem): string =>
  `${line === 0 ? 'file' : `line ${line}`}${column === undefined ? '' : `, ${column}`}: ${message}`;

export const PROBLEMS_MAX = 200;

// The text of a file as spreadsheets save it: in which letters, and with what between its cells.

export interface FileText {
  readonly text: string;
  /** Lines before the header that are none of the table. */
  readonly linesBefore: number;
  /** Declared by a line `sep=;`, or by the header. */
  readonly delimiter?: Delimiter;
  /** Detected properties, in words. */
  readonly notes: readonly string[];
}

type Delimiter = ',' | ';' | '\t';

const SEPARATOR = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i;
const DELIMITER_NAMES: Readonly<Record<Delimiter, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
};

/** @returns undefined: these are no letters. */
export function fileText(file: Uint8Array): FileText | undefined {
  const decoded = decode(file);
  if (decoded === undefined) return undefined;
  const said = SEPARATOR.exec(decoded.text);
  const text = said === null ? decoded.text : decoded.text.slice(said[0].length);
  const found = said === null ? delimiterOf(text) : (said[1] as Delimiter);
  const apart = found === undefined || found === ',' ? [] : [`cells are apart by ${DELIMITER_NAMES[found]}`];
  return {
    text,
    linesBefore: said === null ? 0 : 1,
    ...(found !== undefined && { delimiter: found }),
    notes: [...decoded.notes, ...apart],
  };
}

/** UTF-16 is known by its byte order mark. */
function decode(file: Uint8Array): Pick<FileText, 'text' | 'notes'> | undefined {
  const mark = ((file[0] ?? 0) << 8) | (file[1] ?? 0);
  if (mark === 0xfffe || mark === 0xfeff) {
    const text = tried(mark === 0xfffe ? 'utf-16le' : 'utf-16be', file);
    return text === undefined ? undefined : { text, notes: ['its letters are read as UTF-16'] };
  }
  const text = tried('utf-8', file);
  if (text !== undefined) return text.includes('\0') ? undefined : { text, notes: [] };
  const western = tried('windows-1252', file);
  // Control letters are in no spreadsheet: then these are other bytes altogether. Tabs and line breaks are text.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return western === undefined || /[\0-\x08\x80-\x9f]/.test(western)
    ? undefined
    : { text: western, notes: ['is not UTF-8: its letters are read as Windows-1252'] };
}

function tried(encoding: string, file: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(file);
  } catch {
    return undefined;
  }
}

/** Column names contain none of these, so a header with one kind of them shows the delimiter. */
function delimiterOf(text: string): Delimiter | undefined {
  const [header = ''] = text.split(/[\r\n]/, 1);
  const found = ([',', ';', '\t'] as const).filter((each) => header.includes(each));
  return found.length === 1 ? found[0] : undefined;
}
