import { type LiveHold, liveHoldOf } from '../core/truth/index.ts';
import type { SweepRun } from './sweep-run.ts';

/** DynamoDB's bound on one batch; records are large, and only one batch is in memory. */
const BATCH = 100;

/** The jobs that are live by their own records, in the given order. @throws {LedgerError} `ledger_unavailable` */
export async function readLiveHolds(
  jobIds: readonly number[],
  { ledger, memory }: Pick<SweepRun, 'ledger' | 'memory'>,
): Promise<readonly LiveHold[]> {
  const holds: LiveHold[] = [];
  for (let start = 0; start < jobIds.length; start += BATCH) {
    for (const record of await ledger.readRecords(jobIds.slice(start, start + BATCH))) {
      const hold = liveHoldOf(record);
      if (hold === undefined) continue;
      const runnerId = hold.runnerId ?? memory.runnerOf.get(hold.jobId);
      holds.push(runnerId === undefined ? hold : { ...hold, runnerId });
    }
  }
  return holds;
}
