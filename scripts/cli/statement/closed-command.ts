import { closedCsv, closedFocusCsv, closedRows } from '../../../functions/answers/statement/csv.ts';
import type { ClosedMonths } from '../../../functions/answers/statement/model.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { type TerminalColumn, table } from '../../terminal/table.ts';
import { found } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { deliver, readFormat, terminalOf } from './deliver.ts';
import { money } from './statement-terminal.ts';

const HELP = `tollgate statement closed --month <month> --group <id | path> [flags]

Prints a month as it was closed. It closes five days after its end, for each top-level group and the instance, and never changes:
what turns out later is an adjustment on the statement of the next month.

  --month <month>      2026-10; 2026-10@06 where the fiscal year makes it begin on the 6th
  --group <id | path>  e.g. acme/payments; instance is everything
  --format <format>    terminal, csv or focus (FOCUS 1.2)                   (default: terminal)
  --out <file>         writes the statement there
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               the statement as one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage, or no such month was closed`;

/** @param open - tests open a ledger of their own. */
export const closedCommandOn = (open: OpenLedger): Command => ({
  name: 'statement closed',
  summary: 'A month as it was closed, which never changes: number, lines, adjustments and hash',
  help: HELP,
  run: (args, io) => tellClosed(args, io, open),
});

export const closedCommand: Command = closedCommandOn(openLedger);

const FORMATS = ['terminal', 'csv', 'focus'] as const;
const FLAGS = {
  month: 'text',
  group: 'text',
  format: 'text',
  out: 'text',
  ...LEDGER_FLAGS,
  ...RULES_FLAGS,
} as const;

type ClosedStatement = ClosedMonths['statements'][number];

async function tellClosed(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const { month, group, out } = values;
  if (month === undefined) throw new UsageError('--month is missing: expected a month like 2026-10');
  if (group === undefined) throw new UsageError('--group is missing: expected a group like acme/payments');
  const format = readFormat(values, FORMATS);
  const statement = await withBooks(open, values, io, async ({ api, directory }) => {
    const months = await found(api['closed-statements'].$get({ query: { group } }));
    if (months === undefined) throw notInDirectory(`--group ${group}`, group, directory.groupByPath.keys());
    const closed = months.statements.find((each) => each.month === month);
    if (closed !== undefined) return closed;
    const all = months.statements.map((each) => each.month).join(', ');
    throw new UsageError(
      `--month "${month}": was not closed for ${group}; ${all === '' ? 'no month was' : `closed were ${all}`}`,
    );
  });
  const text = {
    json: () => `${JSON.stringify(statement)}\n`,
    csv: () => closedCsv(statement),
    focus: () => closedFocusCsv(statement),
    terminal: () => closedTerminal(statement, ...terminalOf(out, io)),
  }[format]();
  deliver(text, out, io);
  return EXIT.ok;
}

function closedTerminal(statement: ClosedStatement, paint: Paint, columns: number): string {
  const { number, group, month, zone, currency, totals, closedAtMs, sha256, previousSha256 } = statement;
  const right = { align: 'right' } as const;
  const titles: readonly TerminalColumn[] = [
    { title: '' },
    { title: 'when' },
    { title: 'jobs', ...right },
    { title: 'seconds', ...right },
    { title: 'cost', ...right, even: true },
    { title: '' },
  ];
  const rows = closedRows(statement).map(({ kind, when, jobs, seconds, micros, about }) => [
    ...[kind, when, String(jobs), String(seconds), money(micros, currency), printable(about)],
  ]);
  const lines = [
    paint.strong(
      `Statement ${number}, ${printable(group)}, ${month} (${zone}): ${money(totals.dueMicros, currency)}`,
    ),
    `Usage ${money(totals.micros, currency)}, adjustments of earlier months ${money(totals.adjustmentMicros, currency)}.`,
    paint.dim(
      `Closed ${instantText(closedAtMs, zone)}, prices ${statement.priceVersions.map(printable).join(', ')}`,
    ),
    paint.dim(`SHA-256 ${sha256}`),
    paint.dim(previousSha256 === '' ? 'The first month of this group.' : `Follows   ${previousSha256}`),
  ];
  return `${lines.join('\n')}\n\n${rows.length === 0 ? '' : table(titles, rows, columns, paint.dim)}`;
}
