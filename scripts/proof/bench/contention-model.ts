import { itemWrite } from '../../../functions/core/ledger/items.ts';
import type { LedgerStore, TransactOutcome } from '../../../functions/core/ledger/store.ts';
import { nameOf } from '../../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import { keyOf } from '../../../functions/core/store/operation.ts';
import type { Clock } from '../../local/clock.ts';
import { logNormal } from '../../local/random.ts';
import { storeWith } from './counting-store.ts';

/**
 * The constants of the contention model. DynamoDB Local never raises TransactionConflict, so contention is modelled, and
 * every figure that rests on these is printed as "modelled".
 *
 * AWS documents the 1000 write units per second of an item, the doubled cost of transactional writes, and that a
 * transaction on an item held by another fails immediately. The times are estimates: AWS publishes no figure. A measurement of
 * 2020 found 25 ms with 5 items and 32 ms with 25, a slow client included. `npm run bench:aws` measures your account first.
 *
 * @see https://github.com/alexdebrie/dynamodb-performance-testing/tree/master/put-batch-transaction-performance
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export const CONTENTION = {
  networkMs: 1,
  /** With up to four items. Each further one takes `itemMs`. */
  transactionMs: Number(process.env.BENCH_TRANSACTION_MS ?? 7),
  itemMs: Number(process.env.BENCH_ITEM_MS ?? 0.3),
  readMs: 2,
  /** Spread of the times of transactions and reads, as a log-normal distribution. */
  sigma: 0.35,
  /** The share of its time for which a transaction holds its items against others. */
  heldShare: 0.7,
  /** Per item: the limit of one partition, which adaptive capacity cannot pass. */
  itemWriteUnitsPerSecond: 1000,
  /** Each item of a transaction is prepared and committed. */
  transactionWriteUnitsPerItem: 2,
} as const;

/** One undisturbed transaction of the model: the unit of latencies. */
export const MODELLED_TRANSACTION_MS = 2 * CONTENTION.networkMs + CONTENTION.transactionMs;

type ModelTime = Pick<Clock, 'monotonicMs' | 'sleep'>;

const indexesWhere = <T>(list: readonly T[], isWanted: (each: T) => boolean): readonly number[] =>
  list.flatMap((each, index) => (isWanted(each) ? [index] : []));

/** @returns a function that takes units of all items, or of none and returns the indexes of the items that lack them. */
function itemBudgets(time: ModelTime) {
  const perSecond = CONTENTION.itemWriteUnitsPerSecond;
  const budgets = new Map<string, { units: number; atMs: number }>();
  return (items: readonly string[], units: number): readonly number[] => {
    const nowMs = time.monotonicMs();
    const refilled = items.map((item) => {
      const { units: left, atMs } = budgets.get(item) ?? { units: perSecond, atMs: nowMs };
      const budget = { units: Math.min(perSecond, left + ((nowMs - atMs) * perSecond) / 1000), atMs: nowMs };
      budgets.set(item, budget);
      return budget;
    });
    const lacking = indexesWhere(refilled, (budget) => budget.units < units);
    if (lacking.length === 0) for (const budget of refilled) budget.units -= units;
    return lacking;
  };
}

/**
 * Adds DynamoDB's contention rules to a store that has none: a transaction holds its items for a share of its time,
 * another one that touches a held item fails with a conflict, and an item takes a limited number of write units a second.
 */
export function contendedStore(
  store: LedgerStore,
  time: ModelTime,
  random: () => number,
  itemMs: number = CONTENTION.itemMs,
): LedgerStore {
  const { networkMs, transactionMs, heldShare, sigma } = CONTENTION;
  const keys = ledgerKeys('model');
  const held = new Set<string>();
  const takeUnits = itemBudgets(time);

  function refuse(items: readonly string[]): TransactOutcome | undefined {
    const conflicts = indexesWhere(items, (item) => held.has(item));
    if (conflicts.length > 0) return { outcome: 'conflict', contended: conflicts };
    const throttled = takeUnits(items, CONTENTION.transactionWriteUnitsPerItem);
    return throttled.length > 0 ? { outcome: 'throttled', contended: throttled } : undefined;
  }

  const transact: LedgerStore['transact'] = async (writes, options) => {
    const items = writes.map((write) => {
      const item = itemWrite(write, keys);
      return nameOf(item.kind === 'put' ? keyOf(item.item) : item.key);
    });
    const meanMs = transactionMs + itemMs * Math.max(0, items.length - 4);
    const durationMs = logNormal(meanMs, sigma, random);
    await time.sleep(networkMs);
    const refusal = refuse(items);
    if (refusal !== undefined) {
      await time.sleep(networkMs);
      return refusal;
    }
    for (const item of items) held.add(item);
    await time.sleep(durationMs * heldShare);
    const outcome = await store.transact(writes, options);
    for (const item of items) held.delete(item);
    await time.sleep(durationMs * (1 - heldShare) + networkMs);
    return outcome;
  };

  async function afterRead<T>(read: Promise<T>): Promise<T> {
    await time.sleep(logNormal(CONTENTION.readMs, sigma, random));
    return read;
  }

  return storeWith(store, {
    transact,
    readCounters: (...ask) => afterRead(store.readCounters(...ask)),
    readRecords: (...ask) => afterRead(store.readRecords(...ask)),
    readEntries: (...ask) => afterRead(store.readEntries(...ask)),
    due: (...ask) => afterRead(store.due(...ask)),
    announce: (...ask) => afterRead(store.announce(...ask)),
  } satisfies Partial<LedgerStore>);
}
