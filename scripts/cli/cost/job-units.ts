import { batchPlace, valueAt, valueBetween } from './between.ts';
import { type JobOutcome, MEASURED_COSTS, type MeasuredCosts } from './measured-costs.ts';

export interface JobBatches {
  /** Jobs of one project that are admitted together. */
  readonly batch: number;
  /** Ends that one call of the settlement gets. */
  readonly settleBatch: number;
  /** Records that one call of the rollup gets. */
  readonly rollupBatch: number;
}

/** Cost of one job in table and log. */
export interface JobUnits {
  readonly writeUnits: Readonly<Record<WriteKind, number>>;
  readonly readUnits: Readonly<Record<ReadKind, number>>;
  /** Each item that is kept, with the days it is kept. */
  readonly kept: readonly { readonly bytes: number; readonly days: number }[];
  /** The relay's line about the decision. */
  readonly decisionLineBytes: number;
}

type WriteKind = 'hold' | 'announced' | 'inbox' | 'settle' | 'dueIndex' | 'rollup' | 'estimates' | 'top';
type ReadKind = 'estimates' | 'ledger' | 'rollup';

/** Exactly what was counted where it was counted; in between, what a share of each batch comes to. */
export function jobUnits(
  outcome: JobOutcome,
  counters: number,
  { batch, settleBatch, rollupBatch }: JobBatches,
  { batches, together, jobs }: MeasuredCosts = MEASURED_COSTS,
): JobUnits {
  const { byBatch, byBatchAndTogether: both, perCounter, byCounters, kept, ...job } = jobs[outcome];
  const admitting = batchPlace(batches, batch);
  const [settling, summing] = [batchPlace(together, settleBatch), batchPlace(together, rollupBatch)];
  /** Records are read once per larger batch. */
  const looking = batchPlace(together, Math.max(settleBatch, rollupBatch));
  // A job that no limit counts cannot be rejected.
  const counted = outcome === 'rejected' ? Math.max(1, counters) : counters;
  const recordBytes = byCounters.recordBytes[counters] ?? kept.record.bytes;
  /** A record is part of a transaction: each started KB beyond the first is two units. */
  const larger = 2 * (Math.ceil(recordBytes / 1024) - 1);
  const isSettled = valueBetween(both.settle, admitting, settling) > 0;
  return {
    writeUnits: {
      hold: valueAt(byBatch.hold, admitting) + counted * valueAt(perCounter.hold, admitting) + larger,
      announced: valueAt(byBatch.announced, admitting),
      inbox: job.inboxWrites,
      settle:
        valueBetween(both.settle, admitting, settling) +
        counted * valueBetween(perCounter.settle, admitting, settling) +
        (isSettled ? larger : 0),
      dueIndex: valueAt(byBatch.dueIndex, admitting),
      rollup: valueBetween(both.rollup, admitting, summing),
      estimates: byCounters.inHistories[counters] ? valueBetween(both.estimates, admitting, summing) : 0,
      top: valueBetween(both.top, admitting, summing),
    },
    readUnits: {
      estimates: job.estimatesReads / batch,
      ledger:
        valueBetween(both.ledgerReads, admitting, looking) +
        counted * valueAt(perCounter.ledgerReads, admitting),
      rollup: valueBetween(both.rollupReads, admitting, summing),
    },
    kept: [{ ...kept.record, bytes: recordBytes }, kept.contribution, kept.inbox],
    decisionLineBytes: job.decisionLineBytes,
  };
}
