/** Table operations as values; `calls.ts` has a function for each. */
import type { AttributeValue, CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import {
  DUE_AT,
  DUE_INDEX,
  DUE_PK,
  ITEM_VERSION,
  PK,
  SK,
  TTL_ATTRIBUTE,
  VERSION_ATTRIBUTE,
} from '../../names.ts';
import type { Key } from './keys.ts';

export type { AttributeValue };
export type Item = Readonly<Record<string, AttributeValue>>;

export const TRANSACTION_ITEMS_MAX = 100;

export interface ItemTable {
  readonly tableName: string;
  /** Rejects with DynamoDB's error name for any result outside {@link Answers}. */
  send<Name extends keyof Operations>(
    name: Name,
    operation: Operations[Name],
    limit: TimeLimit,
  ): Promise<Answers[Name]>;
}

export interface InstanceTable {
  readonly table: ItemTable;
  readonly instance: string;
}

export interface Operations {
  readonly GetItem: { readonly key: Key; readonly consistent: boolean };
  /** At most a hundred keys, none twice. */
  readonly BatchGetItem: { readonly keys: readonly Key[]; readonly consistent: boolean };
  readonly Query: QueryAsk;
  readonly Scan: ScanAsk;
  readonly PutItem: PutWrite;
  readonly UpdateItem: UpdateWrite;
  readonly DeleteItem: { readonly key: Key };
  readonly TransactWriteItems: { readonly writes: readonly ItemWrite[]; readonly token?: string };
}

export interface Answers {
  readonly GetItem: Item | undefined;
  readonly BatchGetItem: { readonly items: readonly Item[]; readonly left: readonly Key[] };
  readonly Query: ItemPage;
  readonly Scan: ItemPage;
  readonly PutItem: PutOutcome;
  readonly UpdateItem: PutOutcome;
  readonly DeleteItem: undefined;
  readonly TransactWriteItems: ItemsOutcome;
}

export interface QueryAsk {
  readonly pk: string;
  readonly sk?: { readonly begins: string } | { readonly before: string };
  readonly filter?: ItemCondition;
  readonly attributes?: readonly string[];
  readonly consistent: boolean;
  readonly backwards?: true;
  readonly pageItems?: number;
  readonly from?: PageEnd;
  /** The partition of the due index instead of the table's: keys only, whose due time is before this. Unix ms. */
  readonly dueBeforeMs?: number;
}

export interface ScanAsk {
  readonly filter: ItemCondition;
  /** One part of the table; absent: the whole. An item is in one part, always the same. */
  readonly segment?: ScanSegment;
  readonly attributes?: readonly string[];
  readonly consistent: boolean;
  readonly pageItems?: number;
  readonly from?: PageEnd;
}

export interface ScanSegment {
  readonly index: number;
  readonly of: number;
}

export interface ItemPage {
  readonly items: readonly Item[];
  readonly next?: PageEnd;
}

/** End of a page, valid only for the table that returned it. */
export type PageEnd = Item;

export type ItemWrite = PutWrite | UpdateWrite;

export interface PutWrite {
  readonly kind: 'put';
  readonly item: Item;
  readonly condition?: ItemCondition;
  readonly showsOld?: boolean;
}

export interface UpdateWrite {
  readonly kind: 'update';
  readonly key: Key;
  readonly set?: Item;
  readonly setIfAbsent?: Item;
  /** An absent number is zero, and an absent item is made. */
  readonly add?: Readonly<Record<string, number>>;
  readonly remove?: readonly string[];
  readonly condition?: ItemCondition;
  readonly showsOld?: boolean;
}

export type PutOutcome = { readonly outcome: 'written' } | ({ readonly outcome: 'refused' } & RefusedItem);

export type ItemsOutcome =
  | { readonly outcome: 'written' }
  | { readonly outcome: 'refused'; readonly refused: readonly (RefusedItem | undefined)[] }
  /** Another transaction holds an item, or the table is busy. Nothing was written. `contended`: the writes in conflict, if named. */
  | { readonly outcome: 'conflict' | 'throttled'; readonly contended?: readonly number[] };

export interface RefusedItem {
  /** As it was when the condition failed, if the write shows it; absent: there was none. */
  readonly item?: Item;
}

export const keyOf = (item: Item): Key => ({ pk: item[PK]?.S ?? '', sk: item[SK]?.S ?? '' });

/** A time limit shared by several calls; it starts with the first call that waits for the table. */
export class TimeLimit {
  readonly #timeoutMs: number;
  #endsAtMs: number | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get leftMs(): number {
    const nowMs = performance.now();
    this.#endsAtMs ??= nowMs + this.#timeoutMs;
    return Math.max(0, Math.ceil(this.#endsAtMs - nowMs));
  }
}

/** A batch of the table's stream. @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html */
export interface TableStreamEvent {
  readonly Records: readonly TableStreamRecord[];
}

export interface TableStreamRecord {
  readonly eventName?: string | undefined;
  readonly dynamodb?:
    | {
        readonly SequenceNumber?: string | undefined;
        readonly NewImage?: Item | undefined;
        readonly ApproximateCreationDateTime?: number | Date | undefined;
      }
    | undefined;
}

/** Lambda reads the stream again from the first of these on; what comes twice is applied once. */
export interface TableStreamResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export type ItemCondition =
  | { readonly kind: 'absent' | 'present'; readonly attribute: string }
  | {
      readonly kind: 'compare';
      readonly attribute: string;
      readonly by: Comparator;
      readonly value: AttributeValue;
    }
  | { readonly kind: 'begins'; readonly attribute: string; readonly text: string }
  | { readonly kind: 'all' | 'any'; readonly of: readonly ItemCondition[] };

export type Comparator = '=' | '<>' | '<' | '<=';

/** There is no such item; of another attribute: the item does not have it. */
export const absent = (attribute: string = PK): ItemCondition => ({ kind: 'absent', attribute });
export const present = (attribute: string = PK): ItemCondition => ({ kind: 'present', attribute });
export const compare = (attribute: string, by: Comparator, value: AttributeValue): ItemCondition => ({
  kind: 'compare',
  attribute,
  by,
  value,
});
export const numberIs = (attribute: string, by: Comparator, value: number): ItemCondition =>
  compare(attribute, by, { N: String(value) });
export const begins = (attribute: string, text: string): ItemCondition => ({
  kind: 'begins',
  attribute,
  text,
});
export const all = (of: readonly ItemCondition[]): ItemCondition => ({ kind: 'all', of });
export const any = (of: readonly ItemCondition[]): ItemCondition => ({ kind: 'any', of });
/** Replaces the item of revision `rev`, where 0 is none. */
export const atRev = (attribute: string, rev: number): ItemCondition =>
  rev === 0 ? absent() : numberIs(attribute, '=', rev);

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) {
    const value = item[name];
    // The ledger's names are ASCII.
    if (value !== undefined) bytes += name.length + valueBytes(value);
  }
  return bytes;
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.L !== undefined) {
    let bytes = LIST_OVERHEAD_BYTES;
    for (const element of value.L) bytes += 1 + valueBytes(element);
    return bytes;
  }
  throw new RangeError(
    `no size known for attribute value ${JSON.stringify(value)}: the ledger stores S, N, BOOL and L`,
  );
}

