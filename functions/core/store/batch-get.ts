import type { LedgerClock } from '../environment/index.ts';
import type { Item } from './item-bytes.ts';
import type { Key } from './keys.ts';
import { type ItemTable, keyOf, TimeLimit } from './operation.ts';
import { retried } from './retried.ts';

export interface BatchGetDeps {
  readonly table: ItemTable;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

/** DynamoDB's own bound on BatchGetItem. */
const KEYS_MAX = 100;
/** Keys left over by a busy table; more than a few rounds of them mean that it is too busy. */
const ROUNDS_MAX = 5;
const PAUSE_MS = 20;

/**
 * Reads items consistently, a hundred at a time and all at once. One per key, same order.
 *
 * @throws whatever the table throws, and {Error} when a busy table keeps leaving keys unread.
 */
export async function batchGet(
  wanted: readonly Key[],
  timeoutMs: number,
  deps: BatchGetDeps,
): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  const limit = new TimeLimit(timeoutMs);
  const distinct = [...new Map(wanted.map((key) => [nameOf(key), key])).values()];
  const batches = Array.from({ length: Math.ceil(distinct.length / KEYS_MAX) }, (_, index) =>
    distinct.slice(index * KEYS_MAX, (index + 1) * KEYS_MAX),
  );
  await Promise.all(batches.map((batch) => readBatch(batch, found, limit, deps)));
  return wanted.map((key) => found.get(nameOf(key)));
}

async function readBatch(
  batch: readonly Key[],
  found: Map<string, Item>,
  limit: TimeLimit,
  { table, clock, random }: BatchGetDeps,
): Promise<void> {
  let keys = batch;
  const readRest = async (): Promise<void> => {
    const { items, left } = await table.send('BatchGetItem', { keys }, limit);
    for (const item of items) found.set(nameOf(keyOf(item)), item);
    keys = left;
  };
  await retried(readRest, () => keys.length > 0, {
    clock,
    random,
    triesMax: ROUNDS_MAX,
    pauseMsMax: (rounds) => PAUSE_MS * rounds,
  });
  if (keys.length > 0) throw new Error(`${keys.length} keys left unread after ${ROUNDS_MAX} rounds`);
}

const nameOf = (key: Key): string => `${key.pk}\n${key.sk}`;
