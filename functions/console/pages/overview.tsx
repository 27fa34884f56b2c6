import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Overview, OverviewOrder, OverviewQuery } from '../../answers/groups/model.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import {
  formatOf,
  type PageContext,
  type PageRoutes,
  type PagesDeps,
  query,
  queryCursor,
  queryNumber,
  queryOf,
  send,
} from './page-deps.ts';
import {
  BAR_KEY,
  distance,
  leftOfText,
  limitBar,
  number,
  type PageFormat,
  pageAmount,
  pageCount,
  runsOut,
} from './parts/amounts.tsx';
import {
  address,
  BudgetTabs,
  button,
  Card,
  type ChoiceList,
  choice,
  lastOf,
  type Markup,
  PageLinks,
  searchField,
} from './parts/layout.tsx';
import { groupTable } from './parts/tables.tsx';
import { sendUnknown } from './problem-page.tsx';

export const overviewRoutes: PageRoutes = (app, deps) => {
  app.get('/', async (c) => {
    const asked = overviewAsked(c);
    const [overview, above] = await Promise.all([
      deps.read.overview(asked, c.var.user),
      groupsAbove(c, deps, asked.under),
    ]);
    if (above === undefined) return sendUnknown(c);
    return send(c, overviewPage({ overview, asked, above }, formatOf(c, deps)));
  });
};

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;
/** The directory is synced every few minutes. */
const DIRECTORY_OLD_MS = 3_600_000;
const SORTS: readonly (readonly [OverviewOrder, string])[] = [
  ['runs-out-first', 'Runs out first'],
  ['spent', 'Most spent'],
  ['name', 'Name'],
];
const VIEWS: ChoiceList = [
  ['all', 'All budgets'],
  ['tree', 'Step by step'],
];

function overviewAsked(c: PageContext): OverviewQuery {
  const search = query(c, 'q');
  const tree = query(c, 'view') === 'tree' ? ('roots' as const) : undefined;
  const sorts = SORTS.map(([sort]) => sort);
  return withoutAbsent({
    search,
    sort: queryOf(c, 'sort', sorts),
    // Searches cover all levels.
    under: search === undefined ? (queryNumber(c, 'under') ?? tree) : undefined,
    mine: query(c, 'mine') === '1' || undefined,
    cursor: queryCursor(c),
    max: ROWS,
  });
}

/** The path down to a group, topmost first; undefined: it is not theirs to see. */
async function groupsAbove(c: PageContext, { read }: PagesDeps, under: OverviewQuery['under']) {
  if (typeof under !== 'number') return [];
  const view = await read.subject(`group/${under}`, {}, c.var.user);
  return (
    view && [...view.above, view].map(({ subject, path }) => ({ id: subject.slice('group/'.length), path }))
  );
}

interface OverviewShown {
  readonly overview: Overview;
  readonly asked: OverviewQuery;
  readonly above: NonNullable<Awaited<ReturnType<typeof groupsAbove>>>;
}

function overviewPage({ overview, asked, above }: OverviewShown, format: PageFormat): Markup {
  const { user } = format;
  const { first, rows, total, next, previous, sum } = overview;
  const here = above.at(-1);
  const { search, sort, under, mine } = asked;
  const to = (cursor: string): string =>
    address('/', {
      ...{ q: search, sort, cursor, mine: mine && 1 },
      ...(under === 'roots' ? { view: 'tree' } : { under }),
    });
  return (
    <ConsolePage
      title={here?.path ?? 'Budgets'}
      at="/"
      user={user}
      heading={here && `Groups in ${here.path}`}
      about={aboutText(overview, format)}
      crumbs={
        here && [
          <a href="/?view=tree">Top groups</a>,
          ...above.slice(0, -1).map(({ id, path }) => <a href={`/?under=${id}`}>{lastOf(path)}</a>),
        ]
      }
      actions={here && button(`/groups/${here.id}`, 'The group itself')}
    >
      {mayOpen('GET /budgets', user.roles) && <BudgetTabs at="/" />}
      {instanceCard(overview, format)}
      <section class="card" aria-label="Groups">
        <form class="filters" method="get" action="/" role="search" data-at-once>
          {searchField('Search budgets', search, 'Part of a path or name')}
          {choice('Order', 'sort', sort ?? 'runs-out-first', SORTS)}
          {choice('Show', 'view', under === undefined ? 'all' : 'tree', VIEWS)}
          {user.roles.ownedGroupIds.length > 0 && (
            <label class="check">
              <input type="checkbox" name="mine" value="1" checked={mine === true} />
              Only mine
            </label>
          )}
          <button>Show</button>
        </form>
        {rows.length === 0 ? (
          <p>
            <strong>There is nothing to see here.</strong> <a href="/">Show all</a>, or{' '}
            <a href="/me">see your rights</a>.
          </p>
        ) : (
          <>
            {BAR_KEY}
            {groupTable(rows, 'Groups and their budgets', format, {
              ...{ tree: (id) => address('/', { under: id, sort }), sum },
              mayEdit: mayOpen('GET /edit', user.roles),
            })}
            <PageLinks previous={previous && to(previous)} next={next && to(next)}>
              {number(first)}–{number(first + rows.length - 1)} of {number(total)}
            </PageLinks>
          </>
        )}
      </section>
    </ConsolePage>
  );
}

function aboutText({ total, others, directoryAtMs, set }: Overview, { nowMs }: PageFormat): Markup {
  const isOld = directoryAtMs === undefined || nowMs - directoryAtMs > DIRECTORY_OLD_MS;
  return (
    <>
      {pageCount(total - others, 'group')}
      {others > 0 && ` and ${pageCount(others, 'other budget')}`}.{' '}
      {set === undefined && 'No limits were made live yet: those packed with the deployment hold. '}
      {isOld && (
        <strong class="warn-text">
          Groups read from GitLab: {directoryAtMs === undefined ? 'never' : distance(directoryAtMs, nowMs)}.
        </strong>
      )}
    </>
  );
}

function instanceCard({ instance }: Overview, format: PageFormat): Markup | '' {
  if (instance === undefined) return '';
  const { budget, metered } = instance;
  const title = <a href="/instance">The whole GitLab</a>;
  if (budget === undefined)
    return (
      <Card id="whole" title={title} aside="no budget of its own">
        <p>
          {pageAmount(metered.settledMicros, 'micros', format)} spent and{' '}
          {pageAmount(metered.heldMicros, 'micros', format)} held this month.
        </p>
      </Card>
    );
  return (
    <Card id="whole" title={title} aside={budget.period?.label}>
      {limitBar(budget)}
      <p>
        {leftOfText(budget, format)}. Runs out: {runsOut(budget, format.nowMs)}
      </p>
    </Card>
  );
}
