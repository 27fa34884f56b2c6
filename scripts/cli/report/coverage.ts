import { COVERAGE_DAYS_MAX, coverageShareText } from '../../../functions/answers/groups/coverage.ts';
import type { CoverageView, CoveredRunnerRow } from '../../../functions/answers/groups/model.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { orElse, text, toggle, whole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { right, table, wrapped } from '../../terminal/table.ts';
import { allPages, answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { BUDGET_FLAGS, knownSubject } from '../budget/arguments.ts';
import { shadowCount } from './shadow-words.ts';

const PAGE_RUNNERS = 1_000;
const ROWS_SHOWN = 40;

const coverage = command({
  name: 'coverage',
  about: `Shows the share of jobs that GitLab asked about before they ran: in all, by group and by runner, with a remedy for each
runner that passes by. A job counts on the day it was decided, after GitLab has reported its end; jobs out of the
controller's scope count nowhere. A console knows the runners' versions, and the remedy is the one of that version.`,
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
      const asked = {
        ...{ days: String(flags.days), max: String(PAGE_RUNNERS) },
        ...(kind === 'group' && { group: id }),
      };
      const pages = await allPages((from) =>
        answeredInProcess(budget.api.coverage.$get({ query: { ...asked, ...from } })),
      );
      const { next: _next, ...first } = pages[0];
      const view = { ...first, runners: pages.flatMap(({ runners }) => runners) };
      print(io, flags, view, () => coverageText(view, flags.all, io));
      return view.total.bypass > 0 ? EXIT.wouldReject : EXIT.ok;
    }),
});

function coverageText(view: CoverageView, all: boolean, io: TerminalIo): string {
  const paint = paintWhen(io.colours);
  const { total, path, fromDay, toDay, note, runnersTotal, runnersBypassing } = view;
  const head = `${paint.strong(printable(path))}  ${paint.dim(`${fromDay} to ${toDay}`)}\n`;
  if (total.ran === 0) return `${head}No job has ended in these days.\n`;
  const share = (total.bypass === 0 ? paint.good : paint.warn)(coverageShareText(total.share));
  const asking = runnersTotal - runnersBypassing;
  const lines = [
    `${share} of the jobs that ran were asked about: ${shadowCount(total.asked)} of ${shadowCount(total.ran)}.`,
    total.bypass > 0 &&
      `${shadowCount(total.bypass)} passed by, the last on ${total.lastBypassDay}; they are charged.`,
    total.ranRejected > 0 &&
      `${shadowCount(total.ranRejected)} ran although rejected: see tollgate report shadow.`,
    note !== undefined && paint.bad(note),
    asking > 0 && `${shadowCount(asking)} of ${shadowCount(runnersTotal)} runners ask about every job.`,
  ];
  return [
    head,
    ...lines.flatMap((line) => (line === false ? [] : `${wrapped(line, io.columns)}\n`)),
    runnersText(view, all, io, paint),
    groupsText(view, all, io, paint),
  ].join('');
}

const SHARES = [right('passed by'), right('asked'), right('ran'), right('share'), 'last'];

const shareCells = ({
  bypass,
  asked,
  ran,
  lastBypassDay = '',
}: Pick<CoveredRunnerRow, 'bypass' | 'asked' | 'ran' | 'lastBypassDay'>) => [
  ...[bypass, asked, ran].map(shadowCount),
  ...[coverageShareText(asked / ran), lastBypassDay],
];

function runnersText(view: CoverageView, all: boolean, io: TerminalIo, paint: Paint): string {
  const { unknownRunner, otherRunners } = view;
  const bypassing = view.runners.filter(({ bypass }) => bypass > 0);
  const shown = all ? view.runners : bypassing.slice(0, ROWS_SHOWN);
  const apart = [
    { what: 'GitLab did not name', ...unknownRunner },
    { what: 'not told apart', ...otherRunners },
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
    `\n${table(['runner', 'version', ...SHARES], rows, io.columns, paint.dim)}`,
    more > 0 ? paint.dim(`… and ${shadowCount(more)} more: --all shows them\n`) : '',
    remediesText(shown, io.columns),
  ].join('');
}

const remediesText = (rows: readonly CoveredRunnerRow[], columns: number): string =>
  [...Map.groupBy(rows, ({ remedy }) => remedy)]
    .flatMap(([remedy, runners]) => {
      if (remedy === undefined) return [];
      const who = `${runners.length === 1 ? 'Runner' : 'Runners'} ${runners.map(({ runnerId }) => runnerId).join(', ')}`;
      return `\n${wrapped(`${who}: ${printable(remedy)}`, columns, '  ')}\n`;
    })
    .join('');

function groupsText({ groups }: CoverageView, all: boolean, io: TerminalIo, paint: Paint): string {
  const shown = all ? groups : groups.filter(({ bypass }) => bypass > 0).slice(0, ROWS_SHOWN);
  if (shown.length === 0) return '';
  const rows = shown.map(({ path, ...jobs }) => [printable(path), ...shareCells(jobs)]);
  return `\n${table(['group', ...SHARES], rows, io.columns, paint.dim)}`;
}

export const commands = [coverage];
