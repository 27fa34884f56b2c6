import type { PlanRow, PlanView } from '../../../functions/answers/plans/model.ts';
import { limitWords } from '../../../functions/answers/standing/limit-words.ts';
import { bareAmountText } from '../../../policies/units/unit-texts.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { type ApiClient, answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from '../budget/budget-flags.ts';
import { PLAN_HELP, planOfWord } from './plan-word.ts';

/** So many rows are told with the use of a year. */
const PAGE_ROWS = 100;

const HELP = `tollgate plan show <plan> [flags]

One plan beside what is in force: each limit with what a period of it used in the year before, what its first period is forecast
to use, what it is today and what is planned; then what all come to.

${PLAN_HELP}
  --all                also limits that stay as they are
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const planShowCommandOn = (deps: BudgetDeps): Command => ({
  name: 'plan show',
  summary: 'One plan beside a year of use, the forecast and the limits in force',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(
      args,
      { all: 'switch', ...BUDGET_FLAGS },
      { max: 1, what: 'one plan' },
    );
    return withBudget(deps.open, values, io, async ({ api }) => {
      const view = await wholePlan((await planOfWord(words[0], api)).id, api);
      if (values.json) {
        const { next: _, ...told } = view;
        io.out(`${JSON.stringify(told)}\n`);
        return EXIT.ok;
      }
      const { strong, dim } = paintWhen(io.colours);
      io.out(
        `${strong(printable(view.name))}  ${dim(view.id)}  from ${view.from}, ${STATES[view.state]}\n\n`,
      );
      const rows = view.rows.filter(({ isPlanned }) => isPlanned || values.all);
      if (rows.length > 0) io.out(`${rowsText(rows, io.columns, dim)}\n`);
      io.out(totalsText(view, io.columns, dim));
      for (const { path, limit } of view.gone)
        io.out(printable(`${path} ${limit}: planned, and no limit of that day any more`).concat('\n'));
      for (const problem of view.problems) io.out(`${printable(problem)}\n`);
      return EXIT.ok;
    });
  },
});

export const planShowCommand: Command = planShowCommandOn(BUDGET_DEPS);

const STATES: Readonly<Record<PlanView['state'], string>> = {
  draft: 'a draft',
  asked: 'waits for approval',
  adopted: 'adopted',
  over: 'its day is here',
};

/** With all its pages. */
async function wholePlan(id: string, api: ApiClient): Promise<PlanView> {
  const max = String(PAGE_ROWS);
  const pageOf = (cursor: string | undefined): Promise<PlanView> =>
    answeredInProcess(
      api.plans[':id'].$get({ param: { id }, query: cursor === undefined ? { max } : { max, cursor } }),
    );
  let page = await pageOf(undefined);
  const rows = [...page.rows];
  while (page.next !== undefined) {
    page = await pageOf(page.next);
    rows.push(...page.rows);
  }
  return { ...page, rows };
}

const amounts = { align: 'right', even: true } as const;

function rowsText(rows: readonly PlanRow[], columns: number, dim: (text: string) => string): string {
  return table(
    [
      { title: 'group' },
      { title: 'limit' },
      { title: 'used a period', ...amounts },
      { title: 'at most', ...amounts },
      { title: 'forecast', ...amounts },
      { title: 'today', ...amounts },
      { title: 'planned', ...amounts },
      { title: '%', align: 'right' },
    ],
    rows.map((row) => {
      const { path, unit, lastYear, forecast, today, planned } = row;
      const bare = (amount: number | 'unlimited' | undefined): string =>
        amount === undefined ? '' : amount === 'unlimited' ? amount : bareAmountText(amount, unit, 'nearest');
      return [
        printable(path),
        limitWords(row),
        ...[lastYear?.mean, lastYear?.most, forecast, today, planned].map(bare),
        shareText(today, planned),
      ];
    }),
    columns,
    dim,
  );
}

const shareText = (from: number | 'unlimited' | undefined, to: number | 'unlimited'): string =>
  typeof from !== 'number' || typeof to !== 'number' || from === 0
    ? ''
    : `${Math.round((to / from - 1) * 1_000) / 10}`;

function totalsText({ totals }: PlanView, columns: number, dim: (text: string) => string): string {
  return table(
    [
      { title: 'total' },
      { title: 'limits', align: 'right' },
      { title: 'today', ...amounts },
      { title: 'planned', ...amounts },
      { title: 'difference', ...amounts },
    ],
    totals.map((total) => {
      const [today, planned] = [Number(total.today), Number(total.planned)];
      const bare = (amount: number): string => bareAmountText(amount, total.unit, 'nearest');
      return [limitWords(total), `${total.limits}`, bare(today), bare(planned), bare(planned - today)];
    }),
    columns,
    dim,
  );
}
