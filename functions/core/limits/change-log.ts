/**
 * The change log: one item per edit, kept forever. Rows of a large edit are written next to the chunks of its set, before it is
 * published, and stay when those expire.
 */
import { isRecord } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ChangeRow, HistoryPage, HistoryQuery, LogEntry } from './edit-model.ts';
import type { LimitChange } from './limit-set.ts';
import { LimitsError, type LimitTable, type LogItem, packJson, unpackJson, WITHIN } from './limit-table.ts';

export interface LoggedChange extends Omit<LogEntry, 'edit'> {
  readonly request?: string;
  /** All subjects it changed; absent: too many to list. */
  readonly subjects?: readonly string[];
}

/** An item with this many rows and texts stays below 8 KB, so a page of a hundred is one read. */
const ROWS_INLINE_MAX = 40;
const SUBJECTS_MAX = 40;
/** About 3 MB compressed; `count` has the total. A first import of 10 000 limits has half of them. */
const LOGGED_ROWS_MAX = 100_000;
const ROWS = 'rows';
/** The set with the rows of an edit that are not in its log item. */
export const rowsSet = (set: string): string => `changes#${set}`;

/** Writes the rows of a large edit. Returns its log item. @param rows - undefined: the base cannot be read any more */
export async function writeLog(
  edit: number,
  set: string,
  change: LimitChange,
  rows: readonly ChangeRow[] | undefined,
  table: LimitTable,
): Promise<{ readonly item: LogItem; readonly hasRowsSet: boolean }> {
  const subjects = [...new Set(rows?.map(({ subject }) => subject))];
  const hasRowsSet = rows !== undefined && rows.length > ROWS_INLINE_MAX;
  const logged: LoggedChange = {
    ...{ ...change, set, count: rows?.length ?? 0 },
    ...(rows !== undefined && subjects.length <= SUBJECTS_MAX && { subjects }),
    ...(rows !== undefined && !hasRowsSet && { rows }),
  };
  const bytes = hasRowsSet && packJson(rows.slice(0, LOGGED_ROWS_MAX));
  if (bytes) await table.putChunk(rowsSet(set), { name: ROWS, bytes }, WITHIN);
  return { item: { edit, bytes: packJson(logged) }, hasRowsSet };
}

export function parseLoggedChange({ edit, bytes }: LogItem): LoggedChange {
  const logged = unpackJson(bytes, `entry ${edit} of the change log`);
  if (isRecord(logged) && typeof logged.set === 'string') return logged as unknown as LoggedChange;
  throw new LimitsError('limits_unreadable', `entry ${edit} of the change log is damaged`);
}

export async function rowsOf(
  logged: LoggedChange,
  table: LimitTable,
): Promise<readonly ChangeRow[] | undefined> {
  if (logged.rows !== undefined || logged.count === 0) return logged.rows;
  const [bytes] = await table.readChunks(rowsSet(logged.set), [ROWS], WITHIN);
  return bytes && (unpackJson(bytes, `rows of ${logged.set}`) as readonly ChangeRow[]);
}

const PAGE_MAX = 100;
/** Years of edits, in some twenty reads. */
export const EDITS_MAX = 2_000;

/** Yields at most 2 000 edits, newest first. @param before - only edits before this one. @throws {LimitsError} */
export async function* loggedChanges(table: LimitTable, before?: number) {
  let next = before;
  for (let read = 0; read < EDITS_MAX; read += PAGE_MAX) {
    const items = await table.readLog(next, PAGE_MAX, WITHIN);
    for (const item of items) yield { edit: item.edit, logged: parseLoggedChange(item) };
    if (items.length < PAGE_MAX) return;
    next = items.at(-1)?.edit;
  }
}

/** Large edits opened for one page; each may have megabytes. */
const OPENED_MAX = 10;

/** Newest first, without a gap: the next page begins before `next`. */
export async function readHistory(
  { subject, before, max }: HistoryQuery,
  table: LimitTable,
): Promise<HistoryPage> {
  const wanted = Math.min(Math.max(1, Math.trunc(max)), PAGE_MAX);
  const entries: LogEntry[] = [];
  let next = before;
  let opened = 0;
  let looked = 0;
  for await (const { edit, logged } of loggedChanges(table, before)) {
    // Only its rows show the subjects of a large edit.
    if (subject !== undefined && logged.subjects === undefined && logged.count > 0) opened += 1;
    if (opened > OPENED_MAX) return { entries, ...withoutAbsent({ next }) };
    next = edit;
    looked += 1;
    const rows = subject === undefined ? logged.rows : await rowsAbout(subject, logged, table);
    if (subject === undefined || rows !== undefined) entries.push(toEntry(edit, logged, rows));
    if (entries.length === wanted) return { entries, ...(next > 1 && { next }) };
  }
  return { entries, ...(looked === EDITS_MAX && withoutAbsent({ next })) };
}

async function rowsAbout(subject: string, logged: LoggedChange, table: LimitTable) {
  if (logged.subjects !== undefined && !logged.subjects.includes(subject)) return undefined;
  const rows = (await rowsOf(logged, table))?.filter((row) => row.subject === subject);
  return rows?.length === 0 ? undefined : rows;
}

export async function readEntry(edit: number, table: LimitTable): Promise<LogEntry | undefined> {
  const [item] = await table.readLog(edit + 1, 1, WITHIN);
  if (item?.edit !== edit) return undefined;
  const logged = parseLoggedChange(item);
  return toEntry(edit, logged, await rowsOf(logged, table));
}

function toEntry(edit: number, logged: LoggedChange, rows: LogEntry['rows']): LogEntry {
  const { subjects: _, request: __, rows: ___, ...entry } = logged;
  return { edit, ...entry, ...withoutAbsent({ rows }) };
}
