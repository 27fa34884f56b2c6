/** Sums of the rows of a report, of all of them together, and their way through the period. */
import { addSum, addSumTo, emptySum, type SheetSum } from '../../core/sheets/index.ts';
import { readSums, rowIdOf, type SumReading, type SumSource } from '../reading/read-sums.ts';
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
  /** Whether {@link SpendSums.addLater} has something to add. */
  readonly later: boolean;
}

export interface SpendSums extends Omit<SumReading, 'eachLater'> {
  readonly span: DaySpan;
  /** By the id of their row; of days and months by their place in the period. */
  readonly sums: ReadonlyMap<number, SheetSum>;
  readonly total: SheetSum;
  /** Micros of each point, by the id of the row. */
  readonly trends: ReadonlyMap<number, Float64Array>;
  /** Absent: a point is a month. */
  readonly trendDays?: number;
  /** Completes the sums of these rows, and of all together, by the figures that came later: once, for it is of a few rows that they are told. */
  readonly addLater: (ids: ReadonlySet<number>) => void;
}

const BY_DAY_MAX = 31;
const BY_WEEK_MAX = 92;
const MICROS = 0;

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
  const found = new Map<number, { readonly sum: SheetSum; readonly trend: Float64Array }>();
  const rowOf = (id: number) => {
    const known = found.get(id);
    if (known !== undefined || (named === undefined && !subjects.has(id))) return known;
    const row = { sum: emptySum(), trend: new Float64Array(trend ? points : 0) };
    found.set(id, row);
    return row;
  };
  const [{ eachLater, ...read }, all] = await Promise.all([
    readSums(
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
      (id, sum, day) => {
        if (isOwn && id === own) return addSum(total, sum);
        const row = rowOf(id);
        if (row === undefined) return;
        addSum(row.sum, sum);
        const point = pointOf(day);
        if (trend) row.trend[point] = (row.trend[point] ?? 0) + (sum[MICROS] ?? 0);
      },
    ),
    isOwn
      ? undefined
      : readSums({ ...span, kind: ownKind, byDay: false, later, of: subject }, source, (id, sum) => {
          if (id === own) addSum(total, sum);
        }),
  ]);
  return {
    ...{ ...read, span, total },
    addLater: (ids) => {
      eachLater(
        (id) => (isOwn && id === own) || ids.has(id),
        (id, sum) => addSum(isOwn && id === own ? total : (found.get(id)?.sum ?? emptySum()), sum),
      );
      all?.eachLater(
        (id) => id === own,
        (_, sum) => addSum(total, sum),
      );
    },
    sums: new Map([...found].map(([id, { sum }]) => [id, sum])),
    trends: new Map([...found].map(([id, row]) => [id, row.trend])),
    ...(days !== undefined && { trendDays: days }),
  };
}

/** Rows of days and months are of one subject: its days are few, and read as they are now; months are packed. */
async function readTimes({ by, subject, span, later }: SpendAsk, source: SumSource): Promise<SpendSums> {
  const kind = subject.startsWith('project/') ? 'project' : 'group';
  const own = rowIdOf(subject);
  const sums = new Map<number, SheetSum>();
  const total = emptySum();
  const { usage, today } = source;
  const first = monthNumber(span.from);
  const add = (id: number, sum: SheetSum, day: number): void => {
    if (id !== own) return;
    addSumTo(sums, by === 'day' ? day - span.from : monthNumber(day) - first, sum);
    addSum(total, sum);
  };
  const { eachLater, ...read } = await readSums(
    { ...span, kind, byDay: false, later, of: subject },
    by === 'day' ? { usage, today } : source,
    add,
  );
  return {
    ...read,
    span,
    sums,
    total,
    trends: new Map(),
    addLater: () => eachLater((id) => id === own, add),
  };
}

/** What a row of days or months is called, and how many there are. */
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
