/** Which jobs of the last days an edit would have failed, by every record there is: for whoever may read the whole table. */
import type { LedgerStore } from '../../core/ledger/index.ts';
import { ComparisonTally, type EditComparison } from './compare-recent.ts';
import { jobsInOrder } from './jobs-in-order.ts';
import { BacktestQuestions } from './question.ts';
import { Replay } from './replay.ts';
import { jobsThatMatter } from './replayed-jobs.ts';

/** Reads the table twice, and writes nothing. */
export const compareAll =
  (store: LedgerStore): EditComparison =>
  async ({ sinceMs, untilMs, policy, directory, before, after, subjects }) => {
    const [now, then] = [before, after].map(
      (limits) => new Replay(new BacktestQuestions({ policy, limits, directory }), sinceMs),
    );
    const tally = new ComparisonTally();
    let jobsRead = 0;
    for await (const record of jobsInOrder(store, jobsThatMatter({ sinceMs, untilMs }, before, after))) {
      jobsRead += 1;
      const [asIs, edited] = [now?.next(record), then?.next(record)];
      if (record.decidedAtMs >= sinceMs) tally.add(subjects.of(record), asIs, edited);
    }
    return { fromMs: sinceMs, untilMs, complete: true, ...tally.figures(), jobsRead };
  };
