/** One item of the table that is read and replaced whole. */
import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Item } from './item-bytes.ts';
import { versioned } from './item-version.ts';
import type { Key } from './keys.ts';
import { PK, SK } from './table.ts';
import { tableCalls } from './table-calls.ts';

export interface SingleItemOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly key: Key;
  /** What it is, for whoever reads that a call failed: `the scope`. */
  readonly name: string;
  /** Whether a read sees what was just written, for a whole read unit instead of half a one. */
  readonly consistent: boolean;
}

export interface SingleItem {
  /** Undefined: it is not there. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<Item | undefined>;
  /** @throws {LedgerError} `ledger_unavailable` */
  write(attributes: Readonly<Record<string, AttributeValue>>): Promise<void>;
}

const TIMEOUT_MS = 3_000;

export function singleItem({ client, tableName, key, name, consistent }: SingleItemOptions): SingleItem {
  const Key = { [PK]: { S: key.pk }, [SK]: { S: key.sk } };
  const answered = tableCalls(tableName, TIMEOUT_MS);
  return {
    async read() {
      const command = new GetItemCommand({ TableName: tableName, Key, ConsistentRead: consistent });
      const { Item } = await answered(`read ${name}`, (abortSignal) => client.send(command, { abortSignal }));
      return Item;
    },
    async write(attributes) {
      const command = new PutItemCommand({
        TableName: tableName,
        Item: { ...Key, ...versioned, ...attributes },
      });
      await answered(`write ${name}`, (abortSignal) => client.send(command, { abortSignal }));
    },
  };
}
