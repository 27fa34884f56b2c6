/** Reads sums of a report's rows, their total, and their course over the period. */
import { addSum, addSumTo, emptySum, type SheetSum } from '../../core/sheets/index.ts';
import { readSums, rowIdOf, type SumReading, type SumSource, sumSheets } from '../reading/read-sums.ts';
import { type DaySpan, dayText } from '../reading/usage-days.ts';
import type { CandidateRows } from './candidate-rows.ts';
import type { SpendKey } from './model.ts';
import { monthNumber } from './report-period.ts';

interface SpendAsk {
  readonly by: SpendKey;
  readonly subject: string;
  readonly span: DaySpan;
  readonly rows: CandidateRows;
  readonly trend: boolean;
  /** With the figures that came later. */
  readonly later: boolean;
}

export interface SpendSums extends SumReading {
  readonly span: DaySpan;
  /** Micros by the id of their row; of days and months by their place in the period. */
  readonly costs: ReadonlyMap<number, number>;
  /** The rows of these ids, whole. */
  readonly rowsOf: (ids: ReadonlySet<number>) => ReadonlyMap<number, SpendSum>;
  readonly total: SheetSum;
  /** Absent: a point is a month. */
  readonly trendDays?: number;
}

interface SpendSum {
  readonly sum: SheetSum;
  /** Micros of each point. */
  readonly trend: Float64Array;
}

const BY_DAY_MAX = 31;
const BY_WEEK_MAX = 92;
const MICROS = 0;
const NO_TREND = new Float64Array(0);

/** @throws {LedgerError} */
export const readSpend = (ask: SpendAsk, source: SumSource): Promise<SpendSums> =>
  ask.rows.kind === undefined ? readTimes(ask, source) : readRows(ask, source);

async function readRows(
  { subject, span, rows, trend, later }: SpendAsk,
  source: SumSource,
): Promise<SpendSums> {
  const { kind = 'group', subjects, named, neverLive } = rows;
  const total = emptySum();
  const own = rowIdOf(subject);
  const ownKind = subject.startsWith('project/') ? 'project' : 'group';
  const isOwn = ownKind === kind;
  const { pointOf, points, days } = pointsOf(span);
  const byDay = rows.byDay === true || (trend && days !== undefined);
  const [read, ofOwn] = await Promise.all([
    sumSheets(
      {
        ...span,
        kind,
        byDay,
        later,
        rows: subjects,
        ...(isOwn && { of: subject }),
        ...(named && { named }),
        ...(neverLive && { neverLive }),
      },
      source,
    ),
    isOwn ? undefined : sumSheets({ ...span, kind: ownKind, byDay: false, later, of: subject }, source),
  ]);
  (ofOwn ?? read).each((_, sum) => addSum(total, sum), new Set([own]));
  const costs = new Map<number, number>();
  read.eachCost((id, micros) => {
    if (!isOwn || id !== own) costs.set(id, (costs.get(id) ?? 0) + micros);
  });
  const rowsOf = (ids: ReadonlySet<number>): ReadonlyMap<number, SpendSum> => {
    const rows = new Map(
      [...ids].map((id) => [id, { sum: emptySum(), trend: new Float64Array(trend ? points : 0) }]),
    );
    read.each((id, sum, day) => {
      const row = rows.get(id);
      if (row === undefined) return;
      addSum(row.sum, sum);
      if (!trend) return;
      const point = pointOf(day);
      row.trend[point] = (row.trend[point] ?? 0) + (sum[MICROS] ?? 0);
    }, ids);
    return rows;
  };
  return { ...read, span, total, costs, rowsOf, ...(days !== undefined && { trendDays: days }) };
}

/** Rows of days and months are of one subject: its days are few, and read as they are now; months are packed. */
async function readTimes({ by, subject, span, later }: SpendAsk, source: SumSource): Promise<SpendSums> {
  const kind = subject.startsWith('project/') ? 'project' : 'group';
  const own = rowIdOf(subject);
  const sums = new Map<number, SheetSum>();
  const total = emptySum();
  const { usage, today } = source;
  const first = monthNumber(span.from);
  const read = await readSums(
    { ...span, kind, byDay: false, later, of: subject },
    by === 'day' ? { usage, today } : source,
    (id, sum, day) => {
      if (id !== own) return;
      addSumTo(sums, by === 'day' ? day - span.from : monthNumber(day) - first, sum);
      addSum(total, sum);
    },
  );
  return {
    ...{ ...read, span, total },
    costs: new Map([...sums].map(([id, sum]) => [id, sum[MICROS] ?? 0])),
    rowsOf: () => new Map([...sums].map(([id, sum]) => [id, { sum, trend: NO_TREND }])),
  };
}

/** Labels of rows of days or months, and their number. */
export function timesOf(by: SpendKey, { from, to }: DaySpan): readonly string[] {
  const days = Array.from({ length: to - from + 1 }, (_, index) => dayText(from + index));
  return by === 'day' ? days : [...new Set(days.map((day) => day.slice(0, 7)))];
}

function pointsOf({ from, to }: DaySpan) {
  const length = to - from + 1;
  const days = length <= BY_DAY_MAX ? 1 : length <= BY_WEEK_MAX ? 7 : undefined;
  if (days !== undefined)
    return {
      days,
      points: Math.ceil(length / days),
      pointOf: (day: number): number => Math.floor((day - from) / days),
    };
  const first = monthNumber(from);
  return {
    days,
    points: monthNumber(to) - first + 1,
    pointOf: (day: number): number => monthNumber(day) - first,
  };
}
