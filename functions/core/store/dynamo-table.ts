/** A table through the AWS SDK, for the command line, which runs with any AWS profile, and for tests. */
import {
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
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
    (operation, input, abortSignal) =>
      client.send(new COMMANDS[operation](input as never) as GetItemCommand, {
        abortSignal,
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
