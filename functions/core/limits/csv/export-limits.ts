import { isDeepStrictEqual } from 'node:util';
import type { Directory } from '../../../../policies/directory.ts';
import { isRecord } from '../../../../policies/document/reading.ts';
import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import { writtenUnits } from '../../../../policies/unit.ts';
import { subjectPath } from '../change-rows.ts';
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
  cellOfText,
  cellsOf,
  FIGURE_COLUMNS,
  isPlainNumber,
  type LimitEntry,
  type LimitFigures,
  PLAIN_CSV,
  typeOf,
} from './columns.ts';

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
    readonly figures?: ReadonlyMap<string, LimitFigures>;
    readonly dialect?: CsvDialect;
  },
): string {
  const { version, directory, figures, dialect = PLAIN_CSV } = options;
  const rows = placedEntries(document).map((row) => ({ ...row, path: pathOf(row.subject, directory) }));
  const lines = rows.toSorted(byPlace).map((row) => {
    const group = /^group\/(\d+)$/.exec(row.subject)?.[1];
    const place = group === undefined ? { subject: row.subject } : { group_id: group };
    const cells: Cells = { ...cellsOf(row.entry), ...place, group_path: row.path ?? '', version };
    const kind = kindOf(row.entry);
    const own = figures?.get(entryKey(row.subject, row.id));
    return withFigures(
      (column) => writtenCell(cells[column] ?? '', column, dialect),
      (column) => {
        const amount = own?.[column];
        if (amount === undefined || kind === undefined) return '';
        return writtenCell(writtenUnits(amount, kind), 'limit', dialect);
      },
    );
  });
  const header = withFigures(String, String);
  return [header, ...lines].map((fields) => `${fields.join(dialect.delimiter)}\r\n`).join('');
}

const withFigures = (
  fieldOf: (column: CsvColumn) => string,
  figureOf: (column: (typeof FIGURE_COLUMNS)[number]) => string,
): readonly string[] =>
  CSV_COLUMNS.flatMap((column) =>
    column === 'limit' ? [fieldOf(column), ...FIGURE_COLUMNS.map(figureOf)] : [fieldOf(column)],
  );

const GROUP_OR_PROJECT = /^(?:group|project)\//;

const pathOf = (subject: string, directory: Directory | undefined): string | undefined =>
  GROUP_OR_PROJECT.test(subject) ? subjectPath(placeOfSubject(subject), directory) : undefined;

type ExportRow = PlacedEntry & { readonly path: string | undefined };

/** Stable: limits of one subject keep their order, and so do patterns, because the first match counts. */
function byPlace(one: ExportRow, other: ExportRow): number {
  const order = rankOf(one) - rankOf(other);
  if (order !== 0 || one.list !== 'limits') return order;
  const [x, y] = [one.path ?? one.subject, other.path ?? other.subject];
  return x === y ? 0 : x < y ? -1 : 1;
}

const rankOf = ({ list, subject }: PlacedEntry): number =>
  list === 'limits' ? Number(GROUP_OR_PROJECT.test(subject)) : 1 + LISTS.indexOf(list);

/** @param column - figures are written like `limit`. */
function writtenCell(text: string, column: CsvColumn, { delimiter, decimal }: CsvDialect): string {
  const isDecimal = typeOf(column) === 'part';
  const isNumber = (isDecimal || column === 'group_id') && isPlainNumber(text);
  const localized = isDecimal && decimal === ',' ? text.replace('.', ',') : text;
  const cell = isNumber ? localized : cellOfText(localized);
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

const DATES_MAX = 100;

export type WrittenTotal = ReturnType<typeof changesOf>[number];

/**
 * Returns sums of all limits per kind, period and date, before and after: now, and at each later change. It is a check sum over
 * the column, parents and children alike. Expired limits are left out, and so are defaults, because the number of their subjects
 * is unknown.
 */
export function totalChanges(before: LimitSet, after: LimitSet, nowMs: number): readonly WrittenTotal[] {
  const [was, is] = [before, after].map(({ bySubject }) => {
    const current = [...bySubject.values()].flat().filter(({ untilMs = nowMs + 1 }) => untilMs > nowMs);
    return Map.groupBy(current, ({ kind, per }) => `${kind} ${per ?? ''}`);
  });
  const names = [...new Set([...(is?.keys() ?? []), ...(was?.keys() ?? [])])];
  const most = ({ length }: readonly Limit[] = []): number => length;
  return names
    .toSorted((a, b) => most(is?.get(b)) - most(is?.get(a)) || most(was?.get(b)) - most(was?.get(a)))
    .flatMap((name) => changesOf(was?.get(name) ?? [], is?.get(name) ?? [], nowMs));
}

function changesOf(before: readonly Limit[], after: readonly Limit[], nowMs: number) {
  const all = [...after, ...before];
  const zones = new Map<number, string>();
  for (const { fromMs = nowMs, untilMs, zone } of all) {
    zones.set(Math.max(fromMs, nowMs), zone);
    if (untilMs !== undefined) zones.set(untilMs, zone);
  }
  const dates = [...zones].toSorted(([a], [b]) => a - b).slice(0, DATES_MAX);
  const [first] = all;
  let last = [totalAt([], nowMs), totalAt([], nowMs)];
  return dates.flatMap(([atMs, zone]) => {
    const [was, is] = [totalAt(before, atMs), totalAt(after, atMs)];
    // One year's limits end in the instant the next year's begin: the same sum is no news.
    if (first === undefined || isDeepStrictEqual([was, is], last)) return [];
    last = [was, is];
    const { kind, unit, per = null } = first;
    const isNow = atMs === nowMs;
    const since = isNow ? null : new Date(atMs).toISOString();
    return [{ kind, unit, per, since, zone: isNow ? null : zone, before: was, after: is }];
  });
}

function totalAt(limits: readonly Limit[], atMs: number) {
  const amounts = limits
    .filter(({ fromMs = atMs, untilMs = atMs + 1 }) => fromMs <= atMs && atMs < untilMs)
    .map(({ amount }) => amount);
  const sum = amounts.reduce((all, amount) => all + (amount === 'unlimited' ? 0n : BigInt(amount)), 0n);
  return {
    limits: amounts.length,
    unlimited: amounts.filter((amount) => amount === 'unlimited').length,
    /** Whole units, as text: sums may pass what a number holds. */
    amount: String(sum),
  };
}
