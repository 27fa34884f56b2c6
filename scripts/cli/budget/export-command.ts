import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { liveSet } from '../api/edit-answer.ts';
import { withBudget } from '../api/open-api.ts';
import { NOTHING_LIVE } from '../limits/set-text.ts';
import { deliver } from '../statement/deliver.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from './budget-flags.ts';

export const DIALECT_FLAGS = { delimiter: 'text', decimal: 'text' } as const;
export const DIALECT_HELP = `  --delimiter <sign>   , or ;  (default: ,)
  --decimal <sign>     . or ,  (default: .)    spreadsheets set up for German, French … want --delimiter ';' --decimal ,`;

const HELP = `tollgate budget export [flags]

The live limits as CSV: edit them in a spreadsheet and read them back with tollgate budget import. An apostrophe before a
text keeps spreadsheets from running it or taking it for a date; it goes with the import. Leave the column version alone:
by it the import knows whether somebody changed the limits meanwhile. Grants, freezes and rollouts are not in the file.

Next to the amount stand last_year_mean and last_year_most (use of a period, within the last 365 days) and forecast (use of
the next period). They are to be read: an import ignores them. For next year's limits, edit the column limit, and import the
file with --from 2027-01-01.

${DIALECT_HELP}
  --bom                begins with a byte order mark: Excel then reads umlauts
  --out <file>         writes it there
${BUDGET_FLAGS_HELP}

Exit codes: 0 written, 1 the table does not answer, or no set was ever published, 3 wrong usage`;

const BOM = '\ufeff';

export const exportCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget export',
  summary: 'The live limits as CSV, for a spreadsheet and back',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { out: 'text', bom: 'switch', ...DIALECT_FLAGS, ...BUDGET_FLAGS });
    const dialect = readDialect(values);
    const told = await withBudget(deps.open, values, io, async ({ api }) => {
      const live = await liveSet(api);
      if (live === undefined) throw new Error(NOTHING_LIVE);
      const csv = await (await api['limits.csv'].$get({ query: dialect })).text();
      return { set: live.set, csv };
    });
    const text = `${values.bom ? BOM : ''}${told.csv}`;
    deliver(values.json ? `${JSON.stringify(told)}\n` : text, values.out, io);
    return EXIT.ok;
  },
});

export const exportCommand: Command = exportCommandOn(BUDGET_DEPS);

/** As the API names them. @throws {UsageError} for other signs. */
export function readDialect(values: {
  readonly delimiter?: string | undefined;
  readonly decimal?: string | undefined;
}): { readonly dialect: 'comma' | 'semicolon'; readonly decimal: ',' | '.' } {
  const { delimiter = ',', decimal = '.' } = values;
  if (delimiter !== ',' && delimiter !== ';')
    throw new UsageError(`--delimiter "${delimiter}": expected , or ;`);
  if (decimal !== '.' && decimal !== ',') throw new UsageError(`--decimal "${decimal}": expected . or ,`);
  return { dialect: delimiter === ';' ? 'semicolon' : 'comma', decimal };
}
