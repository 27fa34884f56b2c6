import type { Overview, OverviewQuery } from '../../../answers/groups/model.ts';
import { type ChoiceList, choice, searchField } from '../parts/filter-fields.tsx';
import type { Markup } from '../parts/markup.ts';

/** Filters and order of budgets. */
export const budgetSearch = (asked: OverviewQuery, owns: boolean): Markup => (
  <form class="filters" method="get" action="/" role="search" data-at-once>
    {searchField('Search budgets', asked.search, 'Part of a path or name')}
    {choice('Order', 'sort', asked.sort ?? 'runs-out-first', SORTS)}
    {choice('Show', 'view', asked.under === undefined ? 'all' : 'tree', VIEWS)}
    {owns && (
      <label class="check">
        <input type="checkbox" name="mine" value="1" checked={asked.mine === true} />
        Only mine
      </label>
    )}
    <button>Show</button>
  </form>
);

const SORTS: ChoiceList = [
  ['runs-out-first', 'Runs out first'],
  ['spent', 'Most spent'],
  ['name', 'Name'],
];

const VIEWS: ChoiceList = [
  ['all', 'All budgets'],
  ['tree', 'Step by step'],
];

/** Empty without filters: no search helps. */
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
        Groups appear as soon as they were read from GitLab. You see groups in which you are a member. If one
        is missing, ask the platform team whether it is connected. <a href="/me">See your rights</a>.
      </p>
    </>
  );
}
