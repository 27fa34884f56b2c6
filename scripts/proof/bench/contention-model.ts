import type { LedgerStore, TransactOutcome, Write } from '../../../functions/core/ledger/store.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Clock } from '../../local/clock.ts';
import { logNormal } from '../../local/random.ts';

/**
 * The constants of the contention model. DynamoDB Local never raises TransactionConflict, so contention is modelled, and
 * every figure that rests on these is printed as "modelled".
 *
 * AWS documents the 1000 write units per second of an item, the doubled cost of transactional writes, and that a
 * transaction on an item held by another fails immediately. The times are estimates.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export const CONTENTION = {
  networkMs: 1,
  transactionMs: 7,
  transactionSigma: 0.35,
  /** The share of that time for which a transaction holds its items against others. */
  heldShare: 0.7,
  updateMs: 4,
  updateSigma: 0.35,
  readMs: 2,
  readSigma: 0.35,
  /** Per item: the limit of one partition, which adaptive capacity cannot pass. */
  itemWriteUnitsPerSecond: 1000,
  /** Each item of a transaction is prepared and committed. */
  transactionWriteUnitsPerItem: 2,
} as const;

/** One undisturbed transaction of the model: the unit of latencies. */
export const MODELLED_TRANSACTION_MS = 2 * CONTENTION.networkMs + CONTENTION.transactionMs;

export type ModelTime = Pick<Clock, 'monotonicMs' | 'sleep'>;

export function itemBudgets(time: ModelTime) {
  const perSecond = CONTENTION.itemWriteUnitsPerSecond;
  const budgets = new Map<string, { units: number; atMs: number }>();
  const refilled = (item: string) => {
    const nowMs = time.monotonicMs();
    const { units, atMs } = budgets.get(item) ?? { units: perSecond, atMs: nowMs };
    const budget = { units: Math.min(perSecond, units + ((nowMs - atMs) * perSecond) / 1000), atMs: nowMs };
    budgets.set(item, budget);
    return budget;
  };
  return {
    has: (item: string, units: number): boolean => refilled(item).units >= units,
    take: (item: string, units: number): void => {
      refilled(item).units -= units;
    },
  };
}

/**
 * Adds DynamoDB's contention rules to a store that has none: a transaction holds its items for a share of its time,
 * another one that touches a held item fails with a conflict, and an item takes a limited number of write units a second.
 */
export function contendedStore(store: LedgerStore, time: ModelTime, random: () => number): LedgerStore {
  const held = new Set<string>();
  const budgets = itemBudgets(time);
  const units = CONTENTION.transactionWriteUnitsPerItem;

  function refused(items: readonly string[]): TransactOutcome | undefined {
    const indexes = (isTaken: (item: string) => boolean) =>
      items.flatMap((item, index) => (isTaken(item) ? [index] : []));
    const conflicts = indexes((item) => held.has(item));
    if (conflicts.length > 0) return { outcome: 'conflict', contended: conflicts };
    const throttled = indexes((item) => !budgets.has(item, units));
    if (throttled.length > 0) return { outcome: 'throttled', contended: throttled };
    for (const item of items) budgets.take(item, units);
    return undefined;
  }

  async function transact(
    writes: readonly Write[],
    options: Parameters<LedgerStore['transact']>[1],
  ): Promise<TransactOutcome> {
    const items = writes.map(itemOf);
    const durationMs = logNormal(CONTENTION.transactionMs, CONTENTION.transactionSigma, random);
    await time.sleep(CONTENTION.networkMs);
    const refusal = refused(items);
    if (refusal !== undefined) {
      await time.sleep(CONTENTION.networkMs);
      return refusal;
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
