import type { LogEntry } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { changeTable, ROWS_SHOWN } from '../parts/change-table.tsx';
import { Card, Crumbs, PageLinks } from '../parts/layout.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, instant, type PageFormat, pageCount } from '../parts/page-format.tsx';

interface EntryShown {
  readonly entry: LogEntry;
  /** 0-based, of the first difference shown. */
  readonly first: number;
  /** It is the last edit, and theirs to take back. */
  readonly mayUndo: boolean;
}

/** One edit of the log with every difference, a hundred a page. */
export function editEntryPage(
  user: User,
  { entry, first, mayUndo }: EntryShown,
  telling: PageFormat,
): Markup {
  const { edit, why, actor, source, atMs, count, rows } = entry;
  return (
    <ConsolePage title={`Edit ${edit}`} at="/history" user={user}>
      <div class="head">
        <div>
          <Crumbs>
            <li>
              <a href="/history">History of edits</a>
            </li>
          </Crumbs>
          <h1>Edit {edit}</h1>
          <p>{why}</p>
          <p class="soft">
            {actor} via {source}, {instant(atMs, telling)} ({distance(atMs, telling.nowMs)})
          </p>
        </div>
        {mayUndo && (
          <div class="actions">
            <a class="button" href={`/history/${edit}/undo`}>
              Take it back
            </a>
          </div>
        )}
      </div>
      <Card
        id="differs"
        title={
          <>
            What changed<small class="soft">{pageCount(count, 'difference')}</small>
          </>
        }
      >
        {rows === undefined ? (
          <p class="soft">The version before this edit could not be read, so its changes are unknown.</p>
        ) : (
          <>
            {changeTable(rows.slice(first, first + ROWS_SHOWN), 'What changed', telling)}
            {pages(edit, rows.length, first)}
          </>
        )}
      </Card>
    </ConsolePage>
  );
}

function pages(edit: number, total: number, first: number): Markup | '' {
  if (total <= ROWS_SHOWN) return '';
  const last = Math.min(total, first + ROWS_SHOWN);
  const to = (from: number): string => `/history/${edit}?from=${from}`;
  return (
    <PageLinks
      previous={first > 0 ? to(Math.max(0, first - ROWS_SHOWN)) : undefined}
      next={last < total ? to(last) : undefined}
    >
      {Math.min(first + 1, last).toLocaleString('en-US')}–{last.toLocaleString('en-US')} of{' '}
      {total.toLocaleString('en-US')}
    </PageLinks>
  );
}
