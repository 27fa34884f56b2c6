/**
 * Table units of an admitted job, counted on the real programs by scripts/proof/bench/job-units.ts. A test counts some of them
 * again and shows what to write here after a change.
 */

/** Jobs of one project that are admitted, and end, together. */
const BATCHES = [1, 5, 30] as const;
/** Records that one call of the rollup gets: two of a job. */
const ROLLUP_BATCHES = [1, 5, 30, 200] as const;

export const MEASURED = {
  batches: BATCHES,
  rollupBatches: ROLLUP_BATCHES,
  dueIndex: 2,
  ledgerReads: 1,
  /** Record, and the rollup's note about it. */
  recordBytes: 709,
  /** Write units of usage per day, run histories and top lists: a row per size of a batch, a column per size of the rollup's. */
  usage: [
    [32, 24, 12.733333, 10.13],
    [31.933333, 9.6, 7.933333, 6.21],
    [31.933333, 9.588889, 4.933333, 4.952381],
  ],
  usageReads: [
    [6.5, 5.7, 3.933333, 1.815],
    [6.5, 2.1, 1.933333, 1.565],
    [6.5, 2.1, 1.183333, 1.171429],
  ],
} as const;

/** Write units of a hold, or of a settlement: a transaction of the record and its share of the batch's counters. */
export const holdUnits = (batch: number, counters: number): number => 2 + (2 * counters) / batch;

/** Interpolates between the counted sizes. Costs of a batch are shared, so they are linear in the inverse of its size. */
export const usageUnits = (name: 'usage' | 'usageReads', batch: number, rollupBatch: number): number =>
  between(
    BATCHES,
    MEASURED[name].map((row) => between(ROLLUP_BATCHES, row, rollupBatch)),
    batch,
  );

/** Beyond the last size it extrapolates. */
function between(sizes: readonly number[], values: readonly number[], size: number): number {
  const found = sizes.findIndex((each) => each >= size);
  const high = Math.max(1, found === -1 ? sizes.length - 1 : found);
  const [from = Number.NaN, to = Number.NaN] = [sizes[high - 1], sizes[high]];
  const [below = Number.NaN, above = Number.NaN] = [values[high - 1], values[high]];
  return below + ((1 / size - 1 / from) / (1 / to - 1 / from)) * (above - below);
}
