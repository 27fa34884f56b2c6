/** Sums by name ↔ sheets, whose rows are places in a list of names. Pure. */
import { addSumTo, eachSum, packedSums, type Sheet, type SheetSum } from '../core/sheets/index.ts';

export type NamedSums = ReadonlyMap<string, SheetSum>;

/** Most expensive first, up to a bound. */
export function namedSheet(sums: NamedSums, rowsMax: number): Pick<Sheet, 'bytes' | 'later' | 'names'> {
  const all = [...sums].sort(
    ([nameA, a], [nameB, b]) => (b[0] ?? 0) - (a[0] ?? 0) || (nameA < nameB ? -1 : 1),
  );
  const rows = all.slice(0, rowsMax);
  return {
    names: rows.map(([name]) => name),
    ...packedSums(new Map(rows.map(([, sum], place) => [place, sum]))),
  };
}

export function sumsOfSheets(sheets: readonly Pick<Sheet, 'bytes' | 'later' | 'names'>[]): NamedSums {
  const sums = new Map<string, SheetSum>();
  for (const { names = [], ...sheet } of sheets)
    eachSum(sheet, (place, sum) => addSumTo(sums, names[place] ?? '', sum));
  return sums;
}
