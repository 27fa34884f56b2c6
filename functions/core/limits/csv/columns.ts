/** The finance file: one row per limit, one column per field. The order of an export; an import takes any. */
export const COLUMNS = [
  'group_path',
  'group_id',
  'unit',
  'limit',
  'period',
  'timezone',
  'soft_pct',
  'mode',
  'owner',
  'cost_center',
  'valid_from',
  'valid_until',
  'reason',
  'subject',
  'limit_id',
  'soft',
  'grace',
  'carry',
  'overdraft',
  'thresholds',
  'fiscal_start',
  'contact',
  'version',
] as const;

export type Column = (typeof COLUMNS)[number];

/** The cells of one row by column; a column that the file does not have is undefined, an empty cell is ''. */
export type Cells = Readonly<Partial<Record<Column, string>>>;

/** Told by whoever writes or reads. What a file says itself comes first; a number that could be two is asked about. */
export interface CsvDialect {
  readonly delimiter: ',' | ';';
  readonly decimal: '.' | ',';
}

export const PLAIN_CSV: CsvDialect = { delimiter: ',', decimal: '.' };

/** Columns with decimals, whose sign the dialect names. */
const DECIMALS: ReadonlySet<Column> = new Set(['limit', 'soft_pct', 'soft', 'grace', 'carry']);

export const isDecimal = (column: Column): boolean => DECIMALS.has(column);

/** Columns whose blanks at both ends are the author's. */
const TEXTS: ReadonlySet<Column> = new Set(['owner', 'cost_center', 'reason', 'contact']);

export const isText = (column: Column): boolean => TEXTS.has(column);

/** One mistake in a file. */
export interface CsvProblem {
  /** Line of the file, from 1; 0 for the file as a whole, or for what is not in it. */
  readonly line: number;
  readonly column?: string;
  /** What stands there, and what was expected. */
  readonly message: string;
}

/** A cell that says the same in another way. */
export interface Understood {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly column: Column;
  readonly written: string;
  /** As limits.yaml has it. */
  readonly read: string;
}

/** `line 7, limit: '9,50' is read as 9.50`. */
export const understoodText = ({ line, column, written, read }: Understood): string =>
  `line ${line}, ${column}: '${written}' is read as ${read}`;

/** `line 7, limit: '7,50' …`. */
export const csvProblemText = ({ line, column, message }: CsvProblem): string =>
  `${line === 0 ? 'file' : `line ${line}`}${column === undefined ? '' : `, ${column}`}: ${message}`;

/** More than a person mends in one go. */
export const PROBLEMS_MAX = 200;
