/**
 * Encodes rows of a sheet as bytes. A row is the distance of its id from the last, a mask of non-zero
 * figures, and these figures, as numbers of seven bits per byte. Reading creates no object per row, because
 * a report reads two years of 10 000 groups.
 *
 * Figures added in later versions are rows in separate bytes with their length: reports read them only for
 * shown rows, and older programs ignore them.
 */
import { isOverEstimate, QUEUE_BUCKETS, type UsageTally } from '../usage/usage.ts';
import type { Sheet } from './sheet-store.ts';

/** Never reorder and never take one out: the place is the name. */
export const FIGURES = [
  'settledMicros',
  'heldMicros',
  'jobs',
  'milliseconds',
  'rejected',
  'ranRejected',
  'released',
  'expired',
  'unmetered',
  'bypass',
  'exempt',
  'estimated',
  'overEstimate',
  'firstRuns',
  'retries',
  'retryMicros',
  'queuedSeconds',
  ...QUEUE_BUCKETS,
] as const;

/** The place of the first figure that came later. */
const LATER = 13;

export type SheetFigure = (typeof FIGURES)[number];

/** By the place in {@link FIGURES}; what later figures are of may be left off. */
export type SheetSum = Float64Array;

export const emptySum = (): SheetSum => new Float64Array(FIGURES.length);

export const WHOLE = 0;

const FORM = 1;

export function addSum(to: SheetSum, more: SheetSum): void {
  for (let place = 0; place < more.length; place += 1) to[place] = (to[place] ?? 0) + (more[place] ?? 0);
}

export function addSumTo<K>(sums: Map<K, SheetSum>, key: K, more: SheetSum): void {
  const sum = sums.get(key) ?? emptySum();
  sums.set(key, sum);
  addSum(sum, more);
}

export const sumWithout = (sum: SheetSum, parts: readonly SheetSum[]): SheetSum =>
  Float64Array.from(FIGURES, (_, place) =>
    parts.reduce((left, part) => left - (part[place] ?? 0), sum[place] ?? 0),
  );

/** A day's figures in a sheet. Durations have millisecond precision. */
export function sumTally(tally: UsageTally): SheetSum {
  let estimated = 0;
  let overEstimate = 0;
  for (const [name, jobs] of tally) {
    const isOver = isOverEstimate(name);
    if (isOver === undefined) continue;
    estimated += jobs;
    if (isOver) overEstimate += jobs;
  }
  const counted: Readonly<Record<string, number>> = {
    estimated,
    overEstimate,
    milliseconds: Math.round((tally.get('seconds') ?? 0) * 1000),
  };
  return Float64Array.from(FIGURES, (figure) => counted[figure] ?? tally.get(figure) ?? 0);
}

/** @param rows - by id; what is 0 throughout is left out. */
export function packedSums(rows: ReadonlyMap<number, SheetSum>): Pick<Sheet, 'bytes' | 'later'> {
  const sorted = [...rows].sort(([a], [b]) => a - b);
  const later = packedRows(sorted, LATER, FIGURES.length, true);
  return { bytes: packedRows(sorted, 0, LATER, false), ...(later.length > 1 && { later }) };
}

/** @param isLong - says of each row how many bytes follow its id. */
function packedRows(
  rows: readonly (readonly [number, SheetSum])[],
  from: number,
  to: number,
  isLong: boolean,
): Uint8Array {
  const bytes: number[] = [FORM];
  let before = 0;
  for (const [id, sum] of rows) {
    let mask = 0;
    for (let place = from; place < to; place += 1) if ((sum[place] ?? 0) !== 0) mask += 2 ** (place - from);
    if (mask === 0) continue;
    const row: number[] = [];
    writeNumber(row, mask);
    for (let place = from; place < to; place += 1) {
      const value = sum[place] ?? 0;
      // Below 0 is odd: corrections may take more than there was.
      if (value !== 0) writeNumber(row, value < 0 ? -2 * value - 1 : 2 * value);
    }
    writeNumber(bytes, id - before);
    if (isLong) writeNumber(bytes, row.length);
    for (const byte of row) bytes.push(byte);
    before = id;
  }
  return Uint8Array.from(bytes);
}

