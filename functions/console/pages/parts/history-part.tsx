import type { HistoryPage, LogEntry } from '../../../core/limits/edit-model.ts';
import * as ui from './ui.ts';

export function historyPart(history: HistoryPage, subject: string | undefined): ui.Markup {
  if (history.entries.length === 0 && history.next === undefined) return <p class="soft">No edits yet.</p>;
  return (
    <>
      <ol class="timeline">
        {history.entries.map((entry) => (
          <li>{entryText(entry)}</li>
        ))}
      </ol>
      {history.next !== undefined && (
        <p>
          <a href={ui.address('/history', { subject, before: history.next })}>Show earlier edits</a>
        </p>
      )}
    </>
  );
}

function entryText({ edit, why, actor, source, atMs, rows, count }: LogEntry): ui.Markup {
  const href = `/history/${edit}`;
  return (
    <>
      <strong>{why}</strong>
      <p class="soft">
        {actor} via {source}, {ui.shortInstant(atMs)} ({ui.distance(atMs)}), <a href={href}>edit {edit}</a>
      </p>
      {rows !== undefined ? (
        ui.changeLines(rows, href)
      ) : (
        <p class="soft">
          {count === 0 ? 'The changes are unknown.' : <a href={href}>{ui.pageCount(count, 'difference')}</a>}
        </p>
      )}
    </>
  );
}
