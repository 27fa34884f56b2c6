import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LedgerClock } from '../ledger/ledger.ts';
import type { Item } from './item-bytes.ts';
import type { Key } from './keys.ts';
import { PK, SK } from './table.ts';

export interface BatchGetDeps {
  readonly client: DynamoDBClient;
  readonly tableName: string;
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
 * @throws whatever the client throws, and {Error} when a busy table keeps leaving keys unread.
 */
export async function batchGet(
  wanted: readonly Key[],
  timeoutMs: number,
  deps: BatchGetDeps,
): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  const abortSignal = AbortSignal.timeout(Math.ceil(timeoutMs));
  const distinct = [...new Map(wanted.map((key) => [nameOf(key), key])).values()];
  const batches = Array.from({ length: Math.ceil(distinct.length / KEYS_MAX) }, (_, index) =>
    distinct.slice(index * KEYS_MAX, (index + 1) * KEYS_MAX),
  );
  await Promise.all(batches.map((batch) => readBatch(batch, found, abortSignal, deps)));
  return wanted.map((key) => found.get(nameOf(key)));
}

async function readBatch(
  batch: readonly Key[],
  found: Map<string, Item>,
  abortSignal: AbortSignal,
  { client, tableName, clock, random }: BatchGetDeps,
): Promise<void> {
  let left: Item[] = batch.map(({ pk, sk }) => ({ [PK]: { S: pk }, [SK]: { S: sk } }));
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const command = new BatchGetItemCommand({
      RequestItems: { [tableName]: { Keys: left, ConsistentRead: true } },
    });
    const answer = await client.send(command, { abortSignal });
    for (const item of answer.Responses?.[tableName] ?? []) {
      found.set(nameOf({ pk: item[PK]?.S ?? '', sk: item[SK]?.S ?? '' }), item);
    }
    left = answer.UnprocessedKeys?.[tableName]?.Keys ?? [];
    if (left.length === 0) return;
    await clock.sleep(random() * PAUSE_MS * round);
  }
  throw new Error(`${left.length} keys left unread after ${ROUNDS_MAX} rounds`);
}

const nameOf = (key: Key): string => `${key.pk}\n${key.sk}`;
