/** Limit sets in the ledger's table, under keys that no scan of the books yields. */
import {
  type CancellationReason,
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { CounterKey } from '../../../policies/claim.ts';
import { batchGet } from '../store/batch-get.ts';
import { versioned } from '../store/item-version.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { BYTES, joined, partsOf } from './chunk-parts.ts';
import {
  DynamoLimitCalls,
  type DynamoLimitTableOptions,
  type Item,
  keyItem,
} from './dynamo-limit-table-calls.ts';
import { DynamoLimitLog } from './dynamo-limit-table-log.ts';
import type {
  FlipOutcome,
  LimitChunk,
  LimitPointer,
  LimitTable,
  LogItem,
  OpeningEntry,
  ReadOptions,
  RequestItem,
} from './limit-table.ts';

export type { DynamoLimitTableOptions };

/** A set of hundreds of roots must not take all connections. */
const UPDATES_AT_ONCE = 8;
/** Two editors in the same instant: one of them is refused at the next try at the latest. */
const CONFLICTS_MAX = 5;
const CONFLICT_PAUSE_MS = 100;

export class DynamoLimitTable implements LimitTable {
  readonly #calls: DynamoLimitCalls;
  readonly #log: DynamoLimitLog;

  constructor(options: DynamoLimitTableOptions) {
    this.#calls = new DynamoLimitCalls(options);
    this.#log = new DynamoLimitLog(this.#calls);
  }

  async getPointer(options: ReadOptions): Promise<LimitPointer | undefined> {
    const command = new GetItemCommand({
      TableName: this.#calls.options.tableName,
      Key: keyItem(this.#calls.keys.limitPointer),
      ConsistentRead: true,
    });
    const { Item } = await this.#calls.answered('read the pointer of', options, (abortSignal) =>
      this.#calls.options.client.send(command, { abortSignal }),
    );
    return Item && pointerOf(Item);
  }

  async putChunk(set: string, { name, bytes }: LimitChunk, options: ReadOptions): Promise<void> {
    for (const [part, attributes] of partsOf(name, bytes).entries()) {
      const command = new PutItemCommand({
        TableName: this.#calls.options.tableName,
        Item: { ...keyItem(this.#calls.keys.limitChunk(set, name, part)), ...versioned, ...attributes },
      });
      await this.#calls.answered('write a chunk to', options, (abortSignal) =>
        this.#calls.options.client.send(command, { abortSignal }),
      );
    }
  }

  readChunks(
    set: string,
    names: readonly string[],
    options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    return Promise.all(names.map((name) => this.#readChunk(set, name, options)));
  }

  async #readChunk(set: string, name: string, options: ReadOptions): Promise<Uint8Array | undefined> {
    const { pk, sk } = this.#calls.keys.limitChunk(set, name, 0);
    const items = await this.#calls.answered('read a chunk of', options, async (abortSignal) => {
      const found: Item[] = [];
      const pages = paginateQuery(
        { client: this.#calls.options.client },
        {
          TableName: this.#calls.options.tableName,
          ConsistentRead: true,
          KeyConditionExpression: `${PK} = :set AND begins_with(${SK}, :chunk)`,
          ExpressionAttributeValues: {
            ':set': { S: pk },
            ':chunk': { S: sk.slice(0, sk.lastIndexOf('#') + 1) },
          },
        },
        { abortSignal },
      );
      for await (const page of pages) found.push(...(page.Items ?? []));
      return found;
    });
    return joined(name, items);
  }

  async flip(
    to: LimitPointer,
    base: string | undefined,
    options: ReadOptions,
    entry?: LogItem,
  ): Promise<FlipOutcome> {
    const { client, tableName, clock, random } = this.#calls.options;
    const pointer = {
      TableName: tableName,
      Item: {
        ...keyItem(this.#calls.keys.limitPointer),
        ...versioned,
        se: { S: to.set },
        ed: { N: String(to.edit) },
        at: { N: String(to.atMs) },
      },
      ...(base === undefined
        ? { ConditionExpression: `attribute_not_exists(${PK})` }
        : { ConditionExpression: 'se = :base', ExpressionAttributeValues: { ':base': { S: base } } }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    const log = entry && {
      TableName: tableName,
      Item: { ...keyItem(this.#calls.keys.limitLog(entry.edit)), ...versioned, [BYTES]: { B: entry.bytes } },
    };
    const command = new TransactWriteItemsCommand({
      TransactItems: [{ Put: pointer }, ...(log === undefined ? [] : [{ Put: log }])],
    });
    return this.#calls.answered('flip the pointer of', options, async (abortSignal) => {
      for (let tries = 1; ; tries += 1) {
        try {
          await client.send(command, { abortSignal });
          return { outcome: 'flipped' };
        } catch (error) {
          const refused = refusalOf(error);
          if (refused !== undefined)
            return { outcome: 'stale', live: refused.Item && pointerOf(refused.Item) };
          if (!isConflict(error) || tries === CONFLICTS_MAX) throw error;
          await clock.sleep(random() * CONFLICT_PAUSE_MS);
        }
      }
    });
  }

  readLog(before: number | undefined, max: number, options: ReadOptions): Promise<readonly LogItem[]> {
    return this.#log.readLog(before, max, options);
  }

  putRequest(item: RequestItem, options: ReadOptions): Promise<boolean> {
    return this.#log.putRequest(item, options);
  }

  readRequests(max: number, options: ReadOptions): Promise<readonly RequestItem[]> {
    return this.#log.readRequests(max, options);
  }

  async retire(set: string, atSeconds: number, options: ReadOptions): Promise<void> {
    const { client, tableName } = this.#calls.options;
    await this.#calls.answered('retire a set of', options, async (abortSignal) => {
      const pages = paginateQuery(
        { client },
        {
          TableName: tableName,
          KeyConditionExpression: `${PK} = :set`,
          ExpressionAttributeValues: { ':set': { S: this.#calls.keys.limitChunk(set, '', 0).pk } },
          ProjectionExpression: `${PK}, ${SK}`,
        },
        { abortSignal },
      );
      for await (const { Items = [] } of pages) {
        const commands = Items.map((item) => this.#expiring(item, atSeconds));
        for (let first = 0; first < commands.length; first += UPDATES_AT_ONCE) {
          const some = commands.slice(first, first + UPDATES_AT_ONCE);
          await Promise.all(some.map((each) => client.send(each, { abortSignal }).catch(unlessGone)));
        }
      }
    });
  }

  #expiring(item: Item, atSeconds: number): UpdateItemCommand {
    return new UpdateItemCommand({
      TableName: this.#calls.options.tableName,
      Key: keyItem({ pk: item[PK]?.S ?? '', sk: item[SK]?.S ?? '' }),
      // What the service has taken meanwhile must not come back as an empty item.
      ConditionExpression: `attribute_exists(${PK})`,
      UpdateExpression: 'SET #ttl = :at',
      ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: { ':at': { N: String(atSeconds) } },
    });
  }

  async readOpenings(
    counters: readonly CounterKey[],
    { timeoutMs }: ReadOptions,
  ): Promise<readonly (OpeningEntry | undefined)[]> {
    const { client, clock, random, tableName } = this.#calls.options;
    const wanted = counters.map((key) => this.#calls.keys.limitOpening(key));
    const items = await this.#calls.answered('read openings of', { timeoutMs }, () =>
      batchGet(wanted, timeoutMs, { client, clock, random, tableName }),
    );
    return counters.map((key, index) => {
      const item = items[index];
      return item && openingOf(key, item);
    });
  }

  async putOpening(opening: OpeningEntry, options: ReadOptions): Promise<OpeningEntry> {
    const { key, carried, committed, settled, atMs } = opening;
    const command = new PutItemCommand({
      TableName: this.#calls.options.tableName,
      Item: {
        ...keyItem(this.#calls.keys.limitOpening(key)),
        ...versioned,
        ca: { N: String(carried) },
        co: { N: String(committed) },
        st: { N: String(settled) },
        at: { N: String(atMs) },
      },
      ConditionExpression: `attribute_not_exists(${PK})`,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const refused = await this.#calls.putUnless(command, 'write an opening to', options);
    return refused?.item === undefined ? opening : openingOf(key, refused.item);
  }
}

/** Why the pointer was not flipped, if it was because another set is live. */
const refusalOf = (error: unknown): CancellationReason | undefined =>
  error instanceof TransactionCanceledException
    ? error.CancellationReasons?.find(({ Code }) => Code === 'ConditionalCheckFailed')
    : undefined;

const isConflict = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.some(({ Code }) => Code === 'TransactionConflict') === true;

function unlessGone(error: unknown): void {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
}

const pointerOf = (item: Item): LimitPointer => ({
  set: item.se?.S ?? '',
  edit: Number(item.ed?.N),
  atMs: Number(item.at?.N),
});

const openingOf = (key: CounterKey, item: Item): OpeningEntry => ({
  key,
  carried: Number(item.ca?.N),
  committed: Number(item.co?.N),
  settled: Number(item.st?.N),
  atMs: Number(item.at?.N),
});
