import { forecastText } from '../../../functions/answers/status/texts.ts';
import { command, print } from '../../terminal/define-command.ts';
import { optionalWord } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_FLAGS, knownSubject, SUBJECT_HELP, subjectWord } from '../budget/arguments.ts';
import { forecastJson, limitText, standingPath } from '../budget/limit-text.ts';

const reportForecast = command({
  name: 'report forecast',
  about: `Forecasts the use of a group's limits until the end of their periods, with the average error of such forecasts. A forecast
is the mean of the last four weeks. The error is that of every whole month of the last nine, forecast by what was known after
7, 14 and 21 of its days; --json has each of them.`,
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
        const { strong } = paintWhen(io.colours);
        return limits
          .map((row) => {
            const heading = strong(printable(`${standingPath(row)} ${row.id}`));
            const text =
              forecastText(row, currency) ?? 'No forecast: it is used up, or nothing was used lately.';
            return `${heading}: ${limitText(row, currency)}\n${text}\n`;
          })
          .join('');
      });
    }),
});

export const commands = [reportForecast];
