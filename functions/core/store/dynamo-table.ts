/** The table in DynamoDB: operations become commands, and what DynamoDB raises for a lost race becomes an outcome. */
import {
  type AttributeValue,
  BatchGetItemCommand,
  type CancellationReason,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  type Put,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  type Update,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Key } from './keys.ts';
import type {
  Answers,
  Item,
  ItemCondition,
  ItemPage,
  ItemsOutcome,
  ItemTable,
  Operations,
  PutOutcome,
  PutWrite,
  QueryAsk,
  ScanAsk,
  TimeLimit,
  UpdateWrite,
} from './operation.ts';
import { itemConditionText, Placeholders, updateText } from './rendered.ts';
import { DUE_AT, DUE_INDEX, DUE_PK, PK, SK } from './table.ts';
import { isConflict, isThrottle } from './table-failure.ts';

/** @param client - must have `maxAttempts: 1` where a deadline matters, as `dynamoClient` makes it. */
export function dynamoTable(client: DynamoDBClient, tableName: string): ItemTable {
  const TableName = tableName;
  const asked: { readonly [Name in keyof Operations]: Asking<Name> } = {
    GetItem: async ({ key, consistent }, options) => {
      const input = { TableName, Key: keyItem(key), ConsistentRead: consistent };
      return (await client.send(new GetItemCommand(input), options)).Item;
    },
    BatchGetItem: async ({ keys }, options) => {
      const input = { RequestItems: { [TableName]: { Keys: keys.map(keyItem), ConsistentRead: true } } };
      const answer = await client.send(new BatchGetItemCommand(input), options);
      const left = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];
      return {
        items: answer.Responses?.[TableName] ?? [],
        left: left.map((key) => ({ pk: key[PK]?.S ?? '', sk: key[SK]?.S ?? '' })),
      };
    },
    Query: async (ask, options) =>
      pageOf(await client.send(new QueryCommand({ TableName, ...queryInput(ask) }), options)),
    Scan: async (ask, options) =>
      pageOf(await client.send(new ScanCommand({ TableName, ...scanInput(ask) }), options)),
    PutItem: (write, options) =>
      unlessRefused(client.send(new PutItemCommand(putInput(TableName, write)), options)),
    UpdateItem: (write, options) =>
      unlessRefused(client.send(new UpdateItemCommand(updateInput(TableName, write)), options)),
    DeleteItem: async ({ key }, options) => {
      await client.send(new DeleteItemCommand({ TableName, Key: keyItem(key) }), options);
      return undefined;
    },
    TransactWriteItems: async ({ writes, token }, options) => {
      const TransactItems = writes.map((write) =>
        write.kind === 'put'
          ? { Put: putInput(TableName, write) }
          : { Update: updateInput(TableName, write) },
      );
      try {
        await client.send(
          new TransactWriteItemsCommand({ TransactItems, ...(token && { ClientRequestToken: token }) }),
          options,
        );
        return { outcome: 'written' };
      } catch (error) {
        return itemsOutcome(error);
      }
    },
  };
  return {
    tableName,
    send: (name, operation, limit) => asked[name](operation, { abortSignal: limit.signal }),
  };
}

type Asking<Name extends keyof Operations> = (
  operation: Operations[Name],
  options: { readonly abortSignal: TimeLimit['signal'] },
) => Promise<Answers[Name]>;

const keyItem = ({ pk, sk }: Key): Record<string, AttributeValue> => ({ [PK]: { S: pk }, [SK]: { S: sk } });

function queryInput(ask: QueryAsk) {
  const to = new Placeholders();
  const { pk, sk, dueBeforeMs } = ask;
  const partition: ItemCondition = {
    kind: 'compare',
    attribute: dueBeforeMs === undefined ? PK : DUE_PK,
    by: '=',
    value: { S: pk },
  };
  const parts: ItemCondition[] = [partition];
  if (dueBeforeMs !== undefined)
    parts.push({ kind: 'compare', attribute: DUE_AT, by: '<', value: { N: String(dueBeforeMs) } });
  if (sk !== undefined)
    parts.push(
      'begins' in sk
        ? { kind: 'begins', attribute: SK, text: sk.begins }
        : { kind: 'compare', attribute: SK, by: '<', value: { S: sk.before } },
    );
  // Key conditions take no brackets.
  const KeyConditionExpression = parts.map((part) => itemConditionText(part, to)).join(' AND ');
  return {
    KeyConditionExpression,
    ...(dueBeforeMs !== undefined && { IndexName: DUE_INDEX }),
    ...(ask.backwards && { ScanIndexForward: false }),
    ...reading(ask, to),
  };
}

