import { edgeText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from '../budget/budget-flags.ts';

const HELP = `tollgate breakglass ls [flags]

Who was let past the limits, by whom and why, how many jobs that let in, and what nobody has looked at yet.

${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const breakGlassLsCommandOn = (deps: BudgetDeps): Command => ({
  name: 'breakglass ls',
  summary: 'Who was let past the limits, and what has nobody looked at yet?',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, BUDGET_FLAGS);
    return withBudget(deps.open, values, io, async ({ api }) => {
      const glasses = await answeredInProcess(api.breakglass.$get());
      if (values.json) io.out(`${JSON.stringify({ breakglasses: glasses })}\n`);
      else if (glasses.length === 0) io.out('No glass was broken.\n');
      else {
        const paint = paintWhen(io.colours);
        const titles = ['id', 'state', 'on', 'jobs', 'until', 'by', 'why'].map((title) => ({ title }));
        const rows = glasses.map(
          ({ id, open, toReview, subject, path, jobs, per, used, untilMs, zone = 'UTC', by, reason }) => [
            printable(id),
            open ? paint.warn('open') : toReview ? paint.warn('to review') : 'reviewed',
            printable(path ?? subject),
            `${used} of ${jobs}${per === 'once' ? '' : `/${per}`}`,
            edgeText(untilMs, 'end', zone),
            printable(by ?? ''),
            printable(reason),
          ],
        );
        io.out(table(titles, rows, io.columns, paint.dim));
      }
      return EXIT.ok;
    });
  },
});

export const breakGlassLsCommand: Command = breakGlassLsCommandOn(BUDGET_DEPS);
