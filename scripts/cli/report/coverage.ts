import { COVERAGE_DAYS_MAX, coverageShareText } from '../../../functions/answers/groups/coverage.ts';
import type { CoverageView, CoveredRunnerRow } from '../../../functions/answers/groups/model.ts';
import { hasOthers, SPEND_KEYS, type SpendReport } from '../../../functions/answers/report/model.ts';
import { queueText, retriesText, spendCsv } from '../../../functions/answers/report/spend-text.ts';
import { durationText, moneyText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { choice, command, orElse, print, text, toggle, whole } from '../../terminal/define.ts';
import { amounts, printable, right, type Screen, textLines, wrapped } from '../../terminal/table.ts';
import { allPages, answerOf, readInProcess } from '../api/answers.ts';
import { type BudgetContext, withBudget, withTable } from '../api/open-api.ts';
import { BUDGET_FLAGS, knownSubject } from '../budget/arguments.ts';
import { LEDGER_EXITS } from '../ledger-flags.ts';
import { SOURCE_FLAGS } from '../rules-flags.ts';
import { shadowCount } from './shadow-words.ts';
import { refusedFlag } from './span.ts';

const PAGE_RUNNERS = 1_000;
const ROWS_SHOWN = 40;

const coverage = command({
  name: 'coverage',
  about: `By group and by runner, with a remedy for each runner that passes by. A job counts on the day it was decided, after GitLab has
reported its end; jobs out of the controller's scope count nowhere. A console knows the runners' versions, and the remedy is the
one of that version.`,
  flags: {
    group: text('<group>', "only this group and below: a path or GitLab's id"),
    days: orElse(
      text('<n>', `days back from today, 1 to ${COVERAGE_DAYS_MAX}`, whole(1, COVERAGE_DAYS_MAX)),
      7,
    ),
    all: toggle(`every runner and group, not only the first ${ROWS_SHOWN} that jobs passed by on`),
    ...BUDGET_FLAGS,
  },
  examples: ['tollgate coverage --group acme --days 30'],
  exits: { 0: 'every job was asked about', 2: 'some passed by' },
  run: ({ flags }, io) =>
    withBudget(flags, io, async (budget) => {
      const subject = await knownSubject(flags.group ?? 'instance', budget);
      const [kind, id = ''] = subject.split('/');
      if (kind !== 'group' && kind !== 'instance')
        throw new UsageError(`--group "${flags.group}": expected a group`);
      const group = kind === 'group' && { group: id };
      const query = { days: String(flags.days), max: String(PAGE_RUNNERS), ...group };
      const pages = await allPages((from) =>
        readInProcess(budget.api.coverage.$get({ query: { ...query, ...from } })),
      );
      const { next: _next, ...first } = pages[0];
      const view = { ...first, runners: pages.flatMap(({ runners }) => runners) };
      print(io, flags, view, (screen) => coverageText(view, flags.all, screen));
      return view.total.bypass > 0 ? EXIT.wouldReject : EXIT.ok;
    }),
});

function coverageText(view: CoverageView, all: boolean, screen: Screen): string {
  const { total, path, fromDay, toDay, note, runnersTotal, runnersBypassing } = view;
  const head = `${screen.strong(printable(path))}  ${screen.dim(`${fromDay} to ${toDay}`)}\n`;
  if (total.ran === 0) return `${head}No job has ended in these days.\n`;
  const share = (total.bypass === 0 ? screen.good : screen.warn)(coverageShareText(total.share));
  const asking = runnersTotal - runnersBypassing;
  const lines = [
    `${share} of the jobs that ran were asked about: ${shadowCount(total.asked)} of ${shadowCount(total.ran)}.`,
    total.bypass > 0 &&
      `${shadowCount(total.bypass)} bypassed Tollgate, the last on ${total.lastBypassDay}; they were charged, not checked.`,
    total.ranRejected > 0 &&
      `${shadowCount(total.ranRejected)} ran although rejected: see tollgate report shadow.`,
    note !== undefined && screen.bad(note),
    asking > 0 && `${shadowCount(asking)} of ${shadowCount(runnersTotal)} runners ask about every job.`,
  ];
  const shown = all ? view.groups : view.groups.filter(({ bypass }) => bypass > 0).slice(0, ROWS_SHOWN);
  const groups = shown.map((row) => [printable(row.path), ...shareCells(row)]);
  return [
    head,
    textLines(lines.map((line) => line && wrapped(line, screen.columns))),
    runnersText(view, all, screen),
    groups.length === 0 ? '' : `\n${screen.table(['group', ...SHARES], groups)}`,
  ].join('');
}

const SHARES = [right('passed by'), right('asked'), right('ran'), right('share'), 'last'];

type Coverage = Pick<CoveredRunnerRow, 'bypass' | 'asked' | 'ran' | 'lastBypassDay'>;

const shareCells = ({ bypass, asked, ran, lastBypassDay = '' }: Coverage): readonly string[] => [
  ...[bypass, asked, ran].map(shadowCount),
  ...[coverageShareText(asked / ran), lastBypassDay],
];

function runnersText(view: CoverageView, all: boolean, screen: Screen): string {
  const { unknownRunner, otherRunners } = view;
  const bypassing = view.runners.filter(({ bypass }) => bypass > 0);
  const shown = all ? view.runners : bypassing.slice(0, ROWS_SHOWN);
  const apart = [
    { what: 'GitLab did not name', ...unknownRunner },
    { what: 'not split', ...otherRunners },
  ].filter(({ bypass }) => bypass > 0);
  if (shown.length + apart.length === 0) return '';
  const rows = [
    ...shown.map(({ runnerId, description = '', version = 'not known', ...jobs }) => [
      ...[printable(`${runnerId} ${description}`.trim()), printable(version), ...shareCells(jobs)],
    ]),
    ...apart.map(({ what, ...jobs }) => [what, '', ...shareCells(jobs)]),
  ];
  const more = bypassing.length - shown.length;
  return [
    `\n${screen.table(['runner', 'version', ...SHARES], rows)}`,
    more > 0 ? screen.dim(`… and ${shadowCount(more)} more: --all shows them\n`) : '',
    remediesText(shown, screen),
  ].join('');
}

const remediesText = (rows: readonly CoveredRunnerRow[], { columns }: Screen): string =>
  [...Map.groupBy(rows, ({ remedy }) => remedy)]
    .flatMap(([remedy, runners]) => {
      if (remedy === undefined) return [];
      const who = `${runners.length === 1 ? 'Runner' : 'Runners'} ${runners.map(({ runnerId }) => runnerId).join(', ')}`;
      return `\n${wrapped(`${who}: ${printable(remedy)}`, columns, '  ')}\n`;
    })
    .join('');

const TOP = 20;

const reportSpend = command({
  name: 'report spend',
  about: `The most expensive rows are listed, the others are one row, and all add up to what the jobs of these days are charged. A current
period is compared with as many days of the one before.`,
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
    ...SOURCE_FLAGS,
  },
  examples: [
    'tollgate report spend --group acme --period last-month --by project',
    'tollgate report spend --all --period 2026-q4 > groups.csv',
  ],
  exits: LEDGER_EXITS,
  run: async ({ flags }, io) => {
    const { group, month, period, from, to, by, top, project, all, csv } = flags;
    const spans = [month, period, from ?? to].filter((each) => each !== undefined);
    if (spans.length > 1) throw new UsageError('--month, --period and --from with --to: expected one');
    if (month !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
      throw new UsageError(`--month "${month}": expected a month like 2026-10`);
    if (all && (by ?? top ?? project) !== undefined)
      throw new UsageError('--all: lists every group, so there is no --by, --top or --project');
    if (flags.json && (csv || all)) throw new UsageError('--json: expected without --csv and --all');
    const span = {
      ...withoutAbsent({ from, to, period: month ?? period, group }),
      ...(flags['no-compare'] && { compare: 'no' as const }),
    };
    await withTable(flags, io, async (books) => {
      if (all) return printAll(span, books, io);
      const rows = withoutAbsent({ by, project: project?.toString() });
      const query = { ...span, ...rows, top: String(top ?? TOP) };
      const answer = await answerOf(books.api.report.$get({ query }));
      if (!answer.ok) throw refusedFlag(answer, group, books.directory);
      const report = answer.body;
      print(io, flags, report, (screen) => (csv ? spendCsv(report) : spendText(report, screen)));
    });
    return EXIT.ok;
  },
});

type SpendAsked = Partial<Readonly<Record<'period' | 'from' | 'to' | 'group', string>>> & {
  readonly compare?: 'no';
};

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

function spendText(report: SpendReport, screen: Screen): string {
  const { path, fromDay, toDay, before, currency, notes, total } = report;
  const compared = before === undefined ? '' : ` beside ${before.fromDay} to ${before.toDay}`;
  return [
    `${printable(path)}, ${fromDay} to ${toDay}${compared}, ${currency}\n\n`,
    rowsText(report, screen),
    total.jobs === 0 ? '' : `\n${retriesText(report)}\n${queueText(report)}\n`,
    ...notes.map((note) => `\n${note}\n`),
  ].join('');
}

function rowsText({ rows, other, total, by, before }: SpendReport, screen: Screen): string {
  const cells = (name: string, row: SpendReport['total']): readonly string[] => {
    const was = row.before?.micros ?? 0;
    const percent = was > 0 ? `${Math.round((row.micros / was - 1) * 100)} %` : '';
    const change = row.before === undefined ? [] : [moneyText(was), moneyText(row.micros - was), percent];
    return [
      ...[name, String(row.jobs), String(row.rejected)],
      ...[durationText(Math.round(row.seconds)), moneyText(row.micros), ...change],
    ];
  };
  const compared = before === undefined ? [] : [amounts('before'), amounts('change'), right('')];
  return screen.table(
    [by, right('jobs'), right('rejected'), right('ran'), amounts('spent'), ...compared],
    [
      ...rows.map((row) => cells(row.name === '' ? 'no class' : printable(row.name), row)),
      ...(hasOthers({ other }) ? [cells(printable(other.label.toLowerCase()), other)] : []),
      cells('total', total),
    ],
  );
}

export const commands = [coverage, reportSpend];
