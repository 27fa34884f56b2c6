import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { versioned } from '../store/item-version.ts';
import { type Key, ledgerKeys } from '../store/keys.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { changeAttributes, sessionAttributes, sessionOf } from './session-item.ts';
import type { SessionStore } from './session-store.ts';
import { SignInError } from './sign-in-error.ts';

export interface DynamoSessionStoreOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/** Every page waits for it; one item takes some 5 ms. */
const TIMEOUT_MS = 2_000;
/** Later than the end of a session, so that clocks that differ do not matter. */
const TTL_GRACE_SECONDS = 3_600;

/** Sessions beside the ledger, under keys that no scan of the books yields. Who is signed out is so at once, everywhere. */
export function dynamoSessionStore({ client, tableName, instance }: DynamoSessionStoreOptions): SessionStore {
  const keys = ledgerKeys(instance);

  return {
    create: (idHash, session) =>
      answered('write', async (abortSignal) => {
        const ttl = { N: String(Math.ceil(session.endsAtMs / 1_000) + TTL_GRACE_SECONDS) };
        const Item = {
          ...keyItem(keys.session(idHash)),
          ...versioned,
          ...sessionAttributes(session),
          [TTL_ATTRIBUTE]: ttl,
        };
        await client.send(new PutItemCommand({ TableName: tableName, Item }), { abortSignal });
      }),

    read: (idHash) =>
      answered('read', async (abortSignal) => {
        const Key = keyItem(keys.session(idHash));
        const command = new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true });
        const { Item } = await client.send(command, { abortSignal });
        return Item && sessionOf(Item);
      }),

    change: (idHash, change) =>
      answered('change', async (abortSignal) => {
        const attributes = Object.entries(changeAttributes(change));
        const command = new UpdateItemCommand({
          TableName: tableName,
          Key: keyItem(keys.session(idHash)),
          // A sign-out meanwhile must not be undone.
          ConditionExpression: 'attribute_exists(#pk)',
          UpdateExpression: `SET ${attributes.map(([name]) => `#${name} = :${name}`).join(', ')}`,
          ExpressionAttributeNames: {
            '#pk': PK,
            ...Object.fromEntries(attributes.map(([name]) => [`#${name}`, name])),
          },
          ExpressionAttributeValues: Object.fromEntries(
            attributes.map(([name, value]) => [`:${name}`, value]),
          ),
        });
        return (await unlessGone(client.send(command, { abortSignal }))) !== undefined;
      }),

    remove: (idHash) =>
      answered('remove', async (abortSignal) => {
        const Key = keyItem(keys.session(idHash));
        await client.send(new DeleteItemCommand({ TableName: tableName, Key }), { abortSignal });
      }),
  };
}

const keyItem = ({ pk, sk }: Key): Record<string, AttributeValue> => ({
  [PK]: { S: pk },
  [SK]: { S: sk },
});

/** Undefined: the condition that the item is there did not hold. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

async function answered<T>(doing: string, call: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await call(AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    const why = error instanceof Error ? error.name : typeof error;
    throw new SignInError(
      'sessions_unavailable',
      `Tollgate could not ${doing} its record of who is signed in (${why}).`,
      'Try again in a minute.',
    );
  }
}
