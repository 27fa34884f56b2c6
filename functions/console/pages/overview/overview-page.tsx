import type { Overview, OverviewQuery } from '../../../answers/groups/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { mayOpen } from '../page-access.ts';
import { BAR_KEY, Bar } from '../parts/bar.tsx';
import { budgetTabs, Tabs } from '../parts/budget-tabs.tsx';
import { groupTable } from '../parts/group-table.tsx';
import { Card, Crumbs, PageLinks } from '../parts/layout.tsx';
import { leftText, limitAmountWords } from '../parts/limit-words.ts';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';
import { forecastSentence } from '../parts/run-out.tsx';
import { budgetSearch, emptyNote, isNothing } from './budget-search.tsx';

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

export function overviewPage(user: User, shown: OverviewShown, telling: PageFormat): Markup {
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
