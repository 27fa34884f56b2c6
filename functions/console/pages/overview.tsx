import { Hono } from 'hono';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Overview, OverviewOrder, OverviewQuery } from '../../answers/groups/model.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import {
  type PageContext,
  type PagesDeps,
  pageFormatOf,
  query,
  queryCursor,
  readWholeNumber,
  send,
} from './page-deps.ts';
import {
  BAR_KEY,
  Bar,
  distance,
  forecastSentence,
  leftText,
  limitAmountWords,
  type PageFormat,
  pageAmount,
  pageCount,
} from './parts/amounts.tsx';
import {
  address,
  budgetTabs,
  Card,
  type ChoiceList,
  Crumbs,
  choice,
  type Markup,
  PageLinks,
  searchField,
  Tabs,
} from './parts/layout.tsx';
import { groupTable } from './parts/tables.tsx';
import { unknownPlace } from './problem-page.tsx';

/** Filters and order of budgets. */
const budgetSearch = (asked: OverviewQuery, owns: boolean): Markup => (
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
const isNothing = (overview: Overview, asked: OverviewQuery): boolean =>
  overview.total === 0 && asked.search === undefined && asked.under === undefined && asked.mine !== true;

function emptyNote(asked: OverviewQuery): Markup {
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

interface OverviewShown {
  readonly overview: Overview;
  readonly asked: OverviewQuery;
  /** The path down to the group whose children are shown, topmost first. */
  readonly above: readonly { readonly id: number; readonly path: string }[];
  /** The viewer owns groups: "only mine" means something. */
  readonly owns: boolean;
}

/** Age of the directory that shows a warning; it is synced every few minutes. */
const DIRECTORY_OLD_MS = 3_600_000;

function overviewPage(user: User, shown: OverviewShown, telling: PageFormat): Markup {
  const { overview, asked, above } = shown;
  const here = above.at(-1);
  const title = here === undefined ? 'Budgets' : here.path;
  return (
    <ConsolePage title={title} at="/" user={user}>
      <div class="head">
        <div>
          {above.length > 0 && (
            <Crumbs>
              <li>
                <a href="/?view=tree">Top groups</a>
              </li>
              {above.slice(0, -1).map(({ id, path }) => (
                <li>
                  <a href={`/?under=${id}`}>{lastOf(path)}</a>
                </li>
              ))}
            </Crumbs>
          )}
          <h1>{here === undefined ? 'Budgets' : <>Groups in {here.path}</>}</h1>
          <p>{aboutText(overview, telling)}</p>
        </div>
        {here !== undefined && (
          <div class="actions">
            <a class="button" href={`/groups/${here.id}`}>
              The group itself
            </a>
          </div>
        )}
      </div>
      {mayOpen('GET /budgets', user.roles) && <Tabs label="Budgets" of={budgetTabs('groups')} />}
      {instanceCard(overview, telling)}
      <section class="card" aria-labelledby="groups">
        <h2 id="groups" class="hidden">
          Groups
        </h2>
        {!isNothing(overview, asked) && budgetSearch(asked, shown.owns)}
        {overview.rows.length === 0 ? (
          emptyNote(asked)
        ) : (
          <>
            {BAR_KEY}
            {groupTable(overview.rows, 'Groups and their budgets', telling, {
              tree: (id) => address('/', { under: id, sort: asked.sort }),
              sum: overview.sum,
              mayEdit: mayOpen('GET /edit', user.roles),
            })}
            {pages(overview, asked)}
          </>
        )}
      </section>
    </ConsolePage>
  );
}

function aboutText(overview: Overview, { nowMs }: PageFormat): Markup {
  const { total, others, directoryAtMs, set } = overview;
  return (
    <>
      {pageCount(total - others, 'group')}
      {others > 0 && (
        <> and {pageCount(others, 'other budget')}, of projects, runner classes, runners or users</>
      )}
      . {set === undefined && <>No limits were made live yet: those packed with the deployment hold. </>}
      {directoryAtMs === undefined ? (
        <strong class="warn-text">The groups were never read from GitLab.</strong>
      ) : (
        nowMs - directoryAtMs > DIRECTORY_OLD_MS && (
          <strong class="warn-text">
            The list of groups was last read from GitLab {distance(directoryAtMs, nowMs)}.
          </strong>
        )
      )}
    </>
  );
}

function instanceCard({ instance }: Overview, telling: PageFormat): Markup | '' {
  if (instance === undefined) return '';
  const { budget, metered } = instance;
  if (budget?.settled === undefined || budget.amount === 'unlimited') {
    return (
      <Card
        id="whole"
        title={
          <>
            <a href="/instance">The whole GitLab</a>
            <small class="soft">no budget of its own</small>
          </>
        }
      >
        <p>
          {pageAmount(metered.settledMicros, 'micros', telling)} spent and{' '}
          {pageAmount(metered.heldMicros, 'micros', telling)} held this month, in{' '}
          {pageCount(metered.jobs, 'job')}.
        </p>
      </Card>
    );
  }
  const { settled, held = 0, unit, amount: limit, period, forecast } = budget;
  return (
    <Card
      id="whole"
      title={
        <>
          <a href="/instance">The whole GitLab</a>
          <small class="soft">{period?.label}</small>
        </>
      }
    >
      <Bar spent={settled} held={held} limit={limit} forecast={forecast?.atEndAmount} />
      <p>
        {pageAmount(settled, unit, telling)} spent and {pageAmount(held, unit, telling)} held of{' '}
        {limitAmountWords(budget, telling)}; {leftText(budget, telling)}
        {(budget.left ?? 0) < 0 ? '' : ' left'}. {forecastSentence(budget, telling.nowMs)}
      </p>
    </Card>
  );
}

function pages(overview: Overview, asked: OverviewQuery): Markup {
  const { first, rows, total, next, previous, unranked } = overview;
  const to = (cursor: string): string =>
    address('/', {
      q: asked.search,
      sort: asked.sort,
      under: typeof asked.under === 'number' ? asked.under : undefined,
      view: asked.under === 'roots' ? 'tree' : undefined,
      mine: asked.mine === true ? 1 : undefined,
      cursor,
    });
  const last = first + rows.length - 1;
  return (
    <PageLinks previous={previous && to(previous)} next={next && to(next)}>
      {first.toLocaleString('en-US')}–{last.toLocaleString('en-US')} of {total.toLocaleString('en-US')}
      {unranked > 0 && (
        <>
          {' '}
          <small class="soft">({pageCount(unranked, 'group')} without a budget come last, by path)</small>
        </>
      )}
    </PageLinks>
  );
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** All visible budgets, flat or by level. */
export function overviewRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/', async (c) => {
    const { user } = c.var;
    const asked = overviewAsked(c);
    const [overview, above] = await Promise.all([
      read.overview(asked, user),
      groupsAbove(c, deps, asked.under),
    ]);
    const owns = user.roles.ownedGroupIds.length > 0;
    if (above === undefined) return send(c, unknownPlace(user), 404);
    return send(c, overviewPage(user, { overview, asked, above, owns }, pageFormatOf(deps)));
  });

  return app;
}

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;

const SORT_NAMES: readonly OverviewOrder[] = ['runs-out-first', 'spent', 'name'];

function overviewAsked(c: PageContext): OverviewQuery {
  const search = query(c, 'q');
  const sort = SORT_NAMES.find((each) => each === query(c, 'sort'));
  const under =
    readWholeNumber(query(c, 'under')) ?? (query(c, 'view') === 'tree' ? ('roots' as const) : undefined);
  const cursor = queryCursor(c);
  return {
    ...withoutAbsent({ search, sort }),
    // Searches cover all levels.
    ...(under !== undefined && search === undefined && { under }),
    ...(query(c, 'mine') === '1' && { mine: true }),
    ...(cursor !== undefined && { cursor }),
    max: ROWS,
  };
}

/** The steps of the tree down to a group; undefined: it is not theirs to see. */
async function groupsAbove(c: PageContext, { read }: PagesDeps, under: OverviewQuery['under']) {
  if (typeof under !== 'number') return [];
  const view = await read.subject(`group/${under}`, {}, c.var.user);
  return (
    view &&
    [...view.above, view].map(({ subject, path }) => ({ id: Number(subject.slice('group/'.length)), path }))
  );
}
