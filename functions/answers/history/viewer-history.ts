import type { HistoryPage, HistoryQuery, LogEntry } from '../../core/limits/index.ts';
import type { ReadingDeps } from '../reading/reading.ts';
import type { Scope } from '../reading/scope.ts';

/** The log as far as it is theirs: rows of other subjects are left out, and entries that then say nothing. */
export async function viewerHistory(
  asked: HistoryQuery,
  scope: Scope,
  { desk }: Pick<ReadingDeps, 'desk'>,
): Promise<HistoryPage> {
  if (asked.subject !== undefined && !scope.sees(asked.subject)) return { entries: [] };
  const page = await desk.history(asked);
  if (scope.seesAll) return page;
  return { ...page, entries: page.entries.flatMap((entry) => viewerEdit(entry, scope) ?? []) };
}

/** One edit as far as it is theirs; undefined: nothing of it is. */
export function viewerEdit(entry: LogEntry | undefined, scope: Scope): LogEntry | undefined {
  if (entry === undefined || scope.seesAll) return entry;
  const rows = entry.rows?.filter(({ subject }) => scope.sees(subject)) ?? [];
  return rows.length === 0 ? undefined : { ...entry, rows, count: rows.length };
}
