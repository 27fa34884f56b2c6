import type { LogEntry } from '../../core/limits/desk/history.ts';
import type { User } from '../../core/signin/user.ts';
import { changeTable, ROWS_SHOWN } from './change-table.tsx';
import { page } from './frame.tsx';
import type { Markup } from './markup.ts';
import { counted, distance, instant, type Telling } from './told.tsx';

/** One edit of the log with every difference, a hundred a page. @param first - 0-based, of the first one shown */
export function editEntryPage(user: User, entry: LogEntry, first: number, telling: Telling): Markup {
  const { edit, why, actor, source, atMs, count, rows } = entry;
  return page(
    { title: `Edit ${edit}`, at: 'log', user },
    <>
      <div class="head">
        <div>
          <nav class="crumbs" aria-label="Above">
            <ol>
              <li>
                <a href="/history">History of edits</a>
              </li>
            </ol>
          </nav>
          <h1>Edit {edit}</h1>
          <p>{why}</p>
          <p class="soft">
            {actor} via {source}, {instant(atMs, telling)} ({distance(atMs, telling.nowMs)})
          </p>
        </div>
      </div>
      <section class="card" aria-labelledby="differs">
        <h2 id="differs">
          What changed<small class="soft">{counted(count, 'difference')}</small>
        </h2>
        {rows === undefined ? (
          <p class="soft">
            What it was an edit of could not be read when it was made, so what it changed is not known.
          </p>
        ) : (
          <>
            {changeTable(rows.slice(first, first + ROWS_SHOWN), 'What changed', telling)}
            {pages(edit, rows.length, first)}
          </>
        )}
      </section>
    </>,
  );
}

function pages(edit: number, total: number, first: number): Markup | '' {
  if (total <= ROWS_SHOWN) return '';
  const last = Math.min(total, first + ROWS_SHOWN);
  const to = (from: number): string => `/history/${edit}?from=${from}`;
  return (
    <nav class="pages" aria-label="Pages">
      <span>
        {Math.min(first + 1, last).toLocaleString('en-US')}–{last.toLocaleString('en-US')} of{' '}
        {total.toLocaleString('en-US')}
      </span>
      <span class="actions">
        {first > 0 && (
          <a class="button" rel="prev" href={to(Math.max(0, first - ROWS_SHOWN))}>
            Previous
          </a>
        )}
        {last < total && (
          <a class="button" rel="next" href={to(last)}>
            Next
          </a>
        )}
      </span>
    </nav>
  );
}
