import { type BacktestFigures, backtest } from '../../../functions/answers/backtest/backtest.ts';
import { groupLabelOf, limitLabel } from '../../../functions/answers/reading/scope.ts';
import {
  type ArmedReport,
  type ReportRow,
  type ShadowReport,
  shadowReport,
  type ZonedSpan,
} from '../../../functions/answers/rollout/shadow-report.ts';
import { csv, csvField, decimal } from '../../../functions/answers/statement/csv.ts';
import type { Directory } from '../../../policies/directory.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { PLAYED_GITLAB } from '../../local/options.ts';
import { command, print, text } from '../../terminal/define.ts';
import { amounts, printable, right, type Screen, textLines } from '../../terminal/table.ts';
import { LEDGER_EXITS, rollupZone } from '../ledger-flags.ts';
import { type LedgerAccess, openLedger, withOpened } from '../open-ledger.ts';
import { openRulesInForce, readRules } from '../read-rules.ts';
import { progressOf, watched } from '../reconcile/progress.ts';
import { TABLE_SOURCE_FLAGS } from '../rules-flags.ts';
import { deliverAs, deliveryFlags } from '../statement/deliver.ts';
import { armedSentence, money, shadowCount, spanText, watchedSentence } from './shadow-words.ts';
import { groupFilter, readSpan, SPAN_HELP } from './span.ts';

const FORMATS = {
  terminal: shadowTerminal,
  csv: ({ ifArmed, rows, currency }: ShadowReport) =>
    csv([
      COLUMNS,
      ...[...ifArmed.rows, ...rows].map((row) => [
        ...[row.root, row.group, row.rule, row.class, row.mode, row.code].map(csvField),
        ...[String(row.jobs), decimal(row.costMicros), currency],
        ...[row.firstAtMs, row.lastAtMs].map((atMs) => new Date(atMs).toISOString()),
        csvField(row.examples.map(({ url, jobId }) => url ?? String(jobId)).join(' ')),
      ]),
    ]),
};

