import type { LedgerStore } from '../../core/ledger/index.ts';
import { type BacktestFigures, BacktestTally } from './figures.ts';
import { type BacktestOptions, replayedJobs } from './replayed-jobs.ts';

/** Which jobs the rules would reject, and what the jobs would cost. Reads the ledger twice, and writes nothing. */
export async function backtest(store: LedgerStore, options: BacktestOptions): Promise<BacktestFigures> {
  const tally = new BacktestTally();
  for await (const replayed of replayedJobs(store, options)) {
    if (replayed === undefined) tally.addUnasked();
    else tally.add(replayed);
  }
  return tally.figures();
}
