import type { Budgets, BudgetsQuery } from '../../../answers/limits/budgets-model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { mayOpen } from '../page-access.ts';
import { BAR_KEY } from '../parts/bar.tsx';
import { budgetTabs, Tabs } from '../parts/budget-tabs.tsx';
import { PageLinks } from '../parts/layout.tsx';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageCount } from '../parts/page-format.tsx';
import { budgetLines } from './budget-lines.tsx';
import { askedWords } from './budgets-asked.ts';
import { budgetsFilters } from './budgets-filters.tsx';

interface BudgetsShown {
  readonly budgets: Budgets;
  readonly asked: BudgetsQuery;
}

export const budgetsPage = (user: User, { budgets, asked }: BudgetsShown, telling: PageFormat): Markup => (
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
