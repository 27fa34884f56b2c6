import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Overview, OverviewOrder, OverviewQuery, SubjectView } from '../../answers/groups/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, send } from './page.ts';
import { mayOpen } from './page-access.ts';
import * as ui from './parts/ui.ts';
import { sendUnknown } from './problem-page.tsx';

export const overviewRoutes: PageRoutes = (app, deps) => {
  app.get('/', async (c) => {
    const shown = readOverviewQuery(c);
    const { under } = shown;
    const user = c.var.user;
    const [overview, group] = await Promise.all([
      deps.read.overview(shown, user),
      under === undefined ? undefined : deps.read.subject(`group/${under}`, {}, user),
    ]);
    if (under !== undefined && group === undefined) return sendUnknown(c);
    return send(c, overviewPage(overview, shown, group));
  });
};

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;
/** The directory is synced every few minutes. */
const DIRECTORY_OLD_MS = 3_600_000;
const SORTS: readonly (readonly [OverviewOrder, string])[] = [
  ['runs-out-first', 'Soonest to run out first'],
  ['spent', 'Highest spend first'],
  ['name', 'Name'],
];
function readOverviewQuery(c: PageContext): OverviewQuery {
  const search = query.text(c, 'q');
  const sorts = SORTS.map(([sort]) => sort);
  return withoutAbsent({
    search,
    sort: query.oneOf(c, 'sort', sorts),
    // Searches cover all levels.
    under: search === undefined ? query.number(c, 'under') : undefined,
    mine: query.text(c, 'mine') === '1' || undefined,
    cursor: query.cursor(c),
    max: ROWS,
  });
}

/** @param group - has the listed subgroups; undefined for all groups */
function overviewPage(overview: Overview, shown: OverviewQuery, group: SubjectView | undefined): ui.Markup {
  const { user } = ui.format();
  const { first, rows, total, next, previous } = overview;
  const { search, sort, under, mine } = shown;
  const to = (cursor: string): string => ui.address('/', { q: search, sort, cursor, mine: mine && 1, under });
  return (
    <ConsolePage
      title={group === undefined ? 'Budgets' : `Groups in ${group.path}`}
      at="/"
      about={aboutText(overview)}
      crumbs={group && [<a href="/">All budgets</a>]}
      actions={group && ui.button(ui.subjectHref(group.subject) ?? '/', 'Open group')}
    >
      {mayOpen('GET /budgets', user.roles) && <ui.BudgetTabs at="/" />}
      {instanceCard(overview)}
      <section class="card" aria-label="Groups">
        <form class="filters" method="get" action="/" role="search" data-at-once>
          {ui.searchField('Search budgets', search, 'Part of a path or name')}
          {ui.choice('Order', 'sort', sort ?? 'runs-out-first', SORTS)}
          {user.roles.ownedGroupIds.length > 0 && (
            <label class="check">
              <input type="checkbox" name="mine" value="1" checked={mine === true} />
              Only my groups
            </label>
          )}
          <button>Show groups</button>
        </form>
        {rows.length === 0 ? (
          <p>
            <strong>No visible group matches.</strong> <a href="/">Show all groups</a>, or{' '}
            <a href="/me">show your rights</a>.
          </p>
        ) : (
          <>
            {ui.BAR_KEY}
            {ui.groupTable(rows, 'Groups and their budgets', {
              tree: (id) => ui.address('/', { under: id, sort }),
              mayEdit: mayOpen('GET /edit', user.roles),
            })}
            <ui.PageLinks previous={previous && to(previous)} next={next && to(next)}>
              {ui.number(first)}–{ui.number(first + rows.length - 1)} of {ui.number(total)}
            </ui.PageLinks>
          </>
        )}
      </section>
    </ConsolePage>
  );
}

function aboutText({ total, others, directoryAtMs, set }: Overview): ui.Markup {
  const isOld = directoryAtMs === undefined || ui.format().nowMs - directoryAtMs > DIRECTORY_OLD_MS;
  return (
    <>
      {ui.pageCount(total - others, 'group')}
      {others > 0 && ` and ${ui.pageCount(others, 'other budget')}`}.{' '}
      {set === undefined && 'No limits have been published yet. Those of the deployment are in force. '}
      {isOld && (
        <strong class="warn-text">
          Last sync of groups from GitLab:{' '}
          {directoryAtMs === undefined ? 'never' : ui.distance(directoryAtMs)}.
        </strong>
      )}
    </>
  );
}

function instanceCard({ instance }: Overview): ui.Markup | '' {
  if (instance === undefined) return '';
  const { budget, metered } = instance;
  const used = (micros: number): string => ui.pageAmount(micros, 'micros');
  return (
    <ui.Card
      id="whole"
      title={<a href="/instance">The whole GitLab</a>}
      aside={budget === undefined ? 'no budget of its own' : budget.period?.label}
    >
      {budget && ui.limitBar(budget)}
      <p>
        {budget === undefined
          ? `${used(metered.settledMicros)} spent and ${used(metered.heldMicros)} held this month.`
          : [ui.leftOfText(budget), '. Runs out: ', ui.runsOut(budget)]}
      </p>
    </ui.Card>
  );
}
