import type { Directory } from '../../../../policies/directory.ts';
import { isRecord } from '../../../../policies/document/reading.ts';
import { writtenUnits } from '../../../../policies/unit.ts';
import type { LimitsDocument } from '../limit-set.ts';
import {
  idOf,
  kindOf,
  type LimitList,
  limitListOf,
  subjectOfEntry,
  writtenSubject,
} from '../subject-text.ts';
import {
  type Cells,
  CSV_COLUMNS,
  type CsvColumn,
  type CsvDialect,
  FIGURE_COLUMNS,
  isDecimal,
  type LimitFigures,
  PLAIN_CSV,
} from './columns.ts';
import { cellOfText, cellsOf, isPlainNumber, type LimitEntry } from './read-cells.ts';

/**
 * The limits of a document as CSV, RFC 4180, without a byte order mark: those of the instance and the runner classes
 * first, then groups and projects by path, then defaults. Grants, freezes, break-glass and rollouts are not in it.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export function exportLimits(
  document: LimitsDocument,
  options: {
    /** The live set: it stands in each row, so that sorting, filtering and deleting rows cannot lose it. */
    readonly version: string;
    readonly directory?: Directory | undefined;
    /** By {@link entryKey}; limits that are not there have empty cells. */
    readonly figures?: ReadonlyMap<string, LimitFigures>;
    readonly dialect?: CsvDialect;
  },
): string {
  const { version, directory, figures, dialect = PLAIN_CSV } = options;
  const rows = placedEntries(document).map((placed) => ({
    ...placed,
    path: pathOf(placed.subject, directory),
  }));
  const lines = rows.toSorted(byPlace).map((row) => {
    const cells: Cells = { ...cellsOf(row.entry), ...placeCells(row, row.path), version };
    const told = figureCells(row, figures?.get(entryKey(row.subject, row.id)), dialect);
    return CSV_COLUMNS.flatMap((column) => {
      const field = fieldOf(cells[column] ?? '', column, dialect);
      return column === 'limit' ? [field, ...told] : [field];
    });
  });
  const header = CSV_COLUMNS.flatMap((column) =>
    column === 'limit' ? [column, ...FIGURE_COLUMNS] : [column],
  );
  return [header, ...lines].map((fields) => `${fields.join(dialect.delimiter)}\r\n`).join('');
}

function figureCells(
  { entry }: PlacedEntry,
  figures: LimitFigures | undefined,
  dialect: CsvDialect,
): readonly string[] {
  const kind = kindOf(entry);
  return FIGURE_COLUMNS.map((column) => {
    const amount = figures?.[column];
    return amount === undefined || kind === undefined
      ? ''
      : writtenCell(writtenUnits(amount, kind), 'decimal', dialect);
  });
}

function pathOf(subject: string, directory: Directory | undefined): string | undefined {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory?.groupById.get(Number(id))?.path;
  return kind === 'project' ? directory?.projectById.get(Number(id))?.path : undefined;
}

interface ExportRow extends PlacedEntry {
  readonly path: string | undefined;
}

/** Stable: limits of one subject keep their order, and so do patterns, because the first match counts. */
function byPlace(one: ExportRow, other: ExportRow): number {
  const [a, b] = [rankOf(one), rankOf(other)];
  if (a !== b) return a - b;
  if (one.list !== 'limits') return 0;
  const [x, y] = [one.path ?? one.subject, other.path ?? other.subject];
  return x === y ? 0 : x < y ? -1 : 1;
}

const rankOf = ({ list, subject }: PlacedEntry): number => {
  if (list !== 'limits') return list === 'personal_default' ? 2 : 3;
  return /^(?:group|project)\//.test(subject) ? 1 : 0;
};

function placeCells({ subject }: PlacedEntry, path: string | undefined): Cells {
  const group = /^group\/(\d+)$/.exec(subject)?.[1];
  return group === undefined
    ? { subject, group_path: path ?? '' }
    : { group_id: group, group_path: path ?? '' };
}

const fieldOf = (text: string, column: CsvColumn, dialect: CsvDialect): string =>
  writtenCell(text, isDecimal(column) ? 'decimal' : column === 'group_id' ? 'number' : 'text', dialect);

function writtenCell(
  text: string,
  content: 'decimal' | 'number' | 'text',
  { delimiter, decimal }: CsvDialect,
): string {
  const isNumber = content !== 'text' && isPlainNumber(text);
  const told = content === 'decimal' && decimal === ',' ? text.replace('.', ',') : text;
  const cell = isNumber ? told : cellOfText(told);
  const quotes = cell.includes(delimiter) || /["\r\n]|^\s|\s$/.test(cell);
  return quotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}

// The limits of a document with whose they are, in the words of edits: `group/101`, `personal`, `groups/acme/team-?`.
export const LISTS: readonly LimitList[] = ['limits', 'personal_default', 'group_defaults'];

export interface PlacedEntry {
  readonly list: LimitList;
  readonly subject: string;
  readonly id: string;
  readonly entry: LimitEntry;
}

export const placedEntries = (document: LimitsDocument): readonly PlacedEntry[] =>
  LISTS.flatMap((list) => {
    const entries: unknown = document[list];
    if (!Array.isArray(entries)) return [];
    return entries.filter(isRecord).flatMap((entry): readonly PlacedEntry[] => {
      const subject = subjectOfEntry(list, entry);
      return subject === undefined ? [] : [{ list, subject, id: idOf(entry), entry }];
    });
  });

/** Key of a limit; no id contains a line break. */
export const entryKey = (subject: string, id: string): string => `${id}\n${subject}`;

export function entryPlaceOf(subject: string) {
  const start = writtenSubject(subject);
  return start && { list: limitListOf(subject), start };
}
