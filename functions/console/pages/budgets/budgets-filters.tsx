import { LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import type { BudgetsQuery, SubjectKind } from '../../../answers/limits/budgets-model.ts';
import { type ChoiceList, choice, searchField } from '../parts/filter-fields.tsx';
import { limitWords } from '../parts/limit-words.ts';
import type { Markup } from '../parts/markup.ts';

/** Filters and order of limits. */
export const budgetsFilters = (asked: BudgetsQuery): Markup => (
  <form class="filters" method="get" action="/budgets" role="search" data-at-once>
    {searchField('Search limits', asked.search, 'Part of a path, name or owner')}
    {choice('Whose', 'kind', asked.kind, [['', 'Everybody’s'], ...KINDS])}
    {choice('Counts', 'unit', asked.unit, [['', 'Anything'], ...UNITS])}
    {choice('Trouble', 'trouble', asked.trouble, TROUBLES)}
    {choice('Order', 'sort', asked.sort, ORDERS)}
    {asked.percentMin !== undefined && (
      <label>
        Used, at least %
        <input type="text" name="over" inputmode="numeric" size={5} value={String(asked.percentMin)} />
      </label>
    )}
    <button>Show</button>
  </form>
);

const KINDS: readonly (readonly [SubjectKind, string])[] = [
  ['instance', 'The whole GitLab'],
  ['group', 'Groups'],
  ['project', 'Projects'],
  ['runner-class', 'Runner classes'],
  ['runner', 'Runners'],
  ['user', 'Users'],
  ['cap', 'Caps'],
];

const UNITS: ChoiceList = LIMIT_KINDS.map((kind) => [kind, limitWords({ kind })]);

const TROUBLES: ChoiceList = [
  ['', 'With or without'],
  ['runs-out', 'Used up or runs out'],
  ['used-up', 'Used up'],
];

const ORDERS: ChoiceList = [
  ['trouble', 'Highest risk first'],
  ['fullest', 'Fullest first'],
  ['name', 'Name'],
];
