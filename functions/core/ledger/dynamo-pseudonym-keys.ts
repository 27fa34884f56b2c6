import { randomBytes } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { versioned } from '../store/item-version.ts';
import { ledgerKeys } from '../store/keys.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { tableCalls } from '../store/table-calls.ts';
import type { PseudonymKeys } from './pseudonym-keys.ts';

export interface DynamoPseudonymKeysOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

const TIMEOUT_MS = 5_000;
const KEY_BYTES = 32;
const KEY = 'k';
/** The longest job, the longest year and 90 days: by then the last record of the year is gone. */
const KEPT_DAYS = 35 + 367 + 90;
const DAY_SECONDS = 86_400;

/** One item per year, which only the nightly check and operators may read. */
export function dynamoPseudonymKeys({
  client,
  tableName,
  instance,
}: DynamoPseudonymKeysOptions): PseudonymKeys {
  const keys = ledgerKeys(instance);
  const answered = tableCalls(tableName, TIMEOUT_MS);
  const known = new Map<number, Uint8Array>();
  const itemKey = (year: number) => {
    const { pk, sk } = keys.pseudonymKey(year);
    return { [PK]: { S: pk }, [SK]: { S: sk } };
  };

  async function find(year: number): Promise<Uint8Array | undefined> {
    const cached = known.get(year);
    if (cached !== undefined) return cached;
    const command = new GetItemCommand({ TableName: tableName, Key: itemKey(year), ConsistentRead: true });
    const { Item } = await answered('read a key of pseudonyms', (abortSignal) =>
      client.send(command, { abortSignal }),
    );
    const key = Item?.[KEY]?.B;
    if (key !== undefined) known.set(year, key);
    return key;
  }

  async function make(year: number): Promise<void> {
    const expiresAtSeconds = Date.UTC(year + 1, 0, 1) / 1000 + KEPT_DAYS * DAY_SECONDS;
    const command = new PutItemCommand({
      TableName: tableName,
      Item: {
        ...itemKey(year),
        ...versioned,
        [KEY]: { B: randomBytes(KEY_BYTES) },
        [TTL_ATTRIBUTE]: { N: String(expiresAtSeconds) },
      },
      ConditionExpression: `attribute_not_exists(${PK})`,
    });
    await answered('make a key of pseudonyms', (abortSignal) =>
      client.send(command, { abortSignal }).catch((error: unknown) => {
        // Somebody else made it: that is the one.
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }),
    );
  }

  return {
    find,
    async keyOf(year) {
      const there = await find(year);
      if (there !== undefined) return there;
      await make(year);
      return (await find(year)) ?? Promise.reject(new Error(`the key of ${year} was made and is not there`));
    },
  };
}
