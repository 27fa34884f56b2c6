/** `gitlab.example.com@notices`, `cursor`: beside the books. */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { LedgerError } from '../core/ledger/ledger-error.ts';
import { versioned } from '../core/store/item-version.ts';
import { NOTICES_PK_SUFFIX, PK, SK } from '../names.ts';
import type { Cursor, CursorStore } from './cursor.ts';

export interface DynamoCursorStoreOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const BYTES = 'by';
/** An item unfolds to a few MB at most. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

export function dynamoCursorStore({ client, tableName, instance }: DynamoCursorStoreOptions): CursorStore {
  const key = { [PK]: { S: `${instance}${NOTICES_PK_SUFFIX}` }, [SK]: { S: 'cursor' } };
  return {
    read: async () => {
      const command = new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true });
      const { Item } = await answered('read', (abortSignal) => client.send(command, { abortSignal }));
      const bytes = Item?.[BYTES]?.B;
      return bytes === undefined ? undefined : { rev: Number(Item?.[REV]?.N), cursor: unpacked(bytes) };
    },
    write: async ({ rev, cursor }) => {
      const command = new PutItemCommand({
        TableName: tableName,
        Item: { ...key, ...versioned, [REV]: { N: String(rev) }, [BYTES]: { B: packed(cursor) } },
        ...(rev === 1
          ? { ConditionExpression: `attribute_not_exists(${PK})` }
          : {
              ConditionExpression: `${REV} = :before`,
              ExpressionAttributeValues: { ':before': { N: String(rev - 1) } },
            }),
      });
      try {
        await answered('write', (abortSignal) => client.send(command, { abortSignal }));
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    },
  };

  async function answered<T>(doing: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await call(AbortSignal.timeout(TIMEOUT_MS));
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) throw error;
      // The client's own errors carry the whole request: only their name and text go on.
      const why = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown failure';
      throw new LedgerError('ledger_unavailable', `could not ${doing} the cursor of the notices (${why})`);
    }
  }
}

const packed = (cursor: Cursor): Uint8Array =>
  brotliCompressSync(JSON.stringify(cursor), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

// Written by `packed` alone.
const unpacked = (bytes: Uint8Array): Cursor =>
  JSON.parse(brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8')) as Cursor;
