/** A table through the AWS SDK, for the command line, which runs with any AWS profile, and for tests. */
import {
  BatchGetItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type DynamoAnswer, tableOn } from './dynamo-calls.ts';
import type { ItemTable, Operations } from './operation.ts';

/** @param client - must have `maxAttempts: 1` where a deadline matters, as `dynamoClient` makes it. */
export const dynamoTable = (client: DynamoDBClient, tableName: string): ItemTable =>
  tableOn(
    (operation, input, { leftMs }) =>
      client.send(new COMMANDS[operation](input as never) as GetItemCommand, {
        abortSignal: AbortSignal.timeout(leftMs),
      }) as Promise<DynamoAnswer>,
    tableName,
  );

const COMMANDS: Readonly<Record<keyof Operations, new (input: never) => object>> = {
  GetItem: GetItemCommand,
  BatchGetItem: BatchGetItemCommand,
  Query: QueryCommand,
  Scan: ScanCommand,
  PutItem: PutItemCommand,
  UpdateItem: UpdateItemCommand,
  DeleteItem: DeleteItemCommand,
  TransactWriteItems: TransactWriteItemsCommand,
};

const CONNECTION_TIMEOUT_MS = 500;
const REQUEST_TIMEOUT_MS = 15_000;
const LOCAL_CONNECTION_TIMEOUT_MS = 60_000;
const LOCAL_REQUEST_TIMEOUT_MS = 300_000;
const SOCKETS_MAX = 256;

/** Never retries: only the ledger knows what is left of the deadline and which token to repeat. */
export const dynamoClient = (endpoint?: string): DynamoDBClient =>
  new DynamoDBClient({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: endpoint === undefined ? CONNECTION_TIMEOUT_MS : LOCAL_CONNECTION_TIMEOUT_MS,
      requestTimeout: endpoint === undefined ? REQUEST_TIMEOUT_MS : LOCAL_REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
    },
    ...(endpoint === undefined
      ? {}
      : { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  });
