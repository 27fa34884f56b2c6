/** Sums of many subjects over many days: from sheets, and live for days that are not packed yet. */

import { calendarDay, DAY_MS, dayNumber } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  eachLaterRow,
  eachRow,
  FIGURES,
  type SheetSum,
  sumTally,
  WHOLE,
} from '../../core/sheets/sheet-rows.ts';
import {
  type Sheet,
  type SheetKind,
  type SheetStore,
  sheetExpiresAtSeconds,
} from '../../core/sheets/sheet-store.ts';
import { readInParts } from '../../core/store/parts.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import { usageOf } from '../../core/usage/usage.ts';
import type { ReadContext } from './context.ts';
import { type DaySpan, type DayUsage, dayText, readDays, today, type UsageBySubject } from './usage-days.ts';

interface SumRequest extends DaySpan {
  readonly kind: SheetKind;
  /** A subject of this kind whose own sum is always read. Classes have none. */
  readonly of?: string;
  /** Subjects of the rows, by id. @default only `of` */
  readonly rows?: ReadonlyMap<number, string>;
  /** Returns the id of a named row; undefined: not wanted. */
  readonly named?: (name: string) => number | undefined;
  /** Rows are only in sheets: days that are not packed have none. */
  readonly neverLive?: boolean;
  /** Reads days also where the month is packed. */
  readonly byDay: boolean;
  readonly later?: boolean;
}

