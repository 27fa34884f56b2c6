/**
 * Counts jobs that an edit would have failed, from every record: for callers that may read the whole table.
 */
import type { LedgerStore } from '../../core/ledger/index.ts';
import type { CompareEdit, Counted } from './count-jobs.ts';
import { jobsInOrder } from './jobs-in-order.ts';
import { BacktestQuestions } from './question.ts';
import { Replay } from './replay.ts';
import { jobsThatMatter } from './replayed-jobs.ts';

/** Replays the jobs whose records can be read. */
export type EditComparison = (asked: CompareEdit) => Promise<Counted>;

/** Reads the table twice, and writes nothing. */
export const compareAll =
  (store: LedgerStore): EditComparison =>
  async ({ sinceMs, untilMs, policy, directory, before, after, onJob }) => {
    const [now, then] = [before, after].map(
      (limits) => new Replay(new BacktestQuestions({ policy, limits, directory }), sinceMs),
    );
    let jobsRead = 0;
    for await (const record of jobsInOrder(store, jobsThatMatter({ sinceMs, untilMs }, before, after))) {
      jobsRead += 1;
      const [asIs, edited] = [now?.next(record), then?.next(record)];
      if (record.decidedAtMs >= sinceMs) onJob(record, asIs, edited);
    }
    return { countedToMs: untilMs, jobsRead };
  };
