/** Values between those that were counted. */

/** Between the `low`-th and the `high`-th value of a list: `share` of the way. */
interface PlaceInList {
  readonly low: number;
  readonly high: number;
  readonly share: number;
}

/** Interpolates a size among ascending ones; beyond the last it extrapolates. */
function placeIn(sizes: readonly number[], size: number, scale: (size: number) => number): PlaceInList {
  const found = sizes.findIndex((each) => each >= size);
  const high = found === -1 ? sizes.length - 1 : found;
  const [below, above] = [sizes[high - 1], sizes[high]];
  if (below === undefined || above === undefined || above === size) return { low: high, high, share: 0 };
  const share = (scale(size) - scale(below)) / (scale(above) - scale(below));
  return { low: high - 1, high, share };
}

/** Shared costs of a batch are divided by its size, so values are linear in the inverse of the size. */
export const batchPlace = (batches: readonly number[], batch: number): PlaceInList =>
  placeIn(batches, batch, (size) => 1 / size);

export const countPlace = (counts: readonly number[], count: number): PlaceInList =>
  placeIn(counts, count, (size) => size);

export function valueAt(values: readonly number[], { low, high, share }: PlaceInList): number {
  const [from, to] = [values[low] ?? Number.NaN, values[high] ?? Number.NaN];
  return share === 0 ? from : from + share * (to - from);
}

export const valueBetween = (
  rows: readonly (readonly number[])[],
  row: PlaceInList,
  column: PlaceInList,
): number =>
  valueAt(
    rows.map((values) => valueAt(values, column)),
    row,
  );
