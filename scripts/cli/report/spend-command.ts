import { SPEND_KEYS, type SpendReport } from '../../../functions/answers/report/model.ts';
import { spendCsv } from '../../../functions/answers/report/spend-text.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
import { type ApiRefusal, answerOf } from '../api/api-in-process.ts';
import { type BudgetContext, withBooks } from '../api/open-api.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { monthsIn } from './months-in.ts';
import { spendText } from './spend-text.ts';

const TOP = 20;

const HELP = `tollgate report spend [flags]

What was spent in any period, beside the period before. The most expensive rows are listed, the others are one row, and all add up
to what the jobs of these days are charged. A period that is under way stands beside as many days of the one before.

  --month <month>      2026-10                             (default: this month)
  --period <period>    month, last-month, quarter, last-quarter, year, last-year, 2026-q4, 2026
  --from <day>, --to <day>   two days, in place of a period: 2026-11-01 or 1.11.2026; the first alone is up to now
  --group <id | path>  with everything below it            (default: instance, which is everything)
  --project <id>       in place of a group
  --by <what>          ${SPEND_KEYS.slice(0, 5).join(', ')},
                       ${SPEND_KEYS.slice(5).join(', ')}                     (default: the next level down)
  --top <rows>         so many rows, then other            (default: ${TOP}; hours, days, months: all)
  --no-compare         without the period before
  --csv                the rows as CSV, other with them
  --all                every group at once, each with what its own projects cost, as CSV
  --focus              with --all: as FOCUS 1.2, month by month
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 3 wrong usage`;

const FLAGS = {
  month: 'text',
  period: 'text',
  from: 'text',
  to: 'text',
  group: 'text',
  project: 'text',
  by: 'text',
  top: 'text',
  'no-compare': 'switch',
  csv: 'switch',
  all: 'switch',
  focus: 'switch',
  ...LEDGER_FLAGS,
  ...RULES_FLAGS,
} as const;

/** @param open - tests open a ledger of their own. */
export const spendCommandOn = (open: OpenLedger): Command => ({
  name: 'report spend',
  summary: 'What was spent in any period, beside the one before? By group, project, class, branch, job …',
  help: HELP,
  run: (args, io) => tellSpend(args, io, open),
});

export const spendCommand: Command = spendCommandOn(openLedger);

type SpendValues = ReturnType<typeof readFlags<typeof FLAGS>>['values'];

async function tellSpend(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  check(values);
  const asked = {
    ...periodOf(values),
    ...(values.group !== undefined && { group: values.group }),
    ...(values['no-compare'] && { compare: 'no' as const }),
  };
  await withBooks(open, values, io, async (books) => {
    if (values.all) await tellAll(asked, values.focus === true, books, io);
    else tell(await reportOf(asked, values, books), values, io);
  });
  return EXIT.ok;
}

function check({ month, period, from, to, all, focus, csv, json, by, top, project }: SpendValues): void {
  const spans = [month, period, from ?? to].filter((each) => each !== undefined);
  if (spans.length > 1) throw new UsageError('--month, --period and --from with --to: expected one of them');
  if (month !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
    throw new UsageError(`--month "${month}": expected a month like 2026-10`);
  if (focus && !all) throw new UsageError('--focus: expected with --all');
  if (all && (by ?? top ?? project) !== undefined)
    throw new UsageError('--all: lists every group, so there is no --by, --top or --project');
  if (json && (csv || all)) throw new UsageError('--json: expected without --csv and --all');
}

type SpendAsked = AskedPeriod & { readonly group?: string; readonly compare?: 'no' };

interface AskedPeriod {
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
}

function periodOf({ month, period, from, to }: SpendValues): AskedPeriod {
  if (from !== undefined || to !== undefined)
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return { period: month ?? period ?? 'month' };
}

async function reportOf(
  asked: SpendAsked,
  { by, top, project }: Partial<Pick<SpendValues, 'by' | 'top' | 'project'>>,
  { api, directory }: Pick<BudgetContext, 'api' | 'directory'>,
): Promise<SpendReport> {
  const rows = top === undefined ? TOP : readWhole('top', top, 1, 1_000);
  const query = {
    ...asked,
    top: String(rows),
    ...(project !== undefined && {
      project: String(readWhole('project', project, 1, Number.MAX_SAFE_INTEGER)),
    }),
    ...(by !== undefined && { by: readChoice('by', by, SPEND_KEYS) }),
  };
  const answer = await answerOf(api.report.$get({ query }));
  if (answer.ok) return answer.body;
  throw refusal(answer.status, answer.refused, asked.group, directory);
}

function refusal(
  status: number,
  { error, problems: [problem] = [] }: ApiRefusal,
  group: string | undefined,
  { groupByPath }: BudgetContext['directory'],
): UsageError {
  if (status === 404 && group !== undefined)
    return notInDirectory(`--group ${group}`, group, groupByPath.keys());
  return new UsageError(problem === undefined ? error.message : `--${problem.path[0]}: ${problem.message}`);
}

function tell(report: SpendReport, { json, csv }: SpendValues, io: TerminalIo): void {
  if (json) io.out(`${JSON.stringify(report)}\n`);
  else io.out(csv ? spendCsv(report) : spendText(report, io.columns));
}

/** A thousand groups per request; FOCUS month by month, as bills are. */
async function tellAll(
  asked: SpendAsked,
  isFocus: boolean,
  books: BudgetContext,
  io: TerminalIo,
): Promise<void> {
  if (!isFocus) return tellPages({ ...asked, form: 'groups' }, true, books, io);
  const report = await reportOf({ ...asked, compare: 'no' }, { by: 'month' }, books);
  const { period: _, ...of } = asked;
  for (const [index, month] of monthsIn(report).entries())
    await tellPages({ ...of, ...month, compare: 'no', form: 'focus' }, index === 0, books, io);
}

/** @param isFirst - whether the names of the columns are wanted */
async function tellPages(
  query: SpendAsked & { readonly form: 'groups' | 'focus' },
  isFirst: boolean,
  { api, directory }: BudgetContext,
  io: TerminalIo,
): Promise<void> {
  for (let page: string | null = '0'; page !== null; ) {
    const response: Response = await api['report.csv'].$get({ query: { ...query, page } });
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, JSON.parse(text) as ApiRefusal, query.group, directory);
    io.out(page === '0' && !isFirst ? text.slice(text.indexOf('\n') + 1) : text);
    page = response.headers.get('next-page');
  }
}
