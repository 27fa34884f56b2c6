/** Exported items back into a table: each where it is absent or older, so that reading back twice changes nothing. */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { CLOSED_AT, REV } from '../ledger/item.ts';
import type { Item } from '../store/item-bytes.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { tableCalls } from '../store/table-calls.ts';
import type { ExportedKind } from './exported-image.ts';

export interface DynamoRestoreOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** `kept`: the table has it already, as new or newer. */
export type Restored = 'restored' | 'kept';

export type RestoreItem = (item: Item, kind: ExportedKind) => Promise<Restored>;

const TIMEOUT_MS = 15_000;

export function dynamoRestore({ client, tableName }: DynamoRestoreOptions): RestoreItem {
  const answered = tableCalls(tableName, TIMEOUT_MS);
  return (item, kind) =>
    answered('put back an item', async (abortSignal) => {
      const risen = risingAttribute(item, kind);
      const value = risen && item[risen];
      const command = new PutItemCommand({
        TableName: tableName,
        Item: { ...item },
        ConditionExpression: value === undefined ? ABSENT : `${ABSENT} OR #risen < :risen`,
        ...(risen !== undefined &&
          value !== undefined && {
            ExpressionAttributeNames: { '#risen': risen },
            ExpressionAttributeValues: { ':risen': value as AttributeValue },
          }),
      });
      try {
        await client.send(command, { abortSignal });
        return 'restored';
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return 'kept';
        throw error;
      }
    });
}

const ABSENT = `attribute_not_exists(${PK})`;

/** What rises with every write of an item of this kind; undefined: it is written once. */
function risingAttribute(item: Item, kind: ExportedKind): string | undefined {
  if (kind === 'record') return REV;
  if (kind === 'closing') return CLOSED_AT;
  if (kind !== 'limits') return undefined;
  // The pointer has the number of its edit, a request its revision; a set's chunks, the log and openings stay as they are.
  if (item[SK]?.S === 'pointer') return 'ed';
  return item.rv === undefined ? undefined : 'rv';
}

/** Garbage collection would take it at once. @param nowMs - Unix ms */
export const isExpired = (item: Item, nowMs: number): boolean =>
  Number(item[TTL_ATTRIBUTE]?.N ?? Number.POSITIVE_INFINITY) * 1000 <= nowMs;
