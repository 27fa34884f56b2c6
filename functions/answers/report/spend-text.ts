/** A report and a list of all groups as CSV: the amounts of a column add up, so there is no line of totals. */

import { amountText, counted, countText, durationText } from '../../../policies/unit-texts.ts';
import { emptySum } from '../../core/sheets/sheet-rows.ts';
import { csv, csvField, decimal } from '../statement/csv.ts';
import { hasOthers, type SpendFigures, type SpendReport } from './model.ts';
import { figuresOf } from './read-spend.ts';
import type { SpendList } from './report.ts';

const { micros: _, heldMicros: _held, jobs: _jobs, seconds: _seconds, ...NO_COUNTS } = figuresOf(emptySum());
const COUNTS = Object.keys(NO_COUNTS) as readonly (keyof typeof NO_COUNTS)[];
const COUNT_COLUMNS = COUNTS.map((name) =>
  name === 'retryMicros' ? 'retry_cost' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

const counts = (row: SpendFigures): readonly string[] =>
  COUNTS.map((name) => (name === 'retryMicros' ? decimal(row[name]) : String(row[name])));

const costs = ({ jobs, seconds, micros, heldMicros }: SpendFigures): readonly string[] => [
  ...[String(jobs), String(seconds), decimal(micros), decimal(heldMicros)],
];

export function spendCsv(report: SpendReport): string {
  const { fromDay, toDay, by, currency, rows, other } = report;
  const all = [...rows, ...(hasOthers(report) ? [{ ...other, name: other.label }] : [])];
  return csv([
    ['from', 'to', by, 'jobs', 'seconds', 'cost', 'held', 'cost_before', 'currency', ...COUNT_COLUMNS],
    ...all.map((row) => [
      ...[fromDay, toDay, csvField(row.name), ...costs(row)],
      ...[row.before === undefined ? '' : decimal(row.before.micros), currency, ...counts(row)],
    ]),
  ]);
}

/** @param isFirst - the names of the columns come first */
export function groupsCsv({ fromDay, toDay, currency, lines }: SpendList, isFirst: boolean): string {
  const head = [
    ...['from', 'to', 'group', 'group_id', 'top_level_group', 'jobs', 'seconds', 'cost', 'held'],
    ...['cost_with_subgroups', 'cost_before', 'currency', ...COUNT_COLUMNS],
  ];
  return csv([
    ...(isFirst ? [head] : []),
    ...lines.map((line) => [
      ...[fromDay, toDay, csvField(line.path), String(line.groupId ?? ''), csvField(line.rootPath ?? '')],
      ...[...costs(line), decimal(line.withBelowMicros), decimal(line.beforeMicros), currency],
      ...counts(line),
    ]),
  ]);
}

// Texts about retries and queue times, for page and terminal. Missing values are unknown, not 0.

/** `12 jobs were retries, for 3.40 EUR. Known of 912 of 1,004 jobs that ran.` */
export function retriesText({ total, currency }: Pick<SpendReport, 'total' | 'currency'>): string {
  const { retries, retryMicros, retriesKnown } = total;
  if (retriesKnown === 0) return unknownText('if it was a retry', total);
  const spent = amountText(retryMicros, 'micros', currency);
  return `${counted(retries, 'job')} ${retries === 1 ? 'was a retry' : 'were retries'}, for ${spent}. ${basisText(retriesKnown, total)}`;
}

/** `Jobs were queued for 42 s on average, nine of ten for 5 min at most. Known of 912 of 1,004 jobs that ran.` */
export function queueText({ total, queue }: Pick<SpendReport, 'total' | 'queue'>): string {
  const mean = meanQueuedSeconds(total);
  if (mean === undefined) return unknownText('its time in the queue', total);
  const within = withinSeconds(queue, 0.9);
  const most =
    within === undefined
      ? `more than one of ten over ${spanText(queue.at(-2)?.toSeconds ?? 0)}`
      : `nine of ten for ${spanText(within)} at most`;
  return `Jobs were queued for ${durationText(mean)} on average, ${most}. ${basisText(total.queuedKnown, total)}`;
}

export const meanQueuedSeconds = ({ queuedSeconds, queuedKnown }: SpendFigures): number | undefined =>
  queuedKnown > 0 ? Math.round(queuedSeconds / queuedKnown) : undefined;

/** Undefined: this share of the jobs is reached only in the step without a bound. */
function withinSeconds(queue: SpendReport['queue'], share: number): number | undefined {
  const all = queue.reduce((sum, { jobs }) => sum + jobs, 0);
  let seen = 0;
  return queue.find(({ jobs }) => {
    seen += jobs;
    return seen >= all * share;
  })?.toSeconds;
}

const basisText = (known: number, { ran }: SpendFigures): string =>
  `Known of ${countText(known)} of ${counted(ran, 'job')} that ran.`;

const unknownText = (what: string, { ran }: SpendFigures): string =>
  ran === 0 ? 'No job ran.' : `GitLab sent no admission request for ${counted(ran, 'job')} that ran ${what}.`;

const spanText = (seconds: number): string =>
  seconds % 3_600 === 0 ? `${seconds / 3_600} h` : durationText(seconds);
