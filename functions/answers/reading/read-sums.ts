/** The sums of many subjects over many days: from sheets, and live for the days that are not packed yet. */
import { calendarDay, DAY_MS, dayNumber } from '../../../policies/limits/calendar.ts';
import {
  eachLaterRow,
  eachRow,
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
  /** Reads what {@link SumReading.eachLater} tells. @default false */
  readonly later?: boolean;
}

export interface SumSource {
  /** Absent: everything is read live. */
  readonly sheets?: Pick<SheetStore, 'read'>;
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly today: number;
}

export interface SumReading {
  /** Days of which only the sum of all is known. */
  readonly rowsMissing: number;
  /** The first day of which anything is kept, where that is not the first of all. */
  readonly keptFrom?: number;
  /** When the last day was packed, Unix ms; absent: it was read live. */
  readonly packedAtMs?: number;
  /** Visits the figures of sheets that came later, of some rows. What was read live has had all of its figures. */
  readonly eachLater: (isWanted: (id: number) => boolean, visit: SumVisit) => void;
}

/** @param day - of the sum, or the first of its month. Keep the numbers of `sum`, not itself. */
type SumVisit = (id: number, sum: SheetSum, day: number) => void;

/** Ten requests of a hundred keys. */
const LIVE_KEYS_MAX = 1_000;
/** Where nobody packs anything, there are few groups. */
const UNPACKED_KEYS_MAX = 40_000;
const PART_KEYS = 2_000;

interface MonthPart extends DaySpan {
  /** `2026-11` */
  readonly key: string;
  /** Every day of it that is over or under way. */
  readonly isWhole: boolean;
}

/** @throws {LedgerError} */
export async function readSums(ask: SumAsk, source: SumSource, visit: SumVisit): Promise<SumReading> {
  const { kind } = ask;
  const visited: VisitedSheet[] = [];
  const visitSheet = (sheet: Sheet, day: number): void => {
    const ids = sheet.names !== undefined && ask.named !== undefined ? sheet.names.map(ask.named) : undefined;
    const idOf = (row: number): number | undefined => (ids === undefined ? row : ids[row]);
    visited.push({ sheet, day, idOf });
    eachRow(sheet.bytes, (row, sum) => {
      const id = idOf(row);
      if (id !== undefined) visit(id, sum, day);
    });
  };
  const months = monthsOf(ask, source.today);
  const read = async (spans: readonly string[]) =>
    (await source.sheets?.read(
      spans.map((span) => ({ kind, span })),
      ask.later ? 'all' : 'first',
    )) ?? [];
  const heads = await read(months.map(({ key }) => key));
  const live: number[] = [];
  const nowSeconds = (source.today * DAY_MS) / 1000;
  let keptFrom: number | undefined;
  const packed: number[] = [];
  let packedAtMs: number | undefined;
  for (const [index, month] of months.entries()) {
    const head = heads[index];
    const isRead = head !== undefined && month.isWhole && !ask.byDay;
    if (isRead) visitSheet(head, month.from);
    for (let day = month.from; day <= month.to; day += 1) {
      const known = head?.days?.get(dayText(day));
      packedAtMs = known?.atMs;
      // What is due to go may still be there.
      if (isGone(kind, day, nowSeconds) && (known === undefined || !isRead)) keptFrom = day + 1;
      else if (known === undefined) live.push(day);
      else if (!isRead && known.digest !== '') packed.push(day);
    }
  }
  const sheets = packed.length === 0 ? [] : await read(packed.map(dayText));
  for (const [index, day] of packed.entries()) {
    const sheet = sheets[index];
    if (sheet !== undefined) visitSheet(sheet, day);
    else live.push(day);
  }
  const max = heads.some((head) => head !== undefined) ? LIVE_KEYS_MAX : UNPACKED_KEYS_MAX;
  const rowsMissing = await readLive(live, max, ask, source, visit);
  return {
    rowsMissing,
    ...(packedAtMs !== undefined && { packedAtMs }),
    ...(keptFrom !== undefined && { keptFrom }),
    eachLater: (isWanted, visitLater) => {
      for (const one of visited) visitLaterRows(one, isWanted, visitLater);
    },
  };
}

interface VisitedSheet {
  readonly sheet: Sheet;
  readonly day: number;
  /** Of a row of the sheet. */
  readonly idOf: (row: number) => number | undefined;
}

function visitLaterRows(
  { sheet: { later }, day, idOf }: VisitedSheet,
  isWanted: (id: number) => boolean,
  visit: SumVisit,
): void {
  if (later === undefined) return;
  const isRowWanted = (row: number): boolean => {
    const id = idOf(row);
    return id !== undefined && isWanted(id);
  };
  eachLaterRow(later, isRowWanted, (row, sum) => visit(idOf(row) ?? row, sum, day));
}

/** Days go after two years, those of users sooner; months that were packed stay. */
const isGone = (kind: SheetKind, day: number, nowSeconds: number): boolean =>
  sheetExpiresAtSeconds(kind, dayText(day)) <= nowSeconds;

/** @returns of how many days only the sum of all was read. */
async function readLive(
  days: readonly number[],
  keysMax: number,
  { of, rows = new Map(), neverLive = false }: SumAsk,
  { usage }: SumSource,
  visit: SumVisit,
): Promise<number> {
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
      if (tally !== undefined && tally.size > 0) visit(id, sumOfTally(tally), number);
    }
  }
  return reads || (rows.size === 0 && !neverLive) ? 0 : days.length;
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