const LIST_OVERHEAD_BYTES = 3;

const ZERO = 48;

/** One byte per two significant digits, one more, and one for the sign. */
function numberBytes(digits: string): number {
  const start = digits.startsWith('-') ? 1 : 0;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return Math.ceil((end - start) / 2) + 1 + start;
}

// The form of the table's items. Every item says which one it was written in; one without the attribute was written before
// there were versions, in the first form.
//
// The version rises when an older program would misread what a newer one writes. A release then teaches readers first, and
// the next one lets writers write: while a deployment is under way, both programs run on one table.

/** Spread into every item that is put, and set where absent by updates that may create theirs: newer stays newer. */
export const versioned = { [VERSION_ATTRIBUTE]: { N: ITEM_VERSION } } as const;

export const isNewer = (item: Item): boolean =>
  Number(item[VERSION_ATTRIBUTE]?.N ?? 0) > Number(ITEM_VERSION);

// The table as data: used as it is by local runs and, through the same constants, by the deployment.

export { DUE_AT, DUE_INDEX, DUE_PK, PK, SK, TTL_ATTRIBUTE };

export const ledgerTable = (tableName: string): CreateTableCommandInput => ({
  TableName: tableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: PK, AttributeType: 'S' },
    { AttributeName: SK, AttributeType: 'S' },
    { AttributeName: DUE_PK, AttributeType: 'S' },
    { AttributeName: DUE_AT, AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: PK, KeyType: 'HASH' },
    { AttributeName: SK, KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: DUE_INDEX,
      KeySchema: [
        { AttributeName: DUE_PK, KeyType: 'HASH' },
        { AttributeName: DUE_AT, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
});
