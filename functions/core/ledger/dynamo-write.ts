/** Structured writes as DynamoDB's expressions. The condition on a counter is the check: there is no read before it. */
import type { AttributeValue, Put, TransactWriteItem, Update } from '@aws-sdk/client-dynamodb';
import type { Item } from '../store/item-bytes.ts';
import { SET_VERSION, VERSION_VALUE } from '../store/item-version.ts';
import type { LedgerKeys } from '../store/keys.ts';
import { DUE_AT, DUE_PK, PK, TTL_ATTRIBUTE } from '../store/table.ts';
import { UNCHECKED_CAUSES } from './amounts.ts';
import type { CorrectionEntry } from './entry.ts';
import {
  CLOSED_AT,
  COMMITTED,
  encodeAdjustment,
  encodeClosing,
  encodeEntry,
  encodeReset,
  FITTED,
  REV,
  SETTLED,
  UNCHECKED,
} from './item.ts';
import type { JobRecord } from './ledger.ts';
import { recordItem } from './record-size.ts';
import type { ClosingWrite, CounterReset, CounterWrite, RecordWrite, Write } from './store.ts';

export interface DynamoTarget {
  readonly tableName: string;
  readonly keys: LedgerKeys;
}

const number = (value: number): AttributeValue => ({ N: String(value) });

const ABSENT = `attribute_not_exists(${PK})`;
const SAME_REV = `${REV} = :rev`;

export function dynamoWrite(write: Write, target: DynamoTarget): TransactWriteItem {
  switch (write.kind) {
    case 'record':
      return { Put: putRecord(write, target) };
    case 'counter':
      return { Update: updateCounter(write, target) };
    case 'entry':
      return { Put: put(encodeEntry(write.entry, target.keys), target, ABSENT) };
    case 'closing':
      return { Put: putClosing(write, target) };
    case 'adjustment':
      return { Put: put(encodeAdjustment(write.adjustment, target.keys), target, ABSENT) };
    case 'reset':
      return { Put: resetCounter(write, target) };
  }
}

const put = (item: Item, target: DynamoTarget, condition: string): Put => ({
  TableName: target.tableName,
  Item: item,
  ConditionExpression: condition,
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
});

const putAtRev = (item: Item, target: DynamoTarget, rev: number): Put => ({
  ...put(item, target, SAME_REV),
  ExpressionAttributeValues: { ':rev': number(rev) },
});

function putRecord({ record, replaces }: RecordWrite, target: DynamoTarget): Put {
  const item = recordItem(record, target.keys);
  return replaces === undefined ? put(item, target, ABSENT) : putAtRev(item, target, replaces.rev);
}

/** At its own rev: the same record in other words. */
export const rewriteOf = (record: JobRecord, target: DynamoTarget): Put =>
  withoutOld(putAtRev(recordItem(record, target.keys), target, record.rev));

export const rewriteOfEntry = (entry: CorrectionEntry, target: DynamoTarget): Put =>
  withoutOld(put(encodeEntry(entry, target.keys), target, `attribute_exists(${PK})`));

function withoutOld({ ReturnValuesOnConditionCheckFailure: _, ...rest }: Put): Put {
  return rest;
}

function putClosing({ closing, replaces }: ClosingWrite, target: DynamoTarget): Put {
  const item = encodeClosing(closing, target.keys);
  return replaces === undefined
    ? put(item, target, ABSENT)
    : {
        ...put(item, target, `#${CLOSED_AT} = :closed`),
        ExpressionAttributeNames: { [`#${CLOSED_AT}`]: CLOSED_AT },
        ExpressionAttributeValues: { ':closed': number(replaces.closedAtMs) },
      };
}

function resetCounter(write: CounterReset, target: DynamoTarget): Put {
  const { rev } = write;
  const item = encodeReset(write, target.keys);
  return rev === 0 ? put(item, target, ABSENT) : putAtRev(item, target, rev);
}

function updateCounter(write: CounterWrite, { tableName, keys }: DynamoTarget): Update {
  const { pk, sk } = keys.counter(write.key);
  const values: Record<string, AttributeValue> = {
    ':c': number(write.committed),
    ':f': number(write.fitted),
    ':s': number(write.settled),
    ':one': number(1),
    ...VERSION_VALUE,
  };
  const set = [
    SET_VERSION,
    ...(write.expiresAtSeconds === undefined ? [] : ['#ttl = :ttl']),
    ...(write.closeAtMs === undefined ? [] : [`${DUE_PK} = :dp`, `${DUE_AT} = :da`]),
  ];
  let update = `${set.join(', ')} ADD ${COMMITTED} :c, ${FITTED} :f, ${SETTLED} :s, ${REV} :one`;
  for (const cause of UNCHECKED_CAUSES) {
    const amount = write.unchecked[cause] ?? 0;
    if (amount === 0) continue;
    update += `, ${UNCHECKED[cause]} :${UNCHECKED[cause]}`;
    values[`:${UNCHECKED[cause]}`] = number(amount);
  }
  if (write.expiresAtSeconds !== undefined) values[':ttl'] = number(write.expiresAtSeconds);
  if (write.closeAtMs !== undefined) {
    values[':dp'] = { S: keys.closingPk(write.key) };
    values[':da'] = number(write.closeAtMs);
  }
  const conditions = [
    ...atMost(COMMITTED, ':mc', write.maxCommitted, values),
    ...atMost(FITTED, ':mf', write.maxFitted, values),
  ];
  return {
    TableName: tableName,
    Key: { pk: { S: pk }, sk: { S: sk } },
    UpdateExpression: update,
    ExpressionAttributeValues: values,
    // A reserved word.
    ...(write.expiresAtSeconds !== undefined && { ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE } }),
    ...(conditions.length === 0
      ? {}
      : { ConditionExpression: conditions.join(' AND '), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
  };
}

/** An absent counter is one of zeros; without its arm even the first batch of a period meets a bound below its own sum. */
function atMost(
  attribute: string,
  name: string,
  max: number | undefined,
  values: Record<string, AttributeValue>,
): readonly string[] {
  if (max === undefined) return [];
  values[name] = number(max);
  return [
    max >= 0 ? `(attribute_not_exists(${attribute}) OR ${attribute} <= ${name})` : `${attribute} <= ${name}`,
  ];
}
