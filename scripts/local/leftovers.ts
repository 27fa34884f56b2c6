import type { Ledger, LedgerStore } from '../../functions/core/ledger/index.ts';
import { DUE_SHARDS } from '../../functions/core/store/index.ts';

const AT_ONCE = 100;
/** More than any run leaves; what is beyond is left for the next one. */
const ROUNDS_MAX = 100;
const READ_TIMEOUT_MS = 5_000;

/**
 * Settles the jobs of a run that was killed, to what they were taken to cost: the GitLab that knew better is gone with
 * that run.
 */
export async function endLeftovers(store: LedgerStore, ledger: Ledger, nowMs: number): Promise<void> {
  const options = { timeoutMs: READ_TIMEOUT_MS };
  for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const due = await store.due(shard, Number.MAX_SAFE_INTEGER, AT_ONCE, options);
      if (due.length === 0) break;
      const records = await store.readRecords(
        due.map(({ jobId }) => jobId),
        options,
      );
      await ledger.settle(
        records.flatMap((record) =>
          record === undefined
            ? []
            : [{ jobId: record.jobId, durationSeconds: record.facts.estimateSeconds, endedAtMs: nowMs }],
        ),
      );
    }
  }
}
