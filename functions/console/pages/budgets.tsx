/** Converts between the list's address and its query. */

import { Hono } from 'hono';
import { capWords } from '../../../policies/limits/cap.ts';
import { LIMIT_KINDS } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  BUDGET_ORDERS,
  type BudgetRow,
  type Budgets,
  type BudgetsQuery,
  RISK_FILTERS,
  SUBJECT_KINDS,
  type SubjectKind,
} from '../../answers/limits/budgets-model.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import { type PagesDeps, pageFormatOf, query, queryCursor, readWholeNumber, send } from './page-deps.ts';
import {
  BAR_KEY,
  lastAlertOf,
  limitAmountWords,
  limitWords,
  modeTag,
  nextAlertText,
  type PageFormat,
  pageCount,
  runsOut,
  STANDING_COLUMNS,
  standingCells,
} from './parts/amounts.tsx';
import {
  address,
  budgetTabs,
  type ChoiceList,
  choice,
  type Markup,
  PageLinks,
  pathMarkup,
  searchField,
  subjectHref,
  Table,
  Tabs,
} from './parts/layout.tsx';
import { KIND_TAGS } from './parts/tables.tsx';

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;
const PERCENT_MAX = 1_000;

/** @param text - of a name in the address; undefined where it is not there or empty */
function budgetsAsked(text: (name: string) => string | undefined): BudgetsQuery {
  const one = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
    values.find((value) => value === text(name));
  const over = readWholeNumber(text('over'));
  return {
    ...withoutAbsent({
      search: text('q'),
      kind: one('kind', SUBJECT_KINDS),
      unit: one('unit', LIMIT_KINDS),
      trouble: one('trouble', RISK_FILTERS),
      percentMin: over === undefined ? undefined : Math.min(over, PERCENT_MAX),
      cursor: text('cursor'),
    }),
    sort: one('sort', BUDGET_ORDERS) ?? 'trouble',
    caps: true,
    max: ROWS,
  };
}

/** Canonical address of a query; its first page. */
const askedWords = ({ search, kind, unit, trouble, percentMin, sort }: BudgetsQuery) => ({
  q: search,
  kind,
  unit,
  trouble,
  over: percentMin,
  sort: sort === 'trouble' ? undefined : sort,
});

