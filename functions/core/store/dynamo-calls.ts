import type { CancellationReason, Put, Update } from '@aws-sdk/client-dynamodb';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Key } from './keys.ts';
import {
  type Answers,
  type AttributeValue,
  begins,
  compare,
  DUE_AT,
  DUE_INDEX,
  DUE_PK,
  type Item,
  type ItemCondition,
  type ItemPage,
  type ItemsOutcome,
  type ItemTable,
  keyOf,
  numberIs,
  type Operations,
  PK,
  type PutOutcome,
  type PutWrite,
  type QueryAsk,
  type ScanAsk,
  SK,
  type TimeLimit,
  type UpdateWrite,
} from './operation.ts';
import { isConflict, isThrottle } from './table-failure.ts';

export interface DynamoAnswer {
  readonly Item?: Item | undefined;
  readonly Items?: readonly Item[] | undefined;
  readonly LastEvaluatedKey?: Item | undefined;
  readonly Responses?: Readonly<Record<string, readonly Item[]>> | undefined;
  readonly UnprocessedKeys?:
    | Readonly<Record<string, { readonly Keys?: readonly Item[] | undefined }>>
    | undefined;
}

/** Sends one call, once. Rejects with DynamoDB's error name and fields. */
export type DynamoCall = (
  operation: keyof Operations,
  input: object,
  limit: TimeLimit,
) => Promise<DynamoAnswer>;

export function tableOn(callOnce: DynamoCall, tableName: string): ItemTable {
  const TableName = tableName;
  const call = askedAgain(callOnce);
  const calls: { readonly [Name in keyof Operations]: Asking<Name> } = {
    GetItem: async ({ key, consistent }, limit) => {
      const input = { TableName, Key: keyItem(key), ConsistentRead: consistent };
      return (await call('GetItem', input, limit)).Item;
    },
    BatchGetItem: async ({ keys, consistent }, limit) => {
      const input = {
        RequestItems: { [TableName]: { Keys: keys.map(keyItem), ConsistentRead: consistent } },
      };
      const answer = await call('BatchGetItem', input, limit);
      const left = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];
      return {
        items: answer.Responses?.[TableName] ?? [],
        left: left.map(keyOf),
      };
    },
    Query: async (ask, limit) => pageOf(await call('Query', { TableName, ...queryInput(ask) }, limit)),
    Scan: async (ask, limit) => pageOf(await call('Scan', { TableName, ...scanInput(ask) }, limit)),
    PutItem: (write, limit) => unlessRefused(call('PutItem', putInput(TableName, write), limit)),
    UpdateItem: (write, limit) => unlessRefused(call('UpdateItem', updateInput(TableName, write), limit)),
    DeleteItem: async ({ key }, limit) => {
      await call('DeleteItem', { TableName, Key: keyItem(key) }, limit);
      return undefined;
    },
    TransactWriteItems: async ({ writes, token }, limit) => {
      const TransactItems = writes.map((write) =>
        write.kind === 'put'
          ? { Put: putInput(TableName, write) }
          : { Update: updateInput(TableName, write) },
      );
      try {
        const input = { TransactItems, ...(token && { ClientRequestToken: token }) };
        await call('TransactWriteItems', input, limit);
        return { outcome: 'written' };
      } catch (error) {
        return itemsOutcome(error);
      }
    },
  };
  return {
    tableName,
    send: (name, operation, limit) => calls[name](operation, limit),
  };
}

/** DynamoDB may close a kept connection while it is reused. Reads, and writes with a token, are sent once more. */
const askedAgain =
  (call: DynamoCall): DynamoCall =>
  async (operation, input, limit) => {
    try {
      return await call(operation, input, limit);
    } catch (error) {
      const again = READS.has(operation) || 'ClientRequestToken' in input;
      if (!again || !isDropped(error) || limit.leftMs === 0) throw error;
      return call(operation, input, limit);
    }
  };

const READS: ReadonlySet<keyof Operations> = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);

/** The SDK's client calls it a time that ran out, and keeps the words. */
const isDropped = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'ECONNRESET') || error.message === 'socket hang up');

type Asking<Name extends keyof Operations> = (
  operation: Operations[Name],
  limit: TimeLimit,
) => Promise<Answers[Name]>;