const scanInput = (ask: ScanAsk) => ({
  ...reading(ask, new Placeholders()),
  ...(ask.segment !== undefined && { Segment: ask.segment.index, TotalSegments: ask.segment.of }),
});

function reading(
  { filter, attributes, consistent, pageItems, from }: Omit<QueryAsk, 'pk'>,
  to: Placeholders,
) {
  const texts = {
    ...(filter !== undefined && { FilterExpression: itemConditionText(filter, to) }),
    ...(attributes !== undefined && {
      ProjectionExpression: attributes.map((name) => to.name(name)).join(', '),
    }),
  };
  return {
    ...texts,
    ConsistentRead: consistent,
    ...(pageItems !== undefined && { Limit: pageItems }),
    ...(from !== undefined && { ExclusiveStartKey: from }),
    ...to.attributes,
  };
}

const pageOf = (answer: {
  readonly Items?: Item[] | undefined;
  readonly LastEvaluatedKey?: Item | undefined;
}): ItemPage => ({
  items: answer.Items ?? [],
  ...(answer.LastEvaluatedKey !== undefined && { next: answer.LastEvaluatedKey }),
});

function putInput(TableName: string, { item, condition, showsOld }: PutWrite): Put {
  const to = new Placeholders();
  return { TableName, Item: item, ...conditionInput(condition, showsOld, to), ...to.attributes };
}

function updateInput(
  TableName: string,
  write: UpdateWrite,
): Update & { readonly UpdateExpression: string; readonly Key: Item } {
  const to = new Placeholders();
  const UpdateExpression = updateText(write, to);
  const condition = conditionInput(write.condition, write.showsOld, to);
  return { TableName, Key: keyItem(write.key), UpdateExpression, ...condition, ...to.attributes };
}

const conditionInput = (
  condition: ItemCondition | undefined,
  showsOld: boolean | undefined,
  to: Placeholders,
) =>
  condition && {
    ConditionExpression: itemConditionText(condition, to),
    ...(showsOld && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
  };

async function unlessRefused(call: Promise<unknown>): Promise<PutOutcome> {
  try {
    await call;
    return { outcome: 'written' };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') throw error;
    return { outcome: 'refused', ...itemOf(error as { readonly Item?: Item }) };
  }
}

const itemOf = ({ Item: item }: { readonly Item?: Item | undefined }) => ({ ...(item && { item }) });

function itemsOutcome(error: unknown): ItemsOutcome {
  if (!(error instanceof Error)) throw error;
  if (error.name !== 'TransactionCanceledException') {
    if (isConflict(error)) return { outcome: 'conflict' };
    if (isThrottle(error)) return { outcome: 'throttled' };
    throw error;
  }
  const { CancellationReasons: reasons = [] } = error as {
    readonly CancellationReasons?: CancellationReason[];
  };
  const codes = new Set(reasons.map(({ Code = 'None' }) => Code));
  codes.delete('None');
  // What no repetition will make right is a failure, whatever stands beside it.
  if (codes.size === 0 || [...codes].some((code) => !EXPECTED.has(code))) throw error;
  // A refusal says something new about an item, a conflict beside it does not: learn first, race later.
  if (codes.has('ConditionalCheckFailed')) {
    const refused = reasons.map((reason) =>
      reason.Code === 'ConditionalCheckFailed' ? itemOf(reason) : undefined,
    );
    return { outcome: 'refused', refused };
  }
  const outcome = codes.has('TransactionConflict') ? 'conflict' : 'throttled';
  // None of them was refused: all that have a reason are contended.
  return {
    outcome,
    contended: reasons.flatMap(({ Code = 'None' }, place) => (Code === 'None' ? [] : [place])),
  };
}

const EXPECTED: ReadonlySet<string> = new Set([
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
