/** The rollup as a deployment runs it, fed by the jobs this process writes: images of their records as they are now. */
import { recordItem } from '../../functions/ledger/record-size.ts';
import { placeBy } from '../../functions/rollup/contribution.ts';
import { rollUp } from '../../functions/rollup/roll-up.ts';
import { silentLog } from '../../functions/shared/log.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { LocalLedger } from './ledger-source.ts';

export interface UsageCounter {
  /** These jobs' records were written, or perhaps were. Jobs that the ledger tells of from now on need no telling. */
  written(jobIds: readonly number[]): void;
  /** Resolves when everything that was written before is counted. */
  idle(): Promise<void>;
}

export interface UsageCounterOptions {
  readonly ledger: LocalLedger;
  readonly directory: Directory | undefined;
  /** Of the days of usage. */
  readonly zone: string;
  readonly clock: Parameters<typeof rollUp>[1]['clock'];
  readonly onTrouble: (text: string) => void;
}

/** As many as a stream's batch. */
const BATCH_JOBS = 100;
const TRIES_MAX = 3;
/** Many jobs of a group together are one write of its usage, and the database has jobs to decide. */
const COUNT_EVERY_MS = 1_000;
const READ_TIMEOUT_MS = 5_000;

export function startUsageCounter(options: UsageCounterOptions): UsageCounter {
  const { ledger, clock, directory, zone, onTrouble } = options;
  const { store, keys, usage } = ledger;
  const deps = {
    store: usage,
    keys,
    clock,
    random: Math.random,
    placeOf: placeBy(directory, zone),
    log: silentLog,
  };
  // A job that is written again before it was counted is counted once, as it is then.
  const waiting = new Set<number>();
  let counting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function count(jobIds: readonly number[]): Promise<void> {
    const records = await store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS });
    const Records = records.flatMap((record) =>
      record === undefined
        ? []
        : [{ dynamodb: { SequenceNumber: String(record.jobId), NewImage: recordItem(record, keys) } }],
    );
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      if ((await rollUp({ Records }, deps)).batchItemFailures.length === 0) return;
    }
    onTrouble('some jobs are not counted in what the console shows of the past');
  }

  async function countAll(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, BATCH_JOBS);
      for (const jobId of batch) waiting.delete(jobId);
      await count(batch).catch((error: unknown) => onTrouble(`usage is not counted (${String(error)})`));
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
  const written = (jobIds: readonly number[]): void => {
    for (const jobId of jobIds) waiting.add(jobId);
    timer ??= setTimeout(() => void countNow(), COUNT_EVERY_MS).unref();
  };
  ledger.onWritten(written);
  return {
    written,
    async idle() {
      while (counting !== undefined || waiting.size > 0) await countNow();
    },
  };
}
