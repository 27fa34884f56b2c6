import type { Overview, OverviewQuery } from '../../../answers/overview/model.ts';
import type { Markup } from '../parts/markup.ts';

/** What to show of all budgets, and in which order. */
export const budgetSearch = (asked: OverviewQuery, owns: boolean): Markup => (
  <form class="filters" method="get" action="/" role="search" data-at-once>
    <label>
      Search budgets
      <input
        type="search"
        name="q"
        value={asked.search ?? ''}
        maxlength={200}
        placeholder="Part of a path or name"
      />
    </label>
    <label>
      Order
      <select name="sort">
        {SORTS.map(([value, text]) => (
          <option value={value} selected={value === (asked.sort ?? 'runs-out-first')}>
            {text}
          </option>
        ))}
      </select>
    </label>
    <label>
      Show
      <select name="view">
        {(
          [
            ['all', 'All budgets'],
            ['tree', 'Step by step'],
          ] as const
        ).map(([value, text]) => (
          <option value={value} selected={(value === 'tree') === (asked.under !== undefined)}>
            {text}
          </option>
        ))}
      </select>
    </label>
    {owns && (
      <label class="check">
        <input type="checkbox" name="mine" value="1" checked={asked.mine === true} />
        Only mine
      </label>
    )}
    <button>Show</button>
  </form>
);

const SORTS = [
  ['runs-out-first', 'Runs out first'],
  ['spent', 'Most spent'],
  ['name', 'Name'],
] as const;

/** Nothing there, whatever is asked: no search helps. */
export const isNothing = (overview: Overview, asked: OverviewQuery): boolean =>
  overview.total === 0 && asked.search === undefined && asked.under === undefined && asked.mine !== true;

export function emptyNote(asked: OverviewQuery): Markup {
  if (asked.search !== undefined)
    return (
      <p>
        Nothing you may see has <strong>{asked.search}</strong> in its path or name. <a href="/">Show all</a>.
      </p>
    );
  if (asked.mine === true)
    return (
      <p>
        You own no group here. <a href="/">Show all you may see</a>.
      </p>
    );
  if (typeof asked.under === 'number') return <p>There are no groups below it.</p>;
  return (
    <>
      <p>
        <strong>There is nothing to see yet.</strong>
      </p>
      <p>
        Groups appear as soon as they were read from GitLab. If you expected some: you see groups in which you
        are a member; ask whoever runs Tollgate whether yours is connected. <a href="/me">See your rights</a>.
      </p>
    </>
  );
}
