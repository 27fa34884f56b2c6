/** The sums of many subjects over many days: from sheets, and live for the days that are not packed yet. */
import { calendarDay, DAY_MS, dayNumber } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  eachLaterRow,
  eachRow,
  hasRows,
  type Sheet,
  type SheetKind,
  type SheetStore,
  type SheetSum,
  sheetExpiresAtSeconds,
  sumOfTally,
  WHOLE,
} from '../../core/sheets/index.ts';
import type { RollupStore } from '../../core/usage/index.ts';
import { type DaySpan, dayText } from './usage-days.ts';

interface SumAsk extends DaySpan {
  readonly kind: SheetKind;
  /** Its own sum is always read; it is of this kind. Classes have none. */
  readonly of?: string;
  /** Subjects of the rows, by id. @default only `of` */
  readonly rows?: ReadonlyMap<number, string>;
  /** The id of a row that has a name; undefined: it is not asked about. */
  readonly named?: (name: string) => number | undefined;
  /** Its rows are in sheets only: days that are not packed have none. */
  readonly neverLive?: boolean;
  /** Day by day, for trends. */
  readonly byDay: boolean;
  /** Reads the figures that came later as well: each in a visit of its own, to be added. @default false */
  readonly later?: boolean;
}

export interface SumSource {
  /** Absent: everything is read live. */
  readonly sheets?: Pick<SheetStore, 'read'>;
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly today: number;
}

export interface SumReading {
  /** Days without rows, only a sum. */
  readonly rowsMissing: number;
  /** The first stored day, if the span starts earlier. */
  readonly keptFrom?: number;
  /** When the last day was packed, Unix ms; absent: it was read live. */
  readonly packedAtMs?: number;
}

/** @param day - of the sum, or the first of its month. Keep the numbers of `sum`, not itself. */
type SumVisit = (id: number, sum: SheetSum, day: number) => void;

/** Ten requests of a hundred keys. */
const LIVE_KEYS_MAX = 1_000;
/** Deployments without packed usage have few groups. */
const UNPACKED_KEYS_MAX = 40_000;
const PART_KEYS = 2_000;

interface MonthPart extends DaySpan {
  /** `2026-11` */
  readonly key: string;
  /** Every day of it that is over or under way. */
  readonly isWhole: boolean;
}

/** Read sheets, which can be iterated repeatedly. */
interface SumSheets extends SumReading {
  /** @param rows - of these alone, by id. @default all that were asked for */
  readonly each: (visit: SumVisit, rows?: ReadonlySet<number>) => void;
  /** Costs only: thousands of rows are ranked by them, and twenty shown. */
  readonly eachCost: (visit: (id: number, micros: number) => void) => void;
}

/** @throws {LedgerError} */
export async function readSums(ask: SumAsk, source: SumSource, visit: SumVisit): Promise<SumReading> {
  const sheets = await sumSheets(ask, source);
  sheets.each(visit);
  return sheets;
}

/** @throws {LedgerError} */
export async function sumSheets(ask: SumAsk, source: SumSource): Promise<SumSheets> {
  const { kind } = ask;
  const months = monthsOf(ask, source.today);
  const read = async (spans: readonly string[]) =>
    (await source.sheets?.read(
      spans.map((span) => ({ kind, span })),
      ask.later ? 'all' : 'first',
    )) ?? [];
  const heads = await read(months.map(({ key }) => key));
  const live: number[] = [];
  const found: DaySheet[] = [];
  /** Costs come from monthly sheets, even if days are shown. */
  const costs: DaySheet[] = [];
  const costDays = new Set<number>();
  const nowSeconds = (source.today * DAY_MS) / 1000;
  let keptFrom: number | undefined;
  const packed: number[] = [];
  let packedAtMs: number | undefined;
  for (const [index, month] of months.entries()) {
    const head = heads[index];
    const isRead = head !== undefined && month.isWhole && !ask.byDay;
    // Users have sheets of days alone.
    const isCost =
      isRead ||
      (head !== undefined && month.isWhole && hasRows(head.bytes) && !isGone(kind, month.from, nowSeconds));
    if (isRead) found.push(daySheet(head, month.from, ask));
    if (isCost) costs.push(daySheet(head, month.from, ask));
    for (let day = month.from; day <= month.to; day += 1) {
      const known = head?.days?.get(dayText(day));
      packedAtMs = known?.atMs;
      if (isCost && known !== undefined) costDays.add(day);
      // Expired items may still exist.
      if (isGone(kind, day, nowSeconds) && (known === undefined || !isRead)) keptFrom = day + 1;
      else if (known === undefined) live.push(day);
      else if (!isRead && known.digest !== '') packed.push(day);
    }
  }
  const sheets = packed.length === 0 ? [] : await read(packed.map(dayText));
  for (const [index, day] of packed.entries()) {
    const sheet = sheets[index];
    if (sheet === undefined) {
      live.push(day);
      continue;
    }
    const each = daySheet(sheet, day, ask);
    found.push(each);
    if (!costDays.has(day)) costs.push(each);
  }
  const max = heads.some((head) => head !== undefined) ? LIVE_KEYS_MAX : UNPACKED_KEYS_MAX;
  const { rowsMissing, sums } = await readLive(live, max, ask, source);
  return {
    rowsMissing,
    each: (visit, rows) => {
      for (const each of found) each.visit((id, sum) => visit(id, sum, each.day), rows);
      for (const { id, sum, day } of sums) if (rows?.has(id) !== false) visit(id, sum, day);
    },
    eachCost: (visit) => {
      const cost = (id: number, sum: SheetSum): void => visit(id, sum[0] ?? 0);
      for (const each of costs) each.visit(cost, undefined, 1);
      for (const { id, sum, day } of sums) if (!costDays.has(day)) cost(id, sum);
    },
    ...(packedAtMs !== undefined && { packedAtMs }),
    ...(keptFrom !== undefined && { keptFrom }),
  };
}

