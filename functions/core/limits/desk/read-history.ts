import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { type LoggedChange, loggedChangeOf, rowsOf } from '../change-log.ts';
import type { LimitTable } from '../limit-table.ts';
import { TIMEOUT_MS } from './desk-reads.ts';
import type { HistoryPage, HistoryQuery, LogEntry } from './history.ts';

const PAGE_MAX = 100;
/** Edits looked through for one page: years of a busy desk, in some twenty reads. */
const LOOKED_AT_MAX = 2_000;
/** Large edits opened for one page; each may have megabytes. */
const OPENED_MAX = 10;

/** Newest first, without a gap: `next` begins where this page stopped looking. */
export async function readHistory(
  { subject, before, max }: HistoryQuery,
  table: LimitTable,
): Promise<HistoryPage> {
  const wanted = Math.min(Math.max(1, Math.trunc(max)), PAGE_MAX);
  const entries: LogEntry[] = [];
  let from = before;
  let opened = 0;
  for (let looked = 0; looked < LOOKED_AT_MAX; ) {
    const items = await table.readLog(from, PAGE_MAX, { timeoutMs: TIMEOUT_MS });
    for (const item of items) {
      const logged = loggedChangeOf(item);
      if (subject !== undefined && mustOpen(logged)) {
        if (opened === OPENED_MAX) return { entries, next: item.edit + 1 };
        opened += 1;
      }
      const entry = await entryOf(item.edit, logged, subject, table);
      if (entry !== undefined) entries.push(entry);
      from = item.edit;
      looked += 1;
      if (entries.length === wanted) return { entries, ...(item.edit > 1 && { next: item.edit }) };
    }
    if (items.length < PAGE_MAX) return { entries };
  }
  return { entries, ...(from !== undefined && from > 1 && { next: from }) };
}

/** One edit with all its rows, however many. */
export async function readEntry(edit: number, table: LimitTable): Promise<LogEntry | undefined> {
  const [item] = await table.readLog(edit + 1, 1, { timeoutMs: TIMEOUT_MS });
  if (item?.edit !== edit) return undefined;
  const logged = loggedChangeOf(item);
  const rows = await rowsOf(logged, table);
  return { ...headOf(edit, logged), ...(rows !== undefined && { rows }) };
}

/** True if only its rows show the subjects. */
const mustOpen = ({ subjects, count }: LoggedChange): boolean => subjects === undefined && count > 0;

async function entryOf(
  edit: number,
  logged: LoggedChange,
  subject: string | undefined,
  table: LimitTable,
): Promise<LogEntry | undefined> {
  const entry = headOf(edit, logged);
  if (subject === undefined) return { ...entry, ...(logged.rows !== undefined && { rows: logged.rows }) };
  if (logged.subjects !== undefined && !logged.subjects.includes(subject)) return undefined;
  const rows = (await rowsOf(logged, table))?.filter((row) => row.subject === subject);
  return rows === undefined || rows.length === 0 ? undefined : { ...entry, rows };
}

const headOf = (
  edit: number,
  { set, atMs, actor, userId, why, source, base, count }: LoggedChange,
): Omit<LogEntry, 'rows'> => ({
  ...{ edit, set, atMs, actor, why, source, count },
  ...withoutAbsent({ userId, base }),
});
