import type { BudgetRow } from '../../../functions/answers/limits/budgets-model.ts';
import type { TestedForecasts } from '../../../functions/answers/status/model.ts';
import { forecastText } from '../../../functions/answers/status/texts.ts';
import { bareAmountText } from '../../../policies/unit-texts.ts';
import { command, print } from '../../terminal/define-command.ts';
import { optionalWord } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { amounts, right, table } from '../../terminal/table.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_FLAGS, knownSubject, SUBJECT_HELP, subjectWord } from '../budget/arguments.ts';
import { forecastJson, limitText, standingPath } from '../budget/limit-text.ts';

const reportForecast = command({
  name: 'report forecast',
  about: `Forecasts the use of a group's limits until the end of their periods, and shows how far off such forecasts were. The forecast
takes what each weekday used in the last four weeks and the trend of the last eight weeks. Below it, every whole month of
the last nine is forecast by what was known after 7, 14 and 21 of its days, next to its outcome.`,
  words: { group: optionalWord('<group>', `${SUBJECT_HELP} (default: instance)`) },
  flags: BUDGET_FLAGS,
  examples: ['tollgate report forecast acme/payments'],
  exits: { 0: 'shown' },
  run: ({ flags, words }, io) =>
    withBudget(flags, io, async (budget) => {
      const subject = await knownSubject(words.group ?? 'instance', budget);
      const query = { holding: subject, max: '1000' } as const;
      const { currency, rows } = await answeredInProcess(budget.api.budgets.$get({ query }));
      const limits = rows.filter((row) => row.subject === subject && row.canRunOut);
      const path = subjectWord(subject, budget.directory);
      const forecasts = limits.map((row) => ({ limit: row.id, unit: row.unit, ...forecastJson(row) }));
      return print(io, flags, { subject, path, currency, limits: forecasts }, () => {
        if (limits.length === 0) return `${printable(path)} has no limit of its own that can run out.\n`;
        const { strong, dim } = paintWhen(io.colours);
        return limits
          .flatMap((row) => {
            const { tested } = row.forecast ?? {};
            return [
              `${strong(printable(`${standingPath(row)} ${row.id}`))}: ${limitText(row, currency)}\n`,
              `${forecastText(row, currency) ?? unknownText(row)}\n`,
              tested === undefined ? '' : `\n${testedText(tested, row, io.columns, dim)}\n`,
            ];
          })
          .join('');
      });
    }),
});

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
      'month',
      right('after days'),
      amounts('forecast'),
      amounts('from'),
      amounts('to'),
      amounts('came to'),
      amounts('off by %'),
    ],
    rows,
    columns,
    paintTitle,
  )}Off by ${errorPercent} % on average over ${months} ${months === 1 ? 'month' : 'months'}${inside}.\n`;
}

export const commands = [reportForecast];
