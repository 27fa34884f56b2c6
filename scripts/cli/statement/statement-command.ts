import type { Statement } from '../../../functions/answers/statement/model.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags } from '../../terminal/flags.ts';
import { answerOf } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { ALL_GROUPS, notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { deliver, readFormat, terminalOf } from './deliver.ts';
import { focusCsv } from './focus-csv.ts';
import { statementCsv } from './statement-csv.ts';
import { statementTerminal } from './statement-terminal.ts';

const HELP = `tollgate statement --month <month> (--group <id | path> | --all) [flags]

Prints what a group and everything below it is charged for a month, by day. It adds up the usage days of the group, as closed
statements, the console and its API do, so it takes no longer the more jobs there were. Days and months begin and end in the
deployment's accounting zone ($TOLLGATE_ROLLUP_ZONE, else UTC); limits and their zones have no part in it. A group that was below
another has the share that its jobs are of that group's statement.

--with-prices, --by job and --format focus read every job, for ninety days after the month: lines then have project,
runner class and price, or are one job each. Corrections are lines of their own; those that came after the month was
over are marked. A job belongs to the month and to the groups of its admission, wherever groups were moved since. A group
that the directory does not know any more is found by its path in jobs, and by its id in days, too.

Limits and groups are those that are live beside the ledger, unless a file is named or nothing is live.

  --month <month>      2026-10; by the fiscal_start at the top of the limits
  --group <id | path>  e.g. acme/payments; instance is everything
  --all                everything: the same as --group instance
  --by <what>          day or job                                           (default: day)
  --with-prices        by day, project, runner class and price
  --with-users         with --by job, in CSV and --json: who started it, an id or, after 90 days, a pseudonym
  --format <format>    terminal, csv or focus (FOCUS 1.2, CSV)              (default: terminal)
  --out <file>         writes the statement there
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               the statement as one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage`;

const FORMATS = ['terminal', 'csv', 'focus'] as const;

/** @param open - tests open a ledger of their own. */
export const statementCommandOn = (open: OpenLedger): Command => ({
  name: 'statement',
  summary: 'What is a group charged for a month? For people, as CSV or FOCUS, with corrections',
  help: HELP,
  run: (args, io) => tellStatement(args, io, open),
});

export const statementCommand: Command = statementCommandOn(openLedger);

const FLAGS = {
  month: 'text',
  group: 'text',
  all: 'switch',
  by: 'text',
  'with-prices': 'switch',
  'with-users': 'switch',
  format: 'text',
  out: 'text',
  ...LEDGER_FLAGS,
  ...RULES_FLAGS,
} as const;

async function tellStatement(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const { month } = values;
  if (month === undefined) throw new UsageError('--month is missing: expected a month like 2026-10');
  if (values.all && values.group !== undefined)
    throw new UsageError('--group and --all: expected one of them');
  const group = values.all ? ALL_GROUPS : values.group;
  if (group === undefined)
    throw new UsageError('--group is missing: expected a group like acme/payments, or --all');
  const chosen = readFormat(values, FORMATS);
  const by = readChoice('by', values.by ?? 'day', ['day', 'job'] as const);
  const withUsers = values['with-users'];
  if (withUsers && (by !== 'job' || chosen === 'focus'))
    throw new UsageError('--with-users: belongs to --by job, and not to --format focus');
  const query = {
    ...{ group, by },
    ...(withUsers && { with_users: 'yes' as const }),
    ...((chosen === 'focus' || values['with-prices']) && { with_prices: 'yes' as const }),
  };
  const statement = await withBooks(open, values, io, async ({ api, directory }) => {
    const answer = await answerOf(api.statements[':month'].$get({ param: { month }, query }));
    if (answer.ok) return answer.body;
    if (answer.status === 404) throw notInDirectory(`--group ${group}`, group, directory.groupByPath.keys());
    const { error, problems: [problem] = [] } = answer.refused;
    if (error.code === 'only_days')
      throw new UsageError(
        `--month "${month}": only its days are kept after 90 days, or shown by a console; expected it without --by job, --with-prices and --format focus`,
      );
    const asked = { month, group }[String(problem?.path[0])];
    throw new UsageError(
      problem === undefined ? error.message : `--${problem.path[0]} "${asked}": ${problem.message}`,
    );
  });
  deliver(rendered(statement, chosen, values.out, io), values.out, io);
  return EXIT.ok;
}

function rendered(
  statement: Statement,
  format: (typeof FORMATS)[number] | 'json',
  out: string | undefined,
  io: TerminalIo,
): string {
  switch (format) {
    case 'terminal':
      return statementTerminal(statement, ...terminalOf(out, io));
    case 'csv':
      return statementCsv(statement);
    case 'focus':
      return focusCsv(statement);
    case 'json':
      return `${JSON.stringify(statement)}\n`;
  }
}
