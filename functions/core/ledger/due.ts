/** Live jobs in the order of their due time, and the writing of a new one. The due order is the sweep's only cursor. */

import { DUE_SHARDS } from '../store/index.ts';
import type { DueJob, EndOutcome, JobRecord } from './ledger.ts';
import { type Move, noMove } from './move.ts';
import { isLive } from './settle.ts';
import type { LedgerStore, ReadOptions } from './store.ts';

/** Each round asks the shards that had more for twice as much: five rounds are sixteen times an even share, all of it. */
const ROUNDS_MAX = 5;

/**
 * Live jobs due before `beforeMs`, oldest first, at most `limit`. Every shard gives its own oldest, at least an even
 * share of `limit`: no shard can hide another. What the index shows late is shown by the next call.
 *
 * @throws {LedgerError} `ledger_unavailable`
 */
export async function dueJobs(
  beforeMs: number,
  limit: number,
  store: Pick<LedgerStore, 'due'>,
  options: ReadOptions,
): Promise<readonly DueJob[]> {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
  const found = new Map<number, readonly DueJob[]>();
  let share = Math.ceil(limit / DUE_SHARDS);
  let open = shards;
  for (let round = 1; round <= ROUNDS_MAX && open.length > 0; round += 1) {
    const asked = share;
    const pages = await Promise.all(open.map((shard) => store.due(shard, beforeMs, asked, options)));
    for (const [index, shard] of open.entries()) found.set(shard, pages[index] ?? []);
    const total = [...found.values()].reduce((sum, jobs) => sum + jobs.length, 0);
    if (total >= limit) break;
    open = open.filter((_, index) => (pages[index]?.length ?? 0) >= asked);
    share = Math.min(limit, share * 2);
  }
  return [...found.values()]
    .flat()
    .sort((a, b) => a.dueAtMs - b.dueAtMs || a.jobId - b.jobId)
    .slice(0, limit);
}

/** A live job gets another due time, and with it another place in the index. Nothing is counted. */
export function postponeMove(record: JobRecord | undefined, dueAtMs: number): Move<EndOutcome> {
  if (record === undefined) return noMove('unknown');
  if (!isLive(record) || record.dueAtMs === dueAtMs) return noMove('unchanged');
  return { outcome: 'applied', record: { ...record, dueAtMs, rev: record.rev + 1 }, changes: [] };
}
