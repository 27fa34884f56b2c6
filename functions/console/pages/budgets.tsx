import { LIMIT_KINDS } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  BUDGET_ORDERS,
  RISK_FILTERS,
  SUBJECT_KINDS,
  type SubjectKind,
} from '../../answers/limits/filters.ts';
import type { BudgetRow, Budgets, BudgetsQuery } from '../../answers/limits/models.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, query, send } from './page.ts';
import { mayOpen } from './page-access.ts';
import * as ui from './parts/ui.ts';

/** A line is about one and a half kilobytes: a page stays below 100 KB. */
const ROWS = 50;

export const budgetsRoutes: PageRoutes = (app, deps) => {
  app.get('/budgets', async (c) => {
    const shown = readBudgetsQuery(c);
    const budgets = await deps.read.budgets(shown, c.var.user);
    return send(c, budgetsPage(budgets, shown));
  });
};

const readBudgetsQuery = (c: PageContext): BudgetsQuery => ({
  ...withoutAbsent({
    search: query.text(c, 'q'),
    kind: query.oneOf(c, 'kind', SUBJECT_KINDS),
    unit: query.oneOf(c, 'unit', LIMIT_KINDS),
    risk: query.oneOf(c, 'risk', RISK_FILTERS),
    cursor: query.cursor(c),
  }),
  ...{ sort: query.oneOf(c, 'sort', BUDGET_ORDERS) ?? 'risk', caps: true, max: ROWS },
});

const KINDS: readonly (readonly [SubjectKind, string])[] = [
  ['instance', 'The whole GitLab'],
  ['group', 'Groups'],
  ['project', 'Projects'],
  ['runner-class', 'Runner classes'],
  ['runner', 'Runners'],
  ['user', 'Users'],
  ['cap', 'Caps'],
];
const UNITS: ui.ChoiceList = LIMIT_KINDS.map((kind) => [kind, ui.limitWords({ kind })]);
const RISKS: ui.ChoiceList = [
  ['', 'Any'],
  ['runs-out', 'Used up or running out'],
  ['used-up', 'Used up'],
];
const ORDERS: ui.ChoiceList = [
  ['risk', 'Highest risk first'],
  ['fullest', 'Highest use first'],
  ['name', 'Name'],
];

function budgetsPage(budgets: Budgets, shown: BudgetsQuery): ui.Markup {
  const { first, rows, total, next, previous, refusing, usedUp, runsOut } = budgets;
  const { search, kind, unit, risk, sort } = shown;
  const to = (cursor: string): string =>
    ui.address('/budgets', { q: search, kind, unit, risk, sort, cursor });
  return (
    <ConsolePage
      title="Every limit"
      at="/"
      about={`${ui.pageCount(total, 'limit')}, ${ui.number(refusing)} reject jobs now, ${ui.number(usedUp)} are used up, ${ui.number(runsOut)} run out before their period ends.`}
    >
      <ui.BudgetTabs at="/budgets" />
      <section class="card" aria-label="Limits">
        <form class="filters" method="get" action="/budgets" role="search" data-at-once>
          {ui.searchField('Search limits', search, 'Part of a path, name or owner')}
          {ui.choice('Subject', 'kind', kind, [['', 'All'], ...KINDS])}
          {ui.choice('Unit', 'unit', unit, [['', 'All'], ...UNITS])}
          {ui.choice('Risk', 'risk', risk, RISKS)}
          {ui.choice('Order', 'sort', sort, ORDERS)}
          <button>Show limits</button>
        </form>
        {rows.length === 0 ? (
          <p>
            No visible limit matches. <a href="/budgets">Show all limits</a>.
          </p>
        ) : (
          <>
            {ui.BAR_KEY}
            <ui.Table label="Limits" columns={columns()} rows={rows} />
            <ui.PageLinks previous={previous && to(previous)} next={next && to(next)}>
              {ui.number(first)}–{ui.number(first + rows.length - 1)} of {ui.number(total)}
            </ui.PageLinks>
          </>
        )}
      </section>
    </ConsolePage>
  );
}

const columns = (): ui.Columns<BudgetRow> => ({
  Subject: nameCell,
  ...ui.limitColumns<BudgetRow>({
    mayEdit: mayOpen('GET /edit', ui.format().user.roles),
    limitOf: (row) => (row.each === undefined ? row : undefined),
    without: (row) => ({ Use: ui.soft('counted separately'), Limit: ui.limitAmountWords(row) }),
  }),
});

function nameCell(row: BudgetRow): ui.Markup {
  const { subject, path, id, each } = row;
  const isCap = each !== undefined;
  const href = ui.subjectHref(subject);
  const last = isCap ? undefined : ui.lastAlertOf(row);
  const facts = [ui.limitLabel(row), row.period?.label, row.byDefault && 'default limit'];
  const name = isCap ? path : ui.pathMarkup(path);
  const limit = row.canRunOut && !isCap ? id : undefined;
  return (
    <>
      {href === undefined ? name : <a href={ui.address(href, { limit })}>{name}</a>}{' '}
      {!isCap && ui.kindTag(subject)} {ui.modeTag(row.rolledOutAs ?? row.mode)}
      {ui.soft(facts.filter(Boolean).join(' · '))}
      {last && <small class={last.state === 'failed' ? 'warn-text' : 'soft'}>{last.text}</small>}
    </>
  );
}
