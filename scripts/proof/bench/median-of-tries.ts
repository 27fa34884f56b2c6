import { type Figure, isFailedFigure, isMeasured, median } from './figure.ts';

/** Odd, so that the middle one is one that was measured. */
const TRIES = 3;

/**
 * Measures a part; when a ratio or a CPU time of it is missed, twice more, and the median of all three counts for each: a
 * neighbour on the machine spoils one measurement, code that became slower most of them. Counts are the same every time.
 */
export async function medianOfTries(
  measure: () => Promise<readonly Figure[]>,
  onAgain: (time: number, of: number) => void,
): Promise<readonly Figure[]> {
  const tries = [await measure()];
  if (!tries.flat().some((figure) => isMeasured(figure) && isFailedFigure(figure))) return tries.flat();
  while (tries.length < TRIES) {
    onAgain(tries.length + 1, TRIES);
    tries.push(await measure());
  }
  const [first = []] = tries;
  return first.map((figure, index) =>
    isMeasured(figure) ? middle(tries.flatMap((each) => each[index] ?? [])) : figure,
  );
}

/** The try in the middle, with the range of all. One that could not be measured (NaN) is the worst there is. */
function middle(figures: readonly Figure[]): Figure {
  const [first] = figures;
  if (first === undefined) throw new TypeError('a median of nothing');
  const worst = 'atLeast' in first.must ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = median(
    figures.map((figure) => (Number.isNaN(figure.value) ? worst : figure.value)).toSorted((a, b) => a - b),
  );
  const found = figures.find((figure) => figure.value === value) ?? { ...first, value };
  const ends = figures.flatMap(({ range }) => range ?? []);
  return ends.length === 0 ? found : { ...found, range: [Math.min(...ends), Math.max(...ends)] };
}
