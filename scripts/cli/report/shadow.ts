import {
  type ArmedReport,
  type ReportJob,
  type ReportRow,
  type ShadowReport,
  shadowReport,
} from '../../../functions/answers/rollout/shadow-report.ts';
import { csvField, decimal } from '../../../functions/answers/statement/csv.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { PLAYED_GITLAB } from '../../local/options.ts';
import { EXIT, standIn, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { text } from '../../terminal/flags.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { right, table } from '../../terminal/table.ts';
import { LEDGER_EXITS, TABLE_FLAGS } from '../ledger-flags.ts';
import { type LedgerAccess, openLedger } from '../open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { openRulesInForce, RULES_FLAGS } from '../rules-flags.ts';
import { deliver, FORMAT_FLAG, OUT_FLAG, readFormat, terminalOf } from '../statement/deliver.ts';
import { progressOf, watched } from '../truth/progress.ts';
import { shadowHtml } from './shadow-html.ts';
import {
  apartSentence,
  armedSentence,
  money,
  rejectedSentences,
  retrySentence,
  shadowCount,
  spanText,
  verdictSentence,
} from './shadow-words.ts';
import { groupFilter, readSpan, SPAN_HELP } from './span.ts';

const FORMATS = ['terminal', 'csv', 'html'] as const;

const reportShadow = command({
  name: 'report shadow',
  about: `Reports which jobs would have been rejected.

If armed now: which jobs an enabled controller would have failed. The recorded jobs are judged again by the rules and limits
that are enforced now, on counters that leave out refused jobs. Jobs that were rejected and ran all the same are reported
next to it: while the controller is in dry_run, GitLab follows no decision.

By rules and limits that only watch (mode shadow or warn): the same replay, for jobs that pass all that is enforced. Refused
jobs use up no limit here, either.

Limits and groups are those that are live next to the ledger, unless a file is named or nothing is live.`,
  flags: {
    since: text('<time>', `14d, 36h, 2w ago, a day (2026-11-01) or an instant (default: 14d). ${SPAN_HELP}`),
    until: text('<time>', 'the same (default: now)'),
    group: text('<id | path>', 'only jobs of this group and below'),
    format: FORMAT_FLAG(FORMATS),
    out: OUT_FLAG,
    'gitlab-url': text('<url>', 'for links to jobs (default: https://<instance>)', readGitlabUrl),
    ...TABLE_FLAGS,
    ...RULES_FLAGS,
  },
  json: 'the report as one JSON object',
  examples: [
    'tollgate report shadow --since 2w --group acme',
    'tollgate report shadow --format html --out shadow.html',
  ],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage or invalid documents' },
  run: async ({ flags }, io) => {
    const format = readFormat(flags, FORMATS);
    const { out, 'gitlab-url': gitlabUrl } = flags;
    const span = readSpan(flags.since ?? '14d', flags.until, io.nowMs(), rollupZone(io));
    const ledger = await standIn(io, openLedger)(flags, io);
    const report = await reportOn(ledger).finally(ledger.close);
    const rendered = {
      terminal: () => shadowTerminal(report, ...terminalOf(out, io)),
      csv: () => shadowCsv(report),
      html: () => shadowHtml(report),
      json: () => `${JSON.stringify(report)}\n`,
    };
    deliver(rendered[format](), out, io);
    return EXIT.ok;

    async function reportOn(books: LedgerAccess): Promise<ShadowReport> {
      const rules = await openRulesInForce(flags, books, io);
      const group = flags.group === undefined ? undefined : groupFilter(flags.group, rules.directory);
      const made = await shadowReport(watched(books.store, progressOf('items read', io)), {
        ...{ span, rules, ledger: books.description, gitlabUrl: gitlabUrl ?? urlOf(books) },
        ...(group !== undefined && { group }),
      });
      group?.check();
      return made;
    }
  },
});

function readGitlabUrl(given: string): string {
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new UsageError(`--gitlab-url "${given}": expected e.g. https://gitlab.example.com`);
  const { origin, pathname } = new URL(given);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** The GitLab that `npm start` plays has no pages. */
const urlOf = ({ instance, gitlabUrl }: LedgerAccess): string | undefined =>
  instance === PLAYED_GITLAB ? undefined : (gitlabUrl ?? `https://${instance}`);

const COLUMNS = [
  'root',
  'group',
  'rule',
  'class',
  'mode',
  'code',
  'would_fail',
  'cost',
  'currency',
  'first_at',
  'last_at',
  'example_jobs',
] as const;

/**
 * One line per row, RFC 4180. A possible formula gets an apostrophe, because group names are untrusted.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export function shadowCsv(report: ShadowReport): string {
  const lines = [
    COLUMNS,
    ...[...report.ifArmed.rows, ...report.rows].map((row) => fieldsOf(row, report.currency)),
  ];
  return lines.map((fields) => `${fields.map(csvField).join(',')}\r\n`).join('');
}

const fieldsOf = (row: ReportRow, currency: string): readonly string[] => [
  row.root,
  row.group,
  row.rule,
  row.class,
  row.mode,
  row.code,
  String(row.jobs),
  decimal(row.costMicros),
  currency,
  new Date(row.firstAtMs).toISOString(),
  new Date(row.lastAtMs).toISOString(),
  row.examples.map(({ url, jobId }) => url ?? String(jobId)).join(' '),
];

/** Per row; the CSV and the page have more. */
const JOBS_SHOWN = 5;
/** A screen or two: the CSV has all. */
const ROWS_SHOWN = 40;

export function shadowTerminal(raw: ShadowReport, paint: Paint, columns: number): string {
  const report = harmless(raw);
  const { group, zone, ledger, ifArmed, rows, notes } = report;
  const of = group === undefined ? '' : ` of ${group}`;
  const lines = [
    paint.dim(`${spanText(report)}${of}, by ${ledger}`),
    paint.strong(armedSentence(ifArmed)),
    retrySentence(ifArmed),
    ...rejectedSentences(report),
    paint.strong(`${verdictSentence(report)}.`),
    apartSentence(report),
    ...notes.map((note) => paint.warn(note)),
  ].filter((line) => line !== undefined);
  const parts = [`${lines.join('\n')}\n`];
  if (ifArmed.rows.length > 0) parts.push(armedRowsText(ifArmed, paint, columns));
  if (rows.length > 0) parts.push(rowsText(report, paint, columns), jobsText(rows, zone, paint, columns));
  return parts.join('\n');
}

/** One row per group and rule, with the latest jobs below each. */
export function armedRowsText({ rows }: ArmedReport, paint: Paint, columns: number): string {
  const text = table(
    ['if armed: group', 'rule', 'limit', right('would fail'), right('tried again'), 'code', 'e.g.'],
    rows
      .slice(0, ROWS_SHOWN)
      .map((row) => [
        printable(row.group),
        printable(row.rule),
        printable(row.limit ?? ''),
        shadowCount(row.jobs),
        shadowCount(row.repeats),
        row.code,
        row.examples.slice(0, JOBS_SHOWN).map(shortJob).join(' '),
      ]),
    columns,
    paint.dim,
  );
  return rows.length <= ROWS_SHOWN
    ? text
    : `${text}${paint.dim(`… and ${rows.length - ROWS_SHOWN} rows more: --json has them all`)}\n`;
}

const shortJob = ({ jobId, url }: ReportJob): string => url ?? String(jobId);

function rowsText({ rows, currency }: ShadowReport, paint: Paint, columns: number): string {
  const text = table(
    ['group', 'rule', 'mode', right('would fail'), right('cost'), 'code'],
    rows
      .slice(0, ROWS_SHOWN)
      .map((row) => [
        row.group,
        row.rule,
        row.mode,
        shadowCount(row.jobs),
        money(row.costMicros, currency),
        row.code,
      ]),
    columns,
    paint.dim,
  );
  return rows.length <= ROWS_SHOWN
    ? text
    : `${text}${paint.dim(`… and ${rows.length - ROWS_SHOWN} rows more: --format csv has them all`)}\n`;
}

function jobsText(rows: readonly ReportRow[], zone: string, paint: Paint, columns: number): string {
  return rows
    .slice(0, ROWS_SHOWN)
    .filter(({ examples }) => examples.length > 0)
    .map((row) => {
      const shown = row.examples.slice(0, JOBS_SHOWN);
      const title = `${row.group}: ${row.rule} [${row.code}]${shown.length < row.jobs ? `, the latest ${shown.length} of ${shadowCount(row.jobs)}` : ''}`;
      const jobs = shown.map((job) => [
        `  ${instantText(job.decidedAtMs, zone)}`,
        job.jobName ?? '',
        job.url ?? `job ${job.jobId}${job.projectPath === undefined ? '' : ` of ${job.projectPath}`}`,
      ]);
      return `${paint.strong(title)}\n${table([{}, {}, {}], jobs, columns)}`;
    })
    .join('');
}

/** Names of groups and jobs are other people's text; colours come after this. */
const harmless = (report: ShadowReport): ShadowReport =>
  JSON.parse(JSON.stringify(report), (_, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  );

export const commands = [reportShadow];
