/**
 * Rows of a sheet ↔ bytes. A row is the distance of its id from the one before, a mask of the figures that are not 0, and these
 * figures; all of them numbers of seven bits a byte. Reading makes no object for a row: two years of 10 000 groups are read at once.
 */
import { isOverEstimate, type UsageTally } from '../usage/index.ts';

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
] as const;

export type SheetFigure = (typeof FIGURES)[number];

/** By the place in {@link FIGURES}. */
export type SheetSum = Float64Array;

export const emptySum = (): SheetSum => new Float64Array(FIGURES.length);

/** The row of everything there is. */
export const WHOLE = 0;

const FORM = 1;

export function addSum(to: SheetSum, more: SheetSum): void {
  for (let place = 0; place < FIGURES.length; place += 1) to[place] = (to[place] ?? 0) + (more[place] ?? 0);
}

/** Adds to the sum of a key, which begins empty. */
export function addSumTo<K>(sums: Map<K, SheetSum>, key: K, more: SheetSum): void {
  const sum = sums.get(key) ?? emptySum();
  sums.set(key, sum);
  addSum(sum, more);
}

/** What is left of a sum once its parts are taken out. */
export const sumWithout = (sum: SheetSum, parts: readonly SheetSum[]): SheetSum =>
  Float64Array.from(FIGURES, (_, place) =>
    parts.reduce((left, part) => left - (part[place] ?? 0), sum[place] ?? 0),
  );

/** What a sheet keeps of a day of usage. Durations have fractions of a second, never of a millisecond. */
export function sumOfTally(tally: UsageTally): SheetSum {
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
export function packedRows(rows: ReadonlyMap<number, SheetSum>): Uint8Array {
  const bytes: number[] = [FORM];
  const write = (value: number): void => {
    let left = value;
    while (left >= 128) {
      bytes.push((left % 128) + 128);
      left = Math.floor(left / 128);
    }
    bytes.push(left);
  };
  let before = 0;
  for (const [id, sum] of [...rows].sort(([a], [b]) => a - b)) {
    let mask = 0;
    for (let place = 0; place < FIGURES.length; place += 1) if ((sum[place] ?? 0) !== 0) mask += 2 ** place;
    if (mask === 0) continue;
    write(id - before);
    write(mask);
    // Below 0 is odd: corrections may take more than there was.
    for (const value of sum) if (value !== 0) write(value < 0 ? -2 * value - 1 : 2 * value);
    before = id;
  }
  return Uint8Array.from(bytes);
}

/** @param visit - is given the same array each time: keep its numbers, not itself. */
export function eachRow(bytes: Uint8Array, visit: (id: number, sum: SheetSum) => void): void {
  if (bytes[0] !== FORM) return;
  const sum = emptySum();
  const { length } = bytes;
  let at = 1;
  let id = 0;
  let mask = 0;
  let places: readonly number[] = [];
  // The place of the number that is read: -2 is the id, -1 the mask. Numbers are read here and not in a function: it takes half the time.
  let place = -2;
  let next = 0;
  while (at < length) {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      if (byte < 128) {
        value += byte * scale;
        break;
      }
      value += (byte - 128) * scale;
    }
    if (place === -2) {
      id += value;
      place = -1;
      continue;
    }
    if (place === -1) {
      if (value !== mask) {
        mask = value;
        places = placesIn(mask);
        sum.fill(0);
      }
      next = 0;
    } else {
      sum[place] = value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    }
    if (next === places.length) {
      visit(id, sum);
      place = -2;
    } else {
      place = places[next] ?? 0;
      next += 1;
    }
  }
}

/** At most as many as there are masks, and those that occur are few. */
const placesByMask = new Map<number, readonly number[]>();

/** Asked for each row whose figures are others than those of the row before. */
function placesIn(mask: number): readonly number[] {
  const known = placesByMask.get(mask);
  if (known !== undefined) return known;
  const places = FIGURES.flatMap((_, place) => ((mask & (1 << place)) === 0 ? [] : [place]));
  // A mask beyond the figures is a newer program's, or no mask.
  if (mask < 1 << FIGURES.length) placesByMask.set(mask, places);
  return places;
}
