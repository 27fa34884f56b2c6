import type { ReportRow, ShadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import { csvField, decimal } from '../../../functions/answers/statement/csv.ts';

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
