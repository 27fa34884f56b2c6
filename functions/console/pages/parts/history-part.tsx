import type { HistoryPage, LogEntry } from '../../../core/limits/edit-model.ts';
import * as ui from './ui.ts';

export function historyPart(
  history: HistoryPage,
  subject: string | undefined,
  format: ui.PageFormat,
): ui.Markup {
  if (history.entries.length === 0 && history.next === undefined) return <p class="soft">No edits yet.</p>;
  return (
    <>
      <ol class="timeline">
        {history.entries.map((entry) => (
          <li>{entryText(entry, format)}</li>
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

function entryText(
  { edit, why, actor, source, atMs, rows, count }: LogEntry,
  format: ui.PageFormat,
): ui.Markup {
  const href = `/history/${edit}`;
  return (
    <>
      <strong>{why}</strong>
      <p class="soft">
        {actor} via {source}, {ui.shortInstant(atMs, format)} ({ui.distance(atMs, format.nowMs)}),{' '}
        <a href={href}>edit {edit}</a>
      </p>
      {rows !== undefined ? (
        ui.changeLines(rows, href, format)
      ) : (
        <p class="soft">
          {count === 0 ? 'The changes are unknown.' : <a href={href}>{ui.pageCount(count, 'difference')}</a>}
        </p>
      )}
    </>
  );
}
