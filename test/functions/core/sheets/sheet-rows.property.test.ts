/** Rows of a sheet are what was packed, also where only some of them, or only some of their figures, are read. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  eachLaterRow,
  eachRow,
  FIGURES,
  packedSums,
  type RowFilter,
} from '../../../../functions/core/sheets/sheet-rows.ts';

const LATER = FIGURES.indexOf('firstRuns');

const value = fc.oneof(
  fc.constant(0),
  fc.integer({ min: -200, max: 200 }),
  fc.integer({ min: -(2 ** 50), max: 2 ** 50 }),
);
const sum = fc
  .array(value, { minLength: FIGURES.length, maxLength: FIGURES.length })
  .map((values) => Float64Array.from(values));
const rows = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 300_000_000 }), sum), { maxLength: 40 })
  .map((all) => new Map(all));

type ReadRow = readonly [number, readonly number[]];

const readAs = (bytes: Uint8Array, filter?: RowFilter): readonly ReadRow[] => {
  const read: ReadRow[] = [];
  eachRow(bytes, (id, figures) => read.push([id, [...figures]]), filter);
  return read;
};

const laterOf = (bytes: Uint8Array | undefined, isWanted: (id: number) => boolean): readonly ReadRow[] => {
  const read: ReadRow[] = [];
  if (bytes !== undefined) eachLaterRow(bytes, isWanted, (id, figures) => read.push([id, [...figures]]));
  return read;
};

/** −0 is packed as 0. */
const plain = (figures: Iterable<number>): readonly number[] => [...figures].map((each) => each + 0);
const isSome = ([, figures]: ReadRow): boolean => figures.some((each) => each !== 0);

test('what is read is what was packed, whoever else stands on the sheet', () => {
  fc.assert(
    fc.property(rows, fc.func(fc.boolean()), fc.integer({ min: 1, max: LATER }), (all, isWanted, first) => {
      const { bytes, later } = packedSums(all);
      const packed = [...all].sort(([a], [b]) => a - b).map(([id, figures]) => [id, plain(figures)] as const);
      const firsts = packed.map(([id, figures]) => [id, figures.slice(0, LATER)] as const).filter(isSome);
      expect(readAs(bytes)).toEqual(firsts);
      const some = firsts.filter(([id]) => isWanted(id));
      const wanted = { has: (id: number) => isWanted(id) };
      expect(readAs(bytes, { wanted })).toEqual(some);
      const last = some.at(-1)?.[0] ?? -1;
      expect(readAs(bytes, { wanted, last })).toEqual(some);
      const cut = firsts.map(([id, figures]) => [
        id,
        figures.map((each, place) => (place < first ? each : 0)),
      ]);
      expect(readAs(bytes, { first })).toEqual(cut);
      const laters = packed
        .map(([id, figures]) => [id, figures.map((each, place) => (place < LATER ? 0 : each))] as const)
        .filter(isSome)
        .filter(([id]) => isWanted(id));
      expect(laterOf(later, isWanted)).toEqual(laters);
    }),
  );
});
