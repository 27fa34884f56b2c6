import {
  type ArmedReport,
  type ReportRow,
  type ShadowReport,
  shadowReport,
} from '../../../functions/answers/rollout/shadow-report.ts';
import { csv, csvField, decimal } from '../../../functions/answers/statement/csv.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { PLAYED_GITLAB } from '../../local/options.ts';
import { EXIT } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { text } from '../../terminal/flags.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { firstRows, right, table } from '../../terminal/table.ts';
import { LEDGER_EXITS, TABLE_FLAGS } from '../ledger-flags.ts';
import { type LedgerAccess, openLedger, withOpened } from '../open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { openRulesInForce, RULES_FLAGS } from '../rules-flags.ts';
import { deliver, FORMAT_FLAG, OUT_FLAG, readFormat, terminalOf } from '../statement/deliver.ts';
import { progressOf, watched } from '../truth/progress.ts';
import { armedSentence, money, shadowCount, spanText, watchedSentence } from './shadow-words.ts';
import { groupFilter, readSpan, SPAN_HELP } from './span.ts';

const FORMATS = ['terminal', 'csv'] as const;

const reportShadow = command({
  name: 'report shadow',
  about: `Reports which jobs would have been rejected.

If armed now: which jobs an enabled controller would have failed. The recorded jobs are judged again by the rules and limits
that are enforced now, on counters that leave out refused jobs. Jobs that were rejected and ran all the same are reported
next to it: while the controller is in dry_run, GitLab follows no decision.

By rules and limits that only watch (mode shadow or warn): the same replay, for jobs that pass all that is enforced.

Limits and groups are those that are live next to the ledger, unless a file is named or nothing is live.`,
  flags: {
    since: text('<time>', `14d, 36h, 2w ago, a day (2026-11-01) or an instant (default: 14d). ${SPAN_HELP}`),
    until: text('<time>', 'the same (default: now)'),
    group: text('<id | path>', 'only jobs of this group and below'),
    format: FORMAT_FLAG(FORMATS),
    out: OUT_FLAG,
    ...TABLE_FLAGS,
    ...RULES_FLAGS,
  },
  json: 'the report as one JSON object',
  examples: ['tollgate report shadow --since 2w --group acme'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage or invalid documents' },
  run: async ({ flags }, io) => {
    const format = readFormat(flags, FORMATS);
    const { out } = flags;
    const span = readSpan(flags.since ?? '14d', flags.until, io.nowMs(), rollupZone(io));
    const report = await withOpened(openLedger, flags, io, async (books) => {
      const rules = await openRulesInForce(flags, books, io);
      return shadowReport(watched(books.store, progressOf('items read', io)), {
        ...{ span, rules, ledger: books.description, gitlabUrl: urlOf(books) },
        ...groupFilter(flags.group, rules.directory),
      });
    });
    const rendered = {
      terminal: () => shadowTerminal(report, ...terminalOf(out, io)),
      csv: () => shadowCsv(report),
      json: () => `${JSON.stringify(report)}\n`,
    };
    deliver(rendered[format](), out, io);
    return EXIT.ok;
  },
});

/** The GitLab that `npm start` plays has no pages. */
const urlOf = ({ instance, gitlabUrl }: LedgerAccess): string | undefined =>
  instance === PLAYED_GITLAB ? undefined : (gitlabUrl ?? `https://${instance}`);

const COLUMNS = [
  ...['root', 'group', 'rule', 'class', 'mode', 'code', 'would_fail', 'cost', 'currency'],
  ...['first_at', 'last_at', 'example_jobs'],
];

const shadowCsv = ({ ifArmed, rows, currency }: ShadowReport): string =>
  csv([
    COLUMNS,
    ...[...ifArmed.rows, ...rows].map((row) => [
      ...[row.root, row.group, row.rule, row.class, row.mode, row.code].map(csvField),
      ...[String(row.jobs), decimal(row.costMicros), currency],
      ...[row.firstAtMs, row.lastAtMs].map((atMs) => new Date(atMs).toISOString()),
      csvField(row.examples.map(({ url, jobId }) => url ?? String(jobId)).join(' ')),
    ]),
  ]);

const JOBS_SHOWN = 5;

function shadowTerminal(report: ShadowReport, paint: Paint, columns: number): string {
  const { group, zone, currency, ledger, ifArmed, rows } = report;
  const of = group === undefined ? '' : ` of ${printable(group)}`;
  const { ranRejected } = ifArmed;
  const lines = [
    paint.dim(`${spanText(report)}${of}, by ${printable(ledger)}`),
    paint.strong(armedSentence(ifArmed)),
    ranRejected > 0 &&
      `${shadowCount(ranRejected)} ${ranRejected === 1 ? 'job' : 'jobs'} ran although rejected: the controller was in dry_run and GitLab followed no answer, or they passed it by.`,
    paint.strong(watchedSentence(report)),
  ];
  const shape = { width: columns, dim: paint.dim, all: '--format csv' };
  const cells = rows.map((row) => [
    ...[printable(row.group), printable(row.rule), row.mode, shadowCount(row.jobs)],
    ...[money(row.costMicros, currency), row.code],
  ]);
  const titles = ['group', 'rule', 'mode', right('would fail'), right('cost'), 'code'];
  return [
    `${lines.filter(Boolean).join('\n')}\n`,
    ...(ifArmed.rows.length > 0 ? [armedRowsText(ifArmed, paint, columns)] : []),
    ...(rows.length > 0 ? [firstRows(titles, cells, shape), jobsText(rows, zone, paint, columns)] : []),
  ].join('\n');
}

export function armedRowsText({ rows }: ArmedReport, paint: Paint, columns: number): string {
  const lines = rows.map(({ group, rule, limit = '', jobs, code, examples }) => [
    ...[group, rule, limit].map(printable),
    ...[shadowCount(jobs), code],
    examples
      .slice(0, JOBS_SHOWN)
      .map(({ jobId, url }) => printable(url ?? String(jobId)))
      .join(' '),
  ]);
  const titles = ['if armed: group', 'rule', 'limit', right('would fail'), 'code', 'e.g.'];
  return firstRows(titles, lines, { width: columns, dim: paint.dim });
}

const jobsText = (rows: readonly ReportRow[], zone: string, paint: Paint, columns: number): string =>
  rows
    .map(({ group, rule, code, examples }) => {
      const jobs = examples
        .slice(0, JOBS_SHOWN)
        .map(({ decidedAtMs, jobName = '', url, jobId, projectPath = '' }) => [
          `  ${instantText(decidedAtMs, zone)}`,
          ...[jobName, url ?? `job ${jobId} ${projectPath}`].map(printable),
        ]);
      return `${paint.strong(printable(`${group}: ${rule} [${code}]`))}\n${table([{}, {}, {}], jobs, columns)}`;
    })
    .join('');

export const commands = [reportShadow];