export interface SumSource {
  readonly sheets?: Pick<SheetStore, 'read'> | undefined;
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

/** Sheets in memory, which can be visited repeatedly. */
interface SumSheets extends SumReading {
  /**
   * @param rows - ids. @default all wanted rows
   * @param first - number of figures to read; the others are 0. Faster, to rank thousands of rows. @default all
   */
  readonly each: (visit: SumVisit, rows?: ReadonlySet<number>, first?: number) => void;
}

export async function readSums(request: SumRequest, source: SumSource, visit: SumVisit): Promise<SumReading> {
  const sheets = await sumSheets(request, source);
  sheets.each(visit);
  return sheets;
}

export async function sumSheets(request: SumRequest, source: SumSource): Promise<SumSheets> {
  const { kind } = request;
  const months = monthsOf(request, source.today);
  const read = async (spans: readonly string[]) =>
    (await source.sheets?.read(
      spans.map((span) => ({ kind, span })),
      request.later ? 'all' : 'first',
    )) ?? [];
  const heads = await read(months.map(({ key }) => key));
  const live: number[] = [];
  const packed: number[] = [];
  const found: ReturnType<typeof daySheet>[] = [];
  const nowSeconds = (source.today * DAY_MS) / 1000;
  let keptFrom: number | undefined;
  let packedAtMs: number | undefined;
  for (const [index, month] of months.entries()) {
    const head = heads[index];
    const isRead = head !== undefined && month.isWhole && !request.byDay;
    if (isRead) found.push(daySheet(head, month.from, request));
    for (let day = month.from; day <= month.to; day += 1) {
      const known = head?.days?.get(dayText(day));
      packedAtMs = known?.atMs;
      // Expired items may still exist.
      if (isGone(kind, day, nowSeconds) && (known === undefined || !isRead)) keptFrom = day + 1;
      else if (known === undefined) live.push(day);
      else if (!isRead && known.digest !== '') packed.push(day);
    }
  }
  const sheets = packed.length === 0 ? [] : await read(packed.map(dayText));
  for (const [index, day] of packed.entries()) {
    const sheet = sheets[index];
    if (sheet === undefined) live.push(day);
    else found.push(daySheet(sheet, day, request));
  }
  const max = heads.some((head) => head !== undefined) ? LIVE_KEYS_MAX : UNPACKED_KEYS_MAX;
  const { rowsMissing, sums } = await readLive(live, max, request, source);
  return {
    rowsMissing,
    each: (visit, rows, first) => {
      for (const each of found) each.visit((id, sum) => visit(id, sum, each.day), rows, first);
      for (const { id, sum, day } of sums) if (rows?.has(id) !== false) visit(id, sum, day);
    },
    ...withoutAbsent({ packedAtMs, keptFrom }),
  };
}

/** Days expire after two years, those of users sooner; packed months stay. */
const isGone = (kind: SheetKind, day: number, nowSeconds: number): boolean =>
  sheetExpiresAtSeconds(kind, dayText(day)) <= nowSeconds;

function daySheet({ bytes, later, names }: Sheet, day: number, { named, of, rows: requested }: SumRequest) {
  const ids = named && names?.map(named);
  const own = of === undefined ? undefined : sheetRowId(of);
  return {
    day,
    visit: (visit: (id: number, sum: SheetSum) => void, rows?: ReadonlySet<number>, first?: number): void => {
      const has = (row: number): boolean => {
        const id = ids === undefined ? row : ids[row];
        if (id === undefined) return false;
        return rows?.has(id) ?? (ids !== undefined || id === own || requested?.has(id) === true);
      };
      const visitRow =
        ids === undefined ? visit : (row: number, sum: SheetSum): void => visit(ids[row] ?? 0, sum);
      const last = ids === undefined && rows !== undefined ? Math.max(...rows) : undefined;
      eachRow(bytes, visitRow, { wanted: { has }, ...withoutAbsent({ last, first }) });
      if (later !== undefined && first === undefined) eachLaterRow(later, has, visitRow);
    },
  };
}

/** `rowsMissing`: days of which only the total was read. */
async function readLive(
  days: readonly number[],
  keysMax: number,
  { of, rows = new Map(), neverLive = false }: SumRequest,
  { usage }: SumSource,
) {
  const reads = !neverLive && rows.size * days.length <= keysMax;
  const subjects = new Map(reads ? rows : []);
  if (of !== undefined) subjects.set(sheetRowId(of), of);
  const keys = days.flatMap((number) =>
    [...subjects].map(([id, subject]) => ({ id, number, subject, day: dayText(number) })),
  );
  const sums = await readInParts(keys, async (some) => {
    const tallies = await usage.readUsage(some);
    return some.flatMap(({ id, number: day }, index) => {
      const tally = tallies[index];
      return tally === undefined || tally.size === 0 ? [] : [{ id, sum: sumTally(tally), day }];
    });
  });
  return { sums, rowsMissing: reads || (rows.size === 0 && !neverLive) ? 0 : days.length };
}

export const sheetRowId = (subject: string): number =>
  subject === 'instance' ? WHOLE : Number(subject.slice(subject.indexOf('/') + 1));

/** Splits days by month. `isWhole`: all days of the month up to today. */
function monthsOf({ from, to }: DaySpan, today: number) {
  const months: (DaySpan & { readonly key: string; readonly isWhole: boolean })[] = [];
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

/** Five requests of a hundred keys: fewer are read one by one. */
const FROM_SHEETS_MIN = 500;

const KINDS = ['group', 'project'] as const;
/** Returns undefined if no sheet has the subject by its id. */
const sheetKindOf = (subject: string): (typeof KINDS)[number] | undefined =>
  subject === 'instance' ? 'group' : KINDS.find((kind) => new RegExp(`^${kind}/\\d+$`).test(subject));

/**
 * Reads days of many subjects for forecasts: from sheets, and today and unpacked days from the table. Days before today
 * have only the figures of sheets. @throws {LedgerError}
 */
export async function readManyDays(
  subjects: readonly string[],
  span: DaySpan,
  { usage, sheets, zone, clock }: Pick<ReadContext, 'usage' | 'sheets' | 'zone' | 'clock'>,
): Promise<UsageBySubject> {
  const now = today(zone, clock.nowMs());
  const isFew = subjects.length * (span.to - span.from + 1) < FROM_SHEETS_MIN;
  if (sheets === undefined || isFew || span.to !== now) return readDays(subjects, span, usage);
  const byKind = Map.groupBy(new Set(subjects), sheetKindOf);
  const [others, todays, ...packed] = await Promise.all([
    readDays(byKind.get(undefined) ?? [], span, usage),
    readDays(subjects, { from: now, to: now }, usage),
    ...KINDS.map((kind) => packedDays(kind, byKind.get(kind) ?? [])),
  ]);
  const before = new Map(packed.flatMap((days) => [...days]));
  return new Map(
    subjects.map((subject) => [
      subject,
      others.get(subject) ?? [...(before.get(subject) ?? []), ...(todays.get(subject) ?? [])],
    ]),
  );

  async function packedDays(kind: SheetKind, some: readonly string[]): Promise<UsageBySubject> {
    if (some.length === 0) return new Map();
    const rows = new Map(some.map((subject) => [sheetRowId(subject), subject]));
    const tallies = new Map<string, ReadonlyMap<string, number>>();
    await readSums(
      { kind, from: span.from, to: now - 1, rows, byDay: true },
      { usage, sheets, today: now },
      (id, sum, day) => tallies.set(`${day} ${rows.get(id)}`, tallyOf(sum)),
    );
    return new Map(
      some.map((subject) => [
        subject,
        Array.from({ length: now - span.from }, (_, index): DayUsage => {
          const number = span.from + index;
          const tally = tallies.get(`${number} ${subject}`) ?? new Map<string, number>();
          return { ...usageOf(tally), number, day: dayText(number) };
        }),
      ]),
    );
  }
}

function tallyOf(sum: SheetSum): ReadonlyMap<string, number> {
  const tally = new Map<string, number>(FIGURES.map((figure, place) => [figure, sum[place] ?? 0]));
  const of = (figure: (typeof FIGURES)[number]): number => tally.get(figure) ?? 0;
  return tally.set('seconds', of('milliseconds') / 1000).set('admitted', of('jobs') - of('rejected'));
}
