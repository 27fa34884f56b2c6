/** What the jobs of this process do, counted into what pages show of the past. */
import { type CountUsageDeps, countUsage } from './count-usage.ts';
import type { LocalLedger } from './ledger-source.ts';
import { politeRollupStore } from './polite-rollup-store.ts';

interface UsageCounter {
  /** Resolves when everything that was written before is counted. */
  idle(): Promise<void>;
}

interface UsageCounterOptions extends CountUsageDeps {
  readonly ledger: LocalLedger;
}

/** A transaction of twice as many takes a database at home a tenth of a second, in which nothing is decided. */
const BATCH_JOBS = 50;
/** The same database decides jobs. So most jobs are counted once, when they are through, and many in one write. */
const COUNT_EVERY_MS = 5_000;
/** Where there is never a quiet moment, pages are behind by some of these. */
const TURN_MS_MAX = 500;
const READ_TIMEOUT_MS = 5_000;

/** Begins with the jobs that the ledger tells of from now on. */
export function startUsageCounter(options: UsageCounterOptions): UsageCounter {
  const { ledger, onTrouble } = options;
  const turn = (): Promise<void> => ledger.quiet(TURN_MS_MAX);
  const usage = politeRollupStore(ledger.usage, turn);
  // A job that is written again before it was counted is counted once, as it is then.
  const waiting = new Set<number>();
  let counting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function countAll(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, BATCH_JOBS);
      for (const jobId of batch) waiting.delete(jobId);
      try {
        const records = await ledger.store.readRecords(batch, { timeoutMs: READ_TIMEOUT_MS });
        await countUsage(
          records.filter((record) => record !== undefined),
          { ...options, ledger: { keys: ledger.keys, usage } },
        );
      } catch (error) {
        onTrouble(`usage is not counted (${String(error)})`);
      }
    }
  }

  const countNow = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    counting ??= countAll().finally(() => {
      counting = undefined;
    });
    return counting;
  };
  ledger.onWritten((jobIds) => {
    for (const jobId of jobIds) waiting.add(jobId);
    timer ??= setTimeout(() => void countNow(), COUNT_EVERY_MS).unref();
  });
  return {
    async idle() {
      while (counting !== undefined || waiting.size > 0) await countNow();
    },
  };
}
