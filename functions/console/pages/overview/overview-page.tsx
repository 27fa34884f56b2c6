import type { Overview, OverviewAsked } from '../../../answers/overview/model.ts';
import type { User } from '../../../core/signin/user.ts';
import { Page } from '../frame.tsx';
import { BAR_KEY, Bar } from '../parts/bar.tsx';
import { groupTable } from '../parts/group-table.tsx';
import { Card, Crumbs, PageLinks } from '../parts/layout.tsx';
import { forecastSentence, leftText, limitAmount } from '../parts/limit-words.tsx';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { amount, counted, distance, type Telling } from '../parts/told.tsx';

export interface OverviewShown {
  readonly overview: Overview;
  readonly asked: OverviewAsked;
  /** The path down to the group whose children are shown, topmost first. */
  readonly above: readonly { readonly id: number; readonly path: string }[];
  /** The viewer owns groups: "only mine" means something. */
  readonly owns: boolean;
}

/** How old the directory may be before somebody is told: it is synced every few minutes. */
const DIRECTORY_OLD_MS = 3_600_000;

export function overviewPage(user: User, shown: OverviewShown, telling: Telling): Markup {
  const { overview, asked, above } = shown;
  const here = above.at(-1);
  const title = here === undefined ? 'Budgets' : here.path;
  return (
    <Page title={title} at="/" user={user}>
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
      {instanceCard(overview, telling)}
      <section class="card" aria-labelledby="groups">
        <h2 id="groups" class="hidden">
          Groups
        </h2>
        {isNothing(shown) ? '' : filters(shown)}
        {overview.rows.length === 0 ? (
          emptyNote(asked)
        ) : (
          <>
            {BAR_KEY}
            {groupTable(overview.rows, 'Groups and their budgets', telling, {
              tree: (id) => address('/', { under: id, sort: asked.sort }),
              sum: overview.sum,
            })}
            {pages(overview, asked)}
          </>
        )}
      </section>
    </Page>
  );
}

function aboutText(overview: Overview, { nowMs }: Telling): Markup {
  const { total, others, directoryAtMs, set } = overview;
  return (
    <>
      {counted(total - others, 'group')}
      {others > 0 && (
        <> and {counted(others, 'other budget')}, of projects, runner classes, runners or users</>
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

function instanceCard({ instance }: Overview, telling: Telling): Markup | '' {
  if (instance === undefined) return '';
  const { budget, metered } = instance;
  if (budget === undefined || budget.amount === 'unlimited') {
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
          {amount(metered.settledMicros, 'micros', telling)} spent and{' '}
          {amount(metered.heldMicros, 'micros', telling)} held this month, in {counted(metered.jobs, 'job')}.
        </p>
      </Card>
    );
  }
  const { settled, held, unit, amount: limit, period, forecast } = budget;
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
        {amount(settled, unit, telling)} spent and {amount(held, unit, telling)} held of{' '}
        {limitAmount(budget, telling)}; {leftText(budget, telling)}
        {(budget.left ?? 0) < 0 ? '' : ' left'}. {forecastSentence(budget, telling.nowMs)}
      </p>
    </Card>
  );
}

const filters = ({ asked, owns }: OverviewShown): Markup => (
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
const isNothing = ({ overview, asked }: OverviewShown): boolean =>
  overview.total === 0 && asked.search === undefined && asked.under === undefined && asked.mine !== true;

function emptyNote(asked: OverviewAsked): Markup {
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

function pages(overview: Overview, asked: OverviewAsked): Markup {
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
          <small class="soft">({counted(unranked, 'group')} without a budget come last, by path)</small>
        </>
      )}
    </PageLinks>
  );
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
