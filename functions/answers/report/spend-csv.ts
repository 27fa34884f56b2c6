/** A report and a list of all groups as CSV: the amounts of a column add up, so there is no line of totals. */
import { csv, csvField, decimal } from '../statement/csv-text.ts';
import { hasOthers, type SpendFigures, type SpendList, type SpendReport } from './model.ts';

const COUNTS = [
  ['rejected', 'rejected'],
  ['ranRejected', 'ran_rejected'],
  ['neverRan', 'never_ran'],
  ['endUnknown', 'end_unknown'],
  ['unmetered', 'unmetered'],
  ['bypass', 'bypass'],
  ['exempt', 'exempt'],
  ['estimated', 'estimated'],
  ['overEstimate', 'over_estimate'],
  ['ran', 'ran'],
  ['retriesKnown', 'retries_known'],
  ['retries', 'retries'],
  ['retryMicros', 'retry_cost'],
  ['queuedKnown', 'queued_known'],
  ['queuedSeconds', 'queued_seconds'],
] as const satisfies readonly (readonly [keyof SpendFigures, string])[];

const counts = (row: SpendFigures): readonly string[] =>
  COUNTS.map(([name]) => (name === 'retryMicros' ? decimal(row[name]) : String(row[name])));

/** The rows with `other` as the last one. */
export function spendCsv(report: SpendReport): string {
  const { fromDay, toDay, by, currency, rows, other } = report;
  const all = [...rows, ...(hasOthers(report) ? [{ ...other, name: other.label }] : [])];
  return csv([
    [
      'from',
      'to',
      by,
      'jobs',
      'seconds',
      'cost',
      'held',
      'cost_before',
      'currency',
      ...COUNTS.map(([, name]) => name),
    ],
    ...all.map((row) => [
      ...[fromDay, toDay, csvField(row.name), String(row.jobs), String(row.seconds)],
      ...[decimal(row.micros), decimal(row.heldMicros)],
      ...[row.before === undefined ? '' : decimal(row.before.micros), currency],
      ...counts(row),
    ]),
  ]);
}

/** Every group once, with what its own projects cost. @param isFirst - whether the names of the columns come first */
export function groupsCsv({ fromDay, toDay, currency, lines }: SpendList, isFirst: boolean): string {
  const head = [
    ...['from', 'to', 'group', 'group_id', 'top_level_group', 'jobs', 'seconds', 'cost', 'held'],
    ...['cost_with_subgroups', 'cost_before', 'currency', ...COUNTS.map(([, name]) => name)],
  ];
  return csv([
    ...(isFirst ? [head] : []),
    ...lines.map((line) => [
      ...[fromDay, toDay, csvField(line.path), String(line.groupId ?? ''), csvField(line.rootPath ?? '')],
      ...[String(line.jobs), String(line.seconds), decimal(line.micros), decimal(line.heldMicros)],
      ...[decimal(line.withBelowMicros), decimal(line.beforeMicros), currency],
      ...counts(line),
    ]),
  ]);
}