const reportShadow = command({
  name: 'report shadow',
  about: `The recorded jobs are judged again by the rules and limits
that are enforced now, on counters that leave out refused jobs. Jobs that were rejected and ran all the same are reported
next to it: while the controller is in dry_run, GitLab follows no decision.

By rules and limits that only watch (mode shadow or warn): the same replay, for jobs that pass all that is enforced.

Limits and groups are those that are live next to the ledger, unless a file is named or nothing is live.`,
  flags: {
    since: text('<time>', `14d, 36h, 2w ago, a day (2026-11-01) or an instant (default: 14d). ${SPAN_HELP}`),
    until: text('<time>', 'the same (default: now)'),
    group: text('<id | path>', 'only jobs of this group and below'),
    ...deliveryFlags(FORMATS),
    ...TABLE_SOURCE_FLAGS,
  },
  examples: ['tollgate report shadow --since 2w --group acme'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage or invalid documents' },
  run: async ({ flags }, io) => {
    const span = readSpan(flags.since ?? '14d', flags.until, io.nowMs(), rollupZone(io));
    const read = async (books: LedgerAccess) => {
      const rules = await openRulesInForce(flags, books, io);
      return shadowReport(watched(books.store, progressOf('items read', io)), {
        ...{ span, rules, ledger: books.description, gitlabUrl: gitlabUrlOf(books) },
        ...groupFilter(flags.group, rules.directory),
      });
    };
    return deliverAs(FORMATS, flags, io, () => withOpened(openLedger, flags, io, read));
  },
});

/** The GitLab that `npm start` plays has no pages. */
const gitlabUrlOf = ({ instance, gitlabUrl }: LedgerAccess): string | undefined =>
  instance === PLAYED_GITLAB ? undefined : (gitlabUrl ?? `https://${instance}`);

const COLUMNS = [
  ...['root', 'group', 'rule', 'class', 'mode', 'code', 'would_fail', 'cost', 'currency'],
  ...['first_at', 'last_at', 'example_jobs'],
];

const JOBS_SHOWN = 5;

function shadowTerminal(report: ShadowReport, screen: Screen): string {
  const { group, zone, currency, ledger, ifArmed, rows } = report;
  const of = group === undefined ? '' : ` of ${printable(group)}`;
  const { ranRejected } = ifArmed;
  const lines = [
    screen.dim(`${spanText(report)}${of}, by ${printable(ledger)}`),
    screen.strong(armedSentence(ifArmed)),
    ranRejected > 0 &&
      `${shadowCount(ranRejected)} ${ranRejected === 1 ? 'job' : 'jobs'} ran although rejected: the controller was in dry_run and GitLab followed no answer, or they passed it by.`,
    screen.strong(watchedSentence(report)),
  ];
  const cells = rows.map((row) => [
    ...[printable(row.group), printable(row.rule), row.mode, shadowCount(row.jobs)],
    ...[money(row.costMicros, currency), row.code],
  ]);
  const titles = ['group', 'rule', 'mode', right('would fail'), right('cost'), 'code'];
  return [
    textLines(lines),
    ...(ifArmed.rows.length > 0 ? [armedRowsText(ifArmed, screen)] : []),
    ...(rows.length > 0
      ? [screen.firstRows(titles, cells, { all: '--format csv' }), jobsText(rows, zone, screen)]
      : []),
  ].join('\n');
}

export function armedRowsText({ rows }: ArmedReport, screen: Screen): string {
  const lines = rows.map(({ group, rule, limit = '', jobs, code, examples }) => [
    ...[group, rule, limit].map(printable),
    ...[shadowCount(jobs), code],
    examples
      .slice(0, JOBS_SHOWN)
      .map(({ jobId, url }) => printable(url ?? String(jobId)))
      .join(' '),
  ]);
  const titles = ['if armed: group', 'rule', 'limit', right('would fail'), 'code', 'e.g.'];
  return screen.firstRows(titles, lines);
}

const jobsText = (rows: readonly ReportRow[], zone: string, screen: Screen): string =>
  rows
    .map(({ group, rule, code, examples }) => {
      const jobs = examples
        .slice(0, JOBS_SHOWN)
        .map(({ decidedAtMs, jobName = '', url, jobId, projectPath = '' }) => [
          `  ${instantText(decidedAtMs, zone)}`,
          ...[jobName, url ?? `job ${jobId} ${projectPath}`].map(printable),
        ]);
      return `${screen.strong(printable(`${group}: ${rule} [${code}]`))}\n${screen.table([{}, {}, {}], jobs)}`;
    })
    .join('');

const backtestCommand = command({
  name: 'backtest',
  about: `In the order they were decided, on separate counters: which would have been rejected, by what, and what all would have cost. A
job that would not have run takes no room of those after it. It only reads: no counter is changed.`,
  flags: {
    since: text('<time>', `14d, 36h, 8w ago, a day (2026-10-01) or an instant (default: 60d). ${SPAN_HELP}`),
    until: text('<time>', 'the same (default: now)'),
    group: text('<id | path>', 'counts only jobs of this group and below'),
    ...TABLE_SOURCE_FLAGS,
  },
  examples: ['tollgate backtest --limits next-year.yaml --since 30d --group acme'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage or invalid documents' },
  run: async ({ flags }, io) => {
    const span = readSpan(flags.since ?? '60d', flags.until, io.nowMs(), rollupZone(io));
    const rules = readRules(flags, io);
    const { counts, ...of } = groupFilter(flags.group, rules.directory);
    const progress = progressOf('jobs replayed', io);
    const request = { ...span, rules, counts, onJob: progress.step };
    const result = await withOpened(openLedger, flags, io, async ({ store, description: ledger }) => {
      const figures = await backtest(store, request).finally(progress.done);
      const { currency, version: policyVersion } = rules.policy;
      return {
        ...{ ...span, ...figures, ledger, ...of, currency, policyVersion },
        ...{ limitsVersion: rules.limits.version, notes: backtestNotes(figures) },
      };
    });
    return print(io, flags, result, (screen) => backtestText(result, rules.directory, screen));
  },
});

export type BacktestResult = BacktestFigures &
  ZonedSpan &
  Readonly<Record<'ledger' | 'currency' | 'policyVersion' | 'limitsVersion', string>> & {
    readonly group?: string;
    readonly notes: readonly string[];
  };

const ALWAYS_SO =
  'A job that runs now and did not then is taken to last as long as it was estimated. People may have tried again what was rejected: both tries are counted.';

function backtestNotes({
  unrecorded,
  variablesLost,
  unasked,
  waitedNow,
}: BacktestFigures): readonly string[] {
  const notes = [
    [waitedNow, 'Jobs that would wait for room first, and run'],
    [unrecorded, 'Jobs judged without image and ref, because their admission request is not stored'],
    [variablesLost, 'Jobs whose variables are not stored: rules on variables keep their earlier result'],
    [unasked, 'Jobs that were never asked about (unmetered, bypass): they use up limits and are not judged'],
  ] as const;
  return [
    ...notes.flatMap(([jobs, what]) => (jobs > 0 ? [`${what}: ${shadowCount(jobs)}.`] : [])),
    ALWAYS_SO,
  ];
}

function backtestText(result: BacktestResult, directory: Directory, screen: Screen): string {
  const { currency, group, ledger, notes, groups, rejections, estimatedMicros } = result;
  const of = group === undefined ? '' : ` of ${printable(group)}`;
  const estimated = estimatedMicros === 0 ? '' : `, of it ${money(estimatedMicros, currency)} only estimated`;
  const head = [
    screen.dim(`${spanText(result)}${of}, by ${printable(ledger)}`),
    screen.strong(
      `${shadowCount(result.rejectedNow)} of ${shadowCount(result.jobs)} jobs would be rejected; ${shadowCount(result.rejectedThen)} were.`,
    ),
    `${shadowCount(result.newlyRejected)} are new, ${shadowCount(result.newlyAdmitted)} would run instead.`,
    `Cost ${money(result.nowMicros, currency)} instead of ${money(result.thenMicros, currency)}${estimated}.`,
    ...notes.map((note) => screen.dim(note)),
  ];
  const counts = ['jobs', 'rejected', 'would be'].map(right);
  const groupTitles = ['group', ...counts, amounts('cost'), amounts('would be')];
  const reasons = ['would be rejected in', 'rule', 'limit', 'code'];
  const rejectionTitles = [...reasons, right('jobs'), right('new'), 'e.g.'];
  const groupRows = groups.map((row) => [
    printable(groupLabelOf(row, directory)),
    ...[row.jobs, row.rejectedThen, row.rejectedNow].map(shadowCount),
    ...[row.thenMicros, row.nowMicros].map((micros) => money(micros, currency)),
  ]);
  const rejectionRows = rejections.map((row) => [
    ...[groupLabelOf(row, directory), row.rule].map(printable),
    printable(row.limit === undefined ? '' : limitLabel(row.limit, directory)),
    ...[row.code, shadowCount(row.jobs), shadowCount(row.newly), row.examples.slice(0, 3).join(' ')],
  ]);
  return [
    `${head.join('\n')}\n`,
    ...(groups.length > 0 ? [screen.firstRows(groupTitles, groupRows)] : []),
    ...(rejections.length > 0 ? [screen.firstRows(rejectionTitles, rejectionRows)] : []),
  ].join('\n');
}

export const commands = [reportShadow, backtestCommand];
