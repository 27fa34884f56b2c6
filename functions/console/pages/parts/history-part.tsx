import type { HistoryPage, LogEntry } from '../../../core/limits/index.ts';
import { changeLines } from './change-table.tsx';
import { address } from './links.tsx';
import type { Markup } from './markup.ts';
import { distance, type PageFormat, pageCount, shortInstant } from './page-format.tsx';

const ROWS_SHOWN = 6;

/** History of changes with author and reason; newest first. */
export function historyPart(history: HistoryPage, subject: string | undefined, telling: PageFormat): Markup {
  if (history.entries.length === 0 && history.next === undefined)
    return <p class="soft">Nothing was changed yet.</p>;
  return (
    <>
      <ol class="timeline">{history.entries.map((entry) => line(entry, telling))}</ol>
      {history.next !== undefined && (
        <p>
          <a href={address('/history', { subject, before: history.next })}>Earlier changes</a>
        </p>
      )}
    </>
  );
}

const line = (entry: LogEntry, telling: PageFormat): Markup => (
  <li>
    <strong>{entry.why}</strong>
    <p class="soft">
      {entry.actor} via {entry.source}, {shortInstant(entry.atMs, telling)} (
      {distance(entry.atMs, telling.nowMs)}), <a href={editHref(entry)}>edit {entry.edit}</a>
    </p>
    {entry.rows !== undefined ? (
      changeLines(entry.rows, telling, { max: ROWS_SHOWN, moreHref: editHref(entry) })
    ) : entry.count === 0 ? (
      <p class="soft">Its changes are unknown.</p>
    ) : (
      <p>
        <a href={editHref(entry)}>{pageCount(entry.count, 'difference')}</a>
      </p>
    )}
  </li>
);

const editHref = ({ edit }: LogEntry): string => `/history/${edit}`;
