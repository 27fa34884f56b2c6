import { durationText, moneyText } from '../../../policies/units/unit-texts.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
import { printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { answerOf } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { ALL_GROUPS, notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { SPEND_KEYS, type SpendReport, spendReport } from './spend-rows.ts';

const TOP = 20;

const HELP = `tollgate report spend --month <month> [flags]

What a month was charged for, beside the month before: by group, project, runner class or day of the month. The most
expensive rows are listed, the others are one row, and all add up to the statements of both months.

  --month <month>      2026-10, as tollgate statement has it
  --group <id | path>  with everything below it             (default: instance, which is everything)
  --by <what>          ${SPEND_KEYS.join(', ')}            (default: group)
  --top <rows>         so many rows, then other             (default: ${TOP}; days: all)
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage`;

const FLAGS = {
  month: 'text',
  group: 'text',
  by: 'text',
  top: 'text',
  ...LEDGER_FLAGS,
  ...RULES_FLAGS,
} as const;

/** @param open - tests open a ledger of their own. */
export const spendCommandOn = (open: OpenLedger): Command => ({
  name: 'report spend',
  summary: 'What was a month charged for, beside the month before? By group, project, class or day',
  help: HELP,
  run: (args, io) => tellSpend(args, io, open),
});

export const spendCommand: Command = spendCommandOn(openLedger);

async function tellSpend(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const { month, group = ALL_GROUPS } = values;
  const before = monthBefore(month);
  if (month === undefined || before === undefined)
    throw new UsageError(`--month "${month ?? ''}": expected a month like 2026-10`);
  const by = readChoice('by', values.by ?? 'group', SPEND_KEYS);
  const top = values.top === undefined ? (by === 'day' ? 31 : TOP) : readWhole('top', values.top, 1, 1_000);
  const [now, then] = await withBooks(open, values, io, async ({ api, directory }) => {
    const statementOf = async (param: { readonly month: string }) => {
      const query = { group, by: 'day' as const };
      const answer = await answerOf(api.statements[':month'].$get({ param, query }));
      if (answer.ok) return answer.body;
      if (answer.status === 404)
        throw notInDirectory(`--group ${group}`, group, directory.groupByPath.keys());
      const { error, problems: [problem] = [] } = answer.refused;
      throw new UsageError(
        problem === undefined ? error.message : `--month "${param.month}": ${problem.message}`,
      );
    };
    return [await statementOf({ month }), await statementOf({ month: before })] as const;
  });
  const report = spendReport(now.lines, then.lines, by, top);
  const { currency } = now;
  if (values.json) io.out(`${JSON.stringify({ month, before, group, by, currency, ...report })}\n`);
  else
    io.out(
      `${printable(group)}, ${month} beside ${before}, ${currency}\n\n${rowsText(report, by, month, before, io.columns)}`,
    );
  return EXIT.ok;
}

function monthBefore(month: string | undefined): string | undefined {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month ?? '') ?? [];
  return year === undefined
    ? undefined
    : new Date(Date.UTC(Number(year), Number(number) - 2, 1)).toISOString().slice(0, 7);
}

function rowsText(
  { rows, other, total }: SpendReport,
  by: string,
  month: string,
  before: string,
  columns: number,
): string {
  const cells = (name: string, row: SpendReport['total']): readonly string[] => [
    name,
    durationText(row.seconds),
    moneyText(row.micros),
    moneyText(row.beforeMicros),
    moneyText(row.micros - row.beforeMicros),
    row.beforeMicros > 0 ? `${Math.round((row.micros / row.beforeMicros - 1) * 100)} %` : '',
  ];
  const right = { align: 'right', even: true } as const;
  return table(
    [
      { title: by },
      { title: 'ran', align: 'right' },
      { title: month, ...right },
      { title: before, ...right },
      { title: 'change', ...right },
      { title: '', align: 'right' },
    ],
    [
      ...rows.map((row) => cells(row.name === '' ? 'not known' : printable(row.name), row)),
      ...(other.rows > 0 ? [cells(`other (${other.rows})`, other)] : []),
      cells('total', total),
    ],
    columns,
  );
}
