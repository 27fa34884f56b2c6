import { type LimitFieldName, limitFields } from '../../../../policies/limits/limit-fields.ts';

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

/** `part`: decimals, whose sign the dialect names. `text`: blanks at both ends are the author's. */
const TYPES: ReadonlyMap<CsvColumn, string> = new Map([
  ...limitFields.map(({ name, column = name, type }) => [column, type] as const),
  ...(['limit', 'soft_pct'] as const).map((column) => [column, 'part'] as const),
]);
export const typeOf = (column: CsvColumn): string | undefined => TYPES.get(column);

export interface CsvProblem {
  /** Line of the file, from 1; 0 for the file as a whole, or for what is not in it. */
  readonly line: number;
  readonly column?: string;
  readonly message: string;
}

export interface UnderstoodCell {
  readonly line: number;
  readonly column: CsvColumn;
  readonly written: string;
  readonly read: string;
}

/** `line 7, limit: '9,50' is read as 9.50`. */
export const understoodText = ({ line, column, written, read }: UnderstoodCell): string =>
  `line ${line}, ${column}: '${written}' is read as ${read}`;

export const csvProblemText = ({ line, column, message }: CsvProblem): string =>
  `${line === 0 ? 'file' : `line ${line}`}${column === undefined ? '' : `, ${column}`}: ${message}`;

export const PROBLEMS_MAX = 200;