/** Days go after two years, those of users sooner; months that were packed stay. */
const isGone = (kind: SheetKind, day: number, nowSeconds: number): boolean =>
  sheetExpiresAtSeconds(kind, dayText(day)) <= nowSeconds;

/** A sheet, and the day of it or the first of its month. */
interface DaySheet {
  readonly day: number;
  readonly visit: (
    visit: (id: number, sum: SheetSum) => void,
    rows: ReadonlySet<number> | undefined,
    first?: number,
  ) => void;
}

/** Rows that were not asked for are not gone through. */
function daySheet({ bytes, later, names }: Sheet, day: number, ask: SumAsk): DaySheet {
  const { named, of, rows: asked } = ask;
  if (named === undefined || names === undefined) {
    const own = of === undefined ? undefined : rowIdOf(of);
    const isAsked = { has: (id: number): boolean => id === own || asked?.has(id) === true };
    return {
      day,
      visit: (visit, rows, first) => {
        const wanted = rows ?? isAsked;
        eachRow(bytes, visit, {
          wanted,
          ...(rows !== undefined && { last: Math.max(...rows) }),
          ...withoutAbsent({ first }),
        });
        if (later !== undefined && first === undefined) eachLaterRow(later, (id) => wanted.has(id), visit);
      },
    };
  }
  const ids = names.map(named);
  return {
    day,
    visit: (visit, rows, first) => {
      const has = (row: number): boolean => {
        const id = ids[row];
        return id !== undefined && rows?.has(id) !== false;
      };
      const visitRow = (row: number, sum: SheetSum): void => visit(ids[row] ?? 0, sum);
      eachRow(bytes, visitRow, { wanted: { has }, ...withoutAbsent({ first }) });
      if (later !== undefined && first === undefined) eachLaterRow(later, has, visitRow);
    },
  };
}

interface LiveSum {
  readonly id: number;
  readonly day: number;
  readonly sum: SheetSum;
}

/** `rowsMissing`: of how many days only the sum of all was read. */
async function readLive(
  days: readonly number[],
  keysMax: number,
  { of, rows = new Map(), neverLive = false }: SumAsk,
  { usage }: SumSource,
): Promise<{ readonly rowsMissing: number; readonly sums: readonly LiveSum[] }> {
  const sums: LiveSum[] = [];
  const reads = !neverLive && rows.size * days.length <= keysMax;
  const subjects = new Map(reads ? rows : []);
  if (of !== undefined) subjects.set(rowIdOf(of), of);
  const keys = days.flatMap((day) =>
    [...subjects].map(([id, subject]) => ({ id, number: day, subject, day: dayText(day) })),
  );
  for (let from = 0; from < keys.length; from += PART_KEYS) {
    const part = keys.slice(from, from + PART_KEYS);
    const tallies = await usage.readUsage(part);
    for (const [index, { id, number }] of part.entries()) {
      const tally = tallies[index];
      if (tally !== undefined && tally.size > 0) sums.push({ id, sum: sumOfTally(tally), day: number });
    }
  }
  return { sums, rowsMissing: reads || (rows.size === 0 && !neverLive) ? 0 : days.length };
}

/** The row of a subject in a sheet of its kind. */
export const rowIdOf = (subject: string): number =>
  subject === 'instance' ? WHOLE : Number(subject.slice(subject.indexOf('/') + 1));

function monthsOf({ from, to }: DaySpan, today: number): readonly MonthPart[] {
  const months: MonthPart[] = [];
  for (let day = from; day <= to; ) {
    const { year, month } = calendarDay(day);
    const first = dayNumber({ year, month, day: 1 });
    const last = dayNumber({ year, month: month + 1, day: 1 }) - 1;
    const end = Math.min(last, to);
    const isWhole = day === first && end >= Math.min(last, today);
    months.push({ key: dayText(day).slice(0, 7), from: day, to: end, isWhole });
    day = last + 1;
  }
  return months;
}