function writeNumber(bytes: number[], value: number): void {
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  bytes.push(left);
}

/** Every figure of every row, of some rows in two parts: add them. @param visit - see {@link eachRow} */
export function eachSum({ bytes, later }: Pick<Sheet, 'bytes' | 'later'>, visit: RowVisit): void {
  eachRow(bytes, visit);
  if (later !== undefined) eachLaterRow(later, () => true, visit);
}

type RowVisit = (id: number, sum: SheetSum) => void;

export interface RowFilter {
  readonly wanted?: { has(id: number): boolean };
  readonly last?: number;
  /** Number of {@link FIGURES} to read; the others are 0. @default all but those that came later */
  readonly first?: number;
}

/**
 * Visits rows. A report of two years reads a million rows: unneeded figures are skipped, and numbers are
 * read inline. Without figures of later versions.
 *
 * @param visit - gets the same array each time: copy its numbers.
 */
export function eachRow(
  bytes: Uint8Array,
  visit: RowVisit,
  { wanted, last = Number.POSITIVE_INFINITY, first = LATER }: RowFilter = {},
): void {
  if (bytes[0] !== FORM) return;
  const sum = new Float64Array(LATER);
  const { length } = bytes;
  let at = 1;
  let id = 0;
  let mask = 0;
  let places: readonly number[] = [];
  while (at < length) {
    let byte = bytes[at++] ?? 0;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
    }
    id += value;
    if (id > last) return;
    byte = bytes[at++] ?? 0;
    value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
    }
    if (value !== mask) {
      mask = value;
      places = placesIn(mask);
      sum.fill(0);
    }
    const isWanted = wanted === undefined || wanted.has(id);
    let read = 0;
    for (; isWanted && read < places.length; read += 1) {
      const place = places[read] ?? 0;
      if (place >= first) break;
      byte = bytes[at++] ?? 0;
      value = byte & 127;
      for (let scale = 128; byte >= 128; scale *= 128) {
        byte = bytes[at++] ?? 0;
        value += (byte & 127) * scale;
      }
      sum[place] = value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    }
    for (let left = places.length - read; left > 0 && at < length; at += 1)
      if ((bytes[at] ?? 0) < 128) left -= 1;
    if (isWanted) visit(id, sum);
  }
}

/** At most as many as there are masks, and those that occur are few. */
const placesByMask = new Map<number, readonly number[]>();

/** Asked for each row whose figures are others than those of the row before. */
function placesIn(mask: number): readonly number[] {
  const known = placesByMask.get(mask);
  if (known !== undefined) return known;
  const places = FIGURES.slice(0, LATER).flatMap((_, place) => ((mask & (1 << place)) === 0 ? [] : [place]));
  // A mask beyond the figures is a newer program's, or no mask.
  if (mask < 1 << LATER) placesByMask.set(mask, places);
  return places;
}

/** Only the figures that came later, of the rows that are wanted; those of a newer program are passed over. @param visit - see {@link eachRow} */
export function eachLaterRow(bytes: Uint8Array, isWanted: (id: number) => boolean, visit: RowVisit): void {
  if (bytes[0] !== FORM) return;
  const sum = emptySum();
  let at = 1;
  const read = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
  };
  for (let id = 0; at < bytes.length; ) {
    id += read();
    const length = read();
    const end = at + length;
    if (isWanted(id)) {
      sum.fill(0);
      let place = LATER;
      for (let mask = read(); mask > 0 && place < FIGURES.length; mask = Math.floor(mask / 2)) {
        if (mask % 2 === 1) {
          const value = read();
          sum[place] = value % 2 === 1 ? -(value + 1) / 2 : value / 2;
        }
        place += 1;
      }
      visit(id, sum);
    }
    at = end;
  }
}
