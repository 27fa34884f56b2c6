import type { BudgetRow } from '../../../functions/answers/limits/budgets-model.ts';
import type { TestedForecasts } from '../../../functions/answers/status/model.ts';
import { forecastText } from '../../../functions/answers/status/texts.ts';
import { bareAmountText } from '../../../policies/units/unit-texts.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from '../budget/budget-flags.ts';
import { forecastJson, limitText, standingPath } from '../budget/standing-text.ts';
import { knownSubject, SUBJECT_HELP, subjectWord } from '../budget/subject-word.ts';

const HELP = `tollgate report forecast [group] [flags]

What will the periods of a group's limits come to, and can that be believed? The forecast takes what each weekday used in the
last four weeks and how the last eight weeks go on. Below it, every whole month of the last nine is forecast by what was
known when 7, 14 and 21 of its days were over, beside what it came to.

${SUBJECT_HELP}
                       (default: instance)
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const forecastCommandOn = (deps: BudgetDeps): Command => ({
  name: 'report forecast',
  summary: 'What will a group’s limits come to, and how far off were such forecasts?',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, BUDGET_FLAGS, { max: 1, what: 'one group' });
    return withBudget(deps.open, values, io, async (budget) => {
      const subject = await knownSubject(words[0] ?? 'instance', budget);
      const query = { holding: subject, max: '1000' } as const;
      const { currency, rows } = await answeredInProcess(budget.api.budgets.$get({ query }));
      const limits = rows.filter((row) => row.subject === subject && row.canRunOut);
      const path = subjectWord(subject, budget.directory);
      if (values.json) {
        const told = limits.map((row) => ({ limit: row.id, unit: row.unit, ...forecastJson(row) }));
        io.out(`${JSON.stringify({ subject, path, currency, limits: told })}\n`);
        return EXIT.ok;
      }
      if (limits.length === 0) io.out(`${printable(path)} has no limit of its own that can run out.\n`);
      const { strong, dim } = paintWhen(io.colours);
      for (const row of limits) {
        io.out(`${strong(printable(`${standingPath(row)} ${row.id}`))}: ${limitText(row, currency)}\n`);
        io.out(`${forecastText(row, currency) ?? unknownText(row)}\n`);
        const { tested } = row.forecast ?? {};
        if (tested !== undefined) io.out(`\n${testedText(tested, row, io.columns, dim)}\n`);
      }
      return EXIT.ok;
    });
  },
});

export const forecastCommand: Command = forecastCommandOn(BUDGET_DEPS);

const unknownText = ({ forecast }: BudgetRow): string =>
  forecast?.outcome === 'used_up'
    ? 'It is used up.'
    : forecast === undefined
      ? 'Nothing was used in the last weeks: there is no forecast.'
      : 'Its period has no end to forecast.';

function testedText(
  { months, errorPercent, insidePercent, forecasts }: TestedForecasts,
  { unit }: BudgetRow,
  columns: number,
  paintTitle: (text: string) => string,
): string {
  const bare = (amount: number): string => bareAmountText(amount, unit);
  const amounts = { align: 'right', even: true } as const;
  const rows = forecasts.map(({ month, daysOver, forecast, low, high, outcome }) => [
    month,
    `${daysOver}`,
    bare(forecast),
    low === undefined ? '' : bare(low),
    high === undefined ? '' : bare(high),
    bare(outcome),
    `${Math.round((forecast / outcome - 1) * 1_000) / 10}`,
  ]);
  const inside = insidePercent === undefined ? '' : `; the band held ${insidePercent} % of them`;
  return `${table(
    [
      { title: 'month' },
      { title: 'after days', align: 'right' },
      { title: 'forecast', ...amounts },
      { title: 'from', ...amounts },
      { title: 'to', ...amounts },
      { title: 'came to', ...amounts },
      { title: 'off by %', ...amounts },
    ],
    rows,
    columns,
    paintTitle,
  )}Off by ${errorPercent} % on average over ${months} ${months === 1 ? 'month' : 'months'}${inside}.\n`;
}