const keyItem = ({ pk, sk }: Key): Record<string, AttributeValue> => ({ [PK]: { S: pk }, [SK]: { S: sk } });

function queryInput(ask: QueryAsk) {
  const to = new Placeholders();
  const { pk, sk, dueBeforeMs } = ask;
  const parts = [compare(dueBeforeMs === undefined ? PK : DUE_PK, '=', { S: pk })];
  if (dueBeforeMs !== undefined) parts.push(numberIs(DUE_AT, '<', dueBeforeMs));
  if (sk !== undefined)
    parts.push('begins' in sk ? begins(SK, sk.begins) : compare(SK, '<', { S: sk.before }));
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
  const input = withoutAbsent({
    FilterExpression: filter && itemConditionText(filter, to),
    ProjectionExpression: attributes?.map((name) => to.name(name)).join(', '),
    ConsistentRead: consistent,
    Limit: pageItems,
    ExclusiveStartKey: from,
  });
  return { ...input, ...to.attributes };
}

const pageOf = (answer: DynamoAnswer): ItemPage => ({
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
  // A permanent error is a failure, even among retryable ones.
  if (codes.size === 0 || [...codes].some((code) => !EXPECTED.has(code))) throw error;
  // A refusal has new information about an item and a conflict has none: handle refusals first.
  if (codes.has('ConditionalCheckFailed')) {
    const refused = reasons.map((reason) =>
      reason.Code === 'ConditionalCheckFailed' ? itemOf(reason) : undefined,
    );
    return { outcome: 'refused', refused };
  }
  const outcome = codes.has('TransactionConflict') ? 'conflict' : 'throttled';
  // Without refusals, all writes with a reason are in conflict.
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

// Renders conditions and updates as DynamoDB expressions. Every attribute gets a placeholder, because it may
// be a reserved word.

const PLAIN = /^[A-Za-z][A-Za-z0-9]*$/;

class Placeholders {
  readonly attributes: {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, AttributeValue>;
  } = {};
  #count = 0;

  name(attribute: string): string {
    this.attributes.ExpressionAttributeNames ??= {};
    // Rules are called anything, so every other name is numbered.
    const name = PLAIN.test(attribute) ? `#${attribute}` : `#_${this.#next()}`;
    this.attributes.ExpressionAttributeNames[name] = attribute;
    return name;
  }

  value(value: AttributeValue): string {
    this.attributes.ExpressionAttributeValues ??= {};
    const name = `:${this.#next()}`;
    this.attributes.ExpressionAttributeValues[name] = value;
    return name;
  }

  #next(): number {
    this.#count += 1;
    return this.#count - 1;
  }
}

function itemConditionText(condition: ItemCondition, to: Placeholders): string {
  switch (condition.kind) {
    case 'absent':
      return `attribute_not_exists(${to.name(condition.attribute)})`;
    case 'present':
      return `attribute_exists(${to.name(condition.attribute)})`;
    case 'compare':
      return `${to.name(condition.attribute)} ${condition.by} ${to.value(condition.value)}`;
    case 'begins':
      return `begins_with(${to.name(condition.attribute)}, ${to.value({ S: condition.text })})`;
    case 'all':
      return `(${condition.of.map((each) => itemConditionText(each, to)).join(' AND ')})`;
    case 'any':
      return `(${condition.of.map((each) => itemConditionText(each, to)).join(' OR ')})`;
  }
}

function updateText({ set, setIfAbsent, add, remove = [] }: UpdateWrite, to: Placeholders): string {
  const sets: string[] = [];
  const adds: string[] = [];
  for (const name in setIfAbsent) {
    const attribute = to.name(name);
    sets.push(`${attribute} = if_not_exists(${attribute}, ${to.value(setIfAbsent[name] as AttributeValue)})`);
  }
  for (const name in set) sets.push(`${to.name(name)} = ${to.value(set[name] as AttributeValue)}`);
  for (const name in add) adds.push(`${to.name(name)} ${to.value({ N: String(add[name]) })}`);
  const removes = remove.map((name) => to.name(name));
  return `${clause('SET', sets)}${clause('ADD', adds)}${clause('REMOVE', removes)}`.trimEnd();
}

const clause = (verb: string, parts: readonly string[]): string =>
  parts.length === 0 ? '' : `${verb} ${parts.join(', ')} `;