/** Filters and order of limits. */
const budgetsFilters = (asked: BudgetsQuery): Markup => (
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

/** One line per limit: a bar, with the same figures as text. */
const budgetLines = (rows: readonly BudgetRow[], telling: PageFormat, mayEdit: boolean): Markup => (
  <Table label="Limits" caption="Limits and how they stand" columns={STANDING_COLUMNS}>
    <tbody>
      {rows.map((row) => (row.each === undefined ? limitLine(row, telling, mayEdit) : capLine(row, telling)))}
    </tbody>
  </Table>
);

function limitLine(row: BudgetRow, telling: PageFormat, mayEdit: boolean): Markup {
  const alert = nextAlertText(row);
  const last = lastAlertOf(row, telling.currency);
  return (
    <tr>
      {nameCell(row)}
      {standingCells(row, telling, mayEdit)}
      <td class="ro">
        {row.canRunOut ? runsOut(row, telling.nowMs) : <span class="soft">{comesAndGoes(row)}</span>}
        {alert !== undefined && (
          <div>
            <small class="soft">{alert}</small>
          </div>
        )}
        {last !== undefined && (
          <div>
            <small class={last.state === 'failed' ? 'warn-text' : 'soft'}>{last.text}</small>
          </div>
        )}
      </td>
    </tr>
  );
}

/** Amounts that return with the next job, minute or hour have no run-out day. */
const comesAndGoes = ({ amount, left = 1 }: BudgetRow): string =>
  amount === 'unlimited' ? 'never' : left > 0 ? 'comes and goes' : 'full for now';

const capLine = (row: BudgetRow, telling: PageFormat): Markup => (
  <tr>
    {nameCell(row)}
    <td class="bar-cell">
      <small class="soft">each has its own</small>
    </td>
    <td class="n wide">–</td>
    <td class="n wide">–</td>
    <td class="n wide">–</td>
    <td class="n" data-l="limit">
      {limitAmountWords(row, telling)}
    </td>
    <td class="n wide">–</td>
    <td class="wide soft">–</td>
  </tr>
);

function nameCell(row: BudgetRow): Markup {
  const { subject, path, id } = row;
  const kind = KIND_TAGS[subject.slice(0, subject.indexOf('/'))];
  const href = subjectHref(subject);
  const name = row.each === undefined ? pathMarkup(path) : path;
  const facts = [
    row.each === undefined ? limitWords(row) : `${limitWords(row)} of ${capWords(row.each)}`,
    row.period?.label,
    row.byDefault && 'by default',
  ].filter((fact) => typeof fact === 'string');
  return (
    <th scope="row" class="path">
      {href === undefined ? (
        name
      ) : (
        <a href={address(href, { limit: row.canRunOut && row.each === undefined ? id : undefined })}>
          {name}
        </a>
      )}{' '}
      {kind !== undefined && row.each === undefined && <span class="tag">{kind}</span>}{' '}
      {modeTag(row.rolledOutAs ?? row.mode)}
      <small class="soft">{facts.join(' · ')}</small>
    </th>
  );
}

interface BudgetsShown {
  readonly budgets: Budgets;
  readonly asked: BudgetsQuery;
}

const budgetsPage = (user: User, { budgets, asked }: BudgetsShown, telling: PageFormat): Markup => (
  <ConsolePage title="Every limit" at="/" user={user}>
    <div class="head">
      <div>
        <h1>Every limit</h1>
        <p>{troubleSentence(budgets)}</p>
      </div>
    </div>
    <Tabs label="Budgets" of={budgetTabs('limits')} />
    <section class="card" aria-labelledby="limits">
      <h2 id="limits" class="hidden">
        Limits
      </h2>
      {budgetsFilters(asked)}
      {budgets.rows.length === 0 ? (
        <p>
          No limit you may see is like this. <a href="/budgets">Show all</a>.
        </p>
      ) : (
        <>
          {BAR_KEY}
          {budgetLines(budgets.rows, telling, mayOpen('GET /edit', user.roles))}
          {pages(budgets, asked)}
        </>
      )}
    </section>
  </ConsolePage>
);

function troubleSentence({ total, refusing, usedUp, runsOut, forecastMax, set }: Budgets): Markup {
  const figure = (count: number, tone: string, none: string, some: string): Markup | string =>
    count === 0 ? (
      none
    ) : (
      <strong class={tone}>
        {count.toLocaleString('en-US')} {some}
      </strong>
    );
  return (
    <>
      {pageCount(total, 'limit')}: {figure(refusing, 'bad-text', 'none refuses jobs', 'refusing jobs')},{' '}
      {figure(usedUp, 'bad-text', 'none is used up', 'used up')},{' '}
      {figure(
        runsOut,
        'warn-text',
        'none runs out before its period ends',
        'running out before the period ends',
      )}
      .{total > forecastMax && <> Forecasts cover the {forecastMax} fullest.</>}
      {set === undefined && <> No limits were made live yet: those packed with the deployment hold.</>}
    </>
  );
}

function pages({ first, rows, total, next, previous }: Budgets, asked: BudgetsQuery): Markup {
  const to = (cursor: string): string => address('/budgets', { ...askedWords(asked), cursor });
  const last = first + rows.length - 1;
  return (
    <PageLinks previous={previous && to(previous)} next={next && to(next)}>
      {first.toLocaleString('en-US')}–{last.toLocaleString('en-US')} of {total.toLocaleString('en-US')}
    </PageLinks>
  );
}

/** Every limit the user may see, ranked by trouble. */
export function budgetsRoutes(deps: PagesDeps): Hono<SignInEnv> {
  return new Hono<SignInEnv>().get('/budgets', async (c) => {
    const { user } = c.var;
    const asked = budgetsAsked((name) => (name === 'cursor' ? queryCursor(c) : query(c, name)));
    const budgets = await deps.read.budgets(asked, user);
    return send(c, budgetsPage(user, { budgets, asked }, pageFormatOf(deps)));
  });
}
