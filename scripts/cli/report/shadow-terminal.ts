import type { ReportJob, ReportRow, ShadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { type ArmedReport, armedSentence, retrySentence } from './armed-report.ts';
import {
  apartSentence,
  money,
  rejectedSentences,
  shadowCount,
  spanText,
  verdictSentence,
} from './shadow-words.ts';

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
  const right = { align: 'right' } as const;
  const text = table(
    [
      { title: 'if armed: group' },
      { title: 'rule' },
      { title: 'limit' },
      { title: 'would fail', ...right },
      { title: 'tried again', ...right },
      { title: 'code' },
      { title: 'e.g.' },
    ],
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
  const right = { align: 'right' } as const;
  const text = table(
    [
      { title: 'group' },
      { title: 'rule' },
      { title: 'mode' },
      { title: 'would fail', ...right },
      { title: 'cost', ...right },
      { title: 'code' },
    ],
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
