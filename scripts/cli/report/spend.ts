import { hasOthers, SPEND_KEYS, type SpendReport } from '../../../functions/answers/report/model.ts';
import { queueText, retriesText, spendCsv } from '../../../functions/answers/report/spend-text.ts';
import { durationText, moneyText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { choice, text, toggle, whole } from '../../terminal/flags.ts';
import { printable } from '../../terminal/paint.ts';
import { amounts, right, table } from '../../terminal/table.ts';
import { answerOf } from '../api/api-in-process.ts';
import { type BudgetContext, withBooks } from '../api/open-api.ts';
import { LEDGER_EXITS, LEDGER_FLAGS } from '../ledger-flags.ts';
import { RULES_FLAGS } from '../rules-flags.ts';
import { refusedFlag } from './span.ts';

const TOP = 20;

const reportSpend = command({
  name: 'report spend',
  about: `Reports spending of any period, next to the period before. The most expensive rows are listed, the others are one row, and
all add up to what the jobs of these days are charged. A current period is compared with as many days of the one before.`,
  flags: {
    month: text('<month>', '2026-10 (default: this month)'),
    period: text('<period>', 'month, last-month, quarter, last-quarter, year, last-year, 2026-q4, 2026'),
    from: text('<day>', 'first day, in place of a period: 2026-11-01 or 1.11.2026; without --to up to now'),
    to: text('<day>', 'last day'),
    group: text('<id | path>', 'with everything below it (default: instance, which is everything)'),
    project: text('<id>', 'in place of a group', whole(1, Number.MAX_SAFE_INTEGER)),
    by: choice('<what>', '(default: the next level down) ', SPEND_KEYS),
    top: text('<rows>', `rows before "other" (default: ${TOP}; hours, days, months: all)`, whole(1, 1_000)),
    'no-compare': toggle('without the period before'),
    csv: toggle('the rows as CSV, with "other"'),
    all: toggle('all groups, each with the cost of its own projects, as CSV'),
    ...LEDGER_FLAGS,
    ...RULES_FLAGS,
  },
  examples: [
    'tollgate report spend --group acme --period last-month --by project',
    'tollgate report spend --all --period 2026-q4 > groups.csv',
  ],
  exits: LEDGER_EXITS,
  run: async ({ flags }, io) => {
    const { group, month, period, from, to, by, top, project, all, csv } = flags;
    const spans = [month, period, from ?? to].filter((each) => each !== undefined);
    if (spans.length > 1)
      throw new UsageError('--month, --period and --from with --to: expected one of them');
    if (month !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
      throw new UsageError(`--month "${month}": expected a month like 2026-10`);
    if (all && (by ?? top ?? project) !== undefined)
      throw new UsageError('--all: lists every group, so there is no --by, --top or --project');
    if (flags.json && (csv || all)) throw new UsageError('--json: expected without --csv and --all');
    const asked = {
      ...withoutAbsent({ from, to, period: month ?? period, group }),
      ...(flags['no-compare'] && { compare: 'no' as const }),
    };
    await withBooks(flags, io, async (books) => {
      if (all) return printAll(asked, books, io);
      const query = {
        ...asked,
        ...withoutAbsent({ by, project: project?.toString() }),
        top: String(top ?? TOP),
      };
      const answer = await answerOf(books.api.report.$get({ query }));
      if (!answer.ok) throw refusedFlag(answer, group, books.directory);
      const report = answer.body;
      print(io, flags, report, () => (csv ? spendCsv(report) : spendText(report, io.columns)));
    });
    return EXIT.ok;
  },
});

type SpendAsked = Partial<Readonly<Record<'period' | 'from' | 'to' | 'group', string>>> & {
  readonly compare?: 'no';
};

/** Thousands of groups: one page per request. */
async function printAll(query: SpendAsked, { api, directory }: BudgetContext, io: TerminalIo): Promise<void> {
  for (let page: string | null = '0'; page !== null; ) {
    const response: Response = await api['report.csv'].$get({ query: { ...query, page } });
    const text = await response.text();
    if (!response.ok)
      throw refusedFlag({ status: response.status, refused: JSON.parse(text) }, query.group, directory);
    io.out(text);
    page = response.headers.get('next-page');
  }
}

function spendText(report: SpendReport, columns: number): string {
  const { path, fromDay, toDay, before, currency, notes, total } = report;
  const compared = before === undefined ? '' : ` beside ${before.fromDay} to ${before.toDay}`;
  return [
    `${printable(path)}, ${fromDay} to ${toDay}${compared}, ${currency}\n\n`,
    rowsText(report, columns),
    total.jobs === 0 ? '' : `\n${retriesText(report)}\n${queueText(report)}\n`,
    ...notes.map((note) => `\n${note}\n`),
  ].join('');
}

function rowsText({ rows, other, total, by, before }: SpendReport, columns: number): string {
  const cells = (name: string, row: SpendReport['total']): readonly string[] => {
    const was = row.before?.micros;
    const change =
      was === undefined
        ? []
        : [
            ...[moneyText(was), moneyText(row.micros - was)],
            was > 0 ? `${Math.round((row.micros / was - 1) * 100)} %` : '',
          ];
    return [
      ...[name, String(row.jobs), String(row.rejected)],
      ...[durationText(Math.round(row.seconds)), moneyText(row.micros), ...change],
    ];
  };
  const compared = before === undefined ? [] : [amounts('before'), amounts('change'), right('')];
  return table(
    [by, right('jobs'), right('rejected'), right('ran'), amounts('spent'), ...compared],
    [
      ...rows.map((row) => cells(row.name === '' ? 'no class' : printable(row.name), row)),
      ...(hasOthers({ other }) ? [cells(printable(other.label.toLowerCase()), other)] : []),
      cells('total', total),
    ],
    columns,
  );
}

export const commands = [reportSpend];
