import type { LedgerStore, TransactOutcome, Write } from '../../../functions/core/ledger/index.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Clock } from '../../local/clock/clock.ts';
import { logNormal } from '../../local/workload/draw-pipeline.ts';
import { CONTENTION } from './contention-constants.ts';

/**
 * Puts the service's contention rules in front of a store that has none: a transaction holds its items for a share of
 * its time, another one that touches a held item fails with a conflict, and an item takes so many write units a second.
 */
export function contendedStore(
  store: LedgerStore,
  time: Pick<Clock, 'monotonicMs' | 'sleep'>,
  random: () => number,
): LedgerStore {
  const held = new Set<string>();
  const budgets = new Map<string, Budget>();

  async function transact(
    writes: readonly Write[],
    options: Parameters<LedgerStore['transact']>[1],
  ): Promise<TransactOutcome> {
    const items = writes.map(itemOf);
    const durationMs = logNormal(CONTENTION.transactionMs, CONTENTION.transactionSigma, random);
    await time.sleep(CONTENTION.networkMs);
    const hit =
      met('conflict', items, (item) => held.has(item)) ?? takeAll(budgets, items, time.monotonicMs());
    if (hit !== undefined) {
      await time.sleep(CONTENTION.networkMs);
      return hit;
    }
    for (const item of items) held.add(item);
    await time.sleep(durationMs * CONTENTION.heldShare);
    const outcome = await store.transact(writes, options);
    for (const item of items) held.delete(item);
    await time.sleep(durationMs * (1 - CONTENTION.heldShare) + CONTENTION.networkMs);
    return outcome;
  }

  async function afterRead<T>(read: Promise<T>): Promise<T> {
    await time.sleep(logNormal(CONTENTION.readMs, CONTENTION.readSigma, random));
    return read;
  }

  return {
    transact,
    readCounters: (keys, options) => afterRead(store.readCounters(keys, options)),
    readRecords: (jobIds, options) => afterRead(store.readRecords(jobIds, options)),
    readEntries: (jobId, options) => afterRead(store.readEntries(jobId, options)),
    scan: () => store.scan(),
    due: (shard, beforeMs, limit, options) => afterRead(store.due(shard, beforeMs, limit, options)),
    announce: (announcement, options) => afterRead(store.announce(announcement, options)),
  };
}

interface Budget {
  units: number;
  atMs: number;
}

/** The outcome of a transaction some of whose items are taken; undefined: none is. */
function met(
  outcome: 'conflict' | 'throttled',
  items: readonly string[],
  isTaken: (item: string) => boolean,
): TransactOutcome | undefined {
  const contended = items.flatMap((item, place) => (isTaken(item) ? [place] : []));
  return contended.length === 0 ? undefined : { outcome, contended };
}

/** Takes the write units of every item, or throttles and takes none. */
function takeAll(
  budgets: Map<string, Budget>,
  items: readonly string[],
  nowMs: number,
): TransactOutcome | undefined {
  const { itemWriteUnitsPerSecond: perSecond, transactionWriteUnitsPerItem: cost } = CONTENTION;
  const taken = items.map((item) => {
    const budget = budgets.get(item) ?? { units: perSecond, atMs: nowMs };
    budget.units = Math.min(perSecond, budget.units + ((nowMs - budget.atMs) * perSecond) / 1000);
    budget.atMs = nowMs;
    budgets.set(item, budget);
    return budget;
  });
  const throttled = met('throttled', items, (item) => (budgets.get(item)?.units ?? 0) < cost);
  if (throttled !== undefined) return throttled;
  for (const budget of taken) budget.units -= cost;
  return undefined;
}

function itemOf(write: Write): string {
  switch (write.kind) {
    case 'record':
      return `job ${write.record.jobId}`;
    case 'entry':
      return `entry ${write.entry.jobId} ${write.entry.number}`;
    case 'counter':
    case 'reset':
      return `counter ${counterName(write.key)}`;
    case 'closing':
      return `closing ${counterName(write.closing.key)}`;
  }
}
