/** Limit sets in the ledger's table, under keys that no scan of the books yields. */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { CounterKey } from '../../policies/claim.ts';
import { batchGet } from '../ledger/batch-get.ts';
import { type Key, type LedgerKeys, ledgerKeys } from '../ledger/keys.ts';
import type { LedgerClock } from '../ledger/ledger.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../ledger/table.ts';
import { joined, partsOf } from './chunk-parts.ts';
import type {
  FlipOutcome,
  LimitChunk,
  LimitPointer,
  LimitTable,
  OpeningEntry,
  ReadOptions,
} from './limit-table.ts';
import { LimitsError } from './limits-error.ts';

export interface DynamoLimitTableOptions {
  /** With `maxAttempts: 1`, as `dynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

type Item = Readonly<Record<string, AttributeValue>>;

/** A set of hundreds of roots must not take all connections. */
const UPDATES_AT_ONCE = 8;

export class DynamoLimitTable implements LimitTable {
  readonly #options: DynamoLimitTableOptions;
  readonly #keys: LedgerKeys;

  constructor(options: DynamoLimitTableOptions) {
    this.#options = options;
    this.#keys = ledgerKeys(options.instance);
  }

  async getPointer(options: ReadOptions): Promise<LimitPointer | undefined> {
    const command = new GetItemCommand({
      TableName: this.#options.tableName,
      Key: keyItem(this.#keys.limitPointer),
      ConsistentRead: true,
    });
    const { Item } = await this.#answered('read the pointer of', options, (abortSignal) =>
      this.#options.client.send(command, { abortSignal }),
    );
    return Item && pointerOf(Item);
  }

  async putChunk(set: string, { name, bytes }: LimitChunk, options: ReadOptions): Promise<void> {
    for (const [part, attributes] of partsOf(name, bytes).entries()) {
      const command = new PutItemCommand({
        TableName: this.#options.tableName,
        Item: { ...keyItem(this.#keys.limitChunk(set, name, part)), ...attributes },
      });
      await this.#answered('write a chunk to', options, (abortSignal) =>
        this.#options.client.send(command, { abortSignal }),
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
    const { pk, sk } = this.#keys.limitChunk(set, name, 0);
    const items = await this.#answered('read a chunk of', options, async (abortSignal) => {
      const found: Item[] = [];
      const pages = paginateQuery(
        { client: this.#options.client },
        {
          TableName: this.#options.tableName,
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

  async flip(to: LimitPointer, base: string | undefined, options: ReadOptions): Promise<FlipOutcome> {
    const command = new PutItemCommand({
      TableName: this.#options.tableName,
      Item: {
        ...keyItem(this.#keys.limitPointer),
        se: { S: to.set },
        ed: { N: String(to.edit) },
        at: { N: String(to.atMs) },
      },
      ...(base === undefined
        ? { ConditionExpression: `attribute_not_exists(${PK})` }
        : { ConditionExpression: 'se = :base', ExpressionAttributeValues: { ':base': { S: base } } }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const refused = await this.#putUnless(command, 'flip the pointer of', options);
    return refused === undefined
      ? { outcome: 'flipped' }
      : { outcome: 'stale', live: refused.item && pointerOf(refused.item) };
  }

  async retire(set: string, atSeconds: number, options: ReadOptions): Promise<void> {
    const { client, tableName } = this.#options;
    await this.#answered('retire a set of', options, async (abortSignal) => {
      const pages = paginateQuery(
        { client },
        {
          TableName: tableName,
          KeyConditionExpression: `${PK} = :set`,
          ExpressionAttributeValues: { ':set': { S: this.#keys.limitChunk(set, '', 0).pk } },
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
      TableName: this.#options.tableName,
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
    const { client, clock, random, tableName } = this.#options;
    const wanted = counters.map((key) => this.#keys.limitOpening(key));
    const items = await this.#answered('read openings of', { timeoutMs }, () =>
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
      TableName: this.#options.tableName,
      Item: {
        ...keyItem(this.#keys.limitOpening(key)),
        ca: { N: String(carried) },
        co: { N: String(committed) },
        st: { N: String(settled) },
        at: { N: String(atMs) },
      },
      ConditionExpression: `attribute_not_exists(${PK})`,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const refused = await this.#putUnless(command, 'write an opening to', options);
    return refused?.item === undefined ? opening : openingOf(key, refused.item);
  }

  /** What stands in the way; undefined: it is written. */
  #putUnless(
    command: PutItemCommand,
    doing: string,
    options: ReadOptions,
  ): Promise<{ readonly item: Item | undefined } | undefined> {
    return this.#answered(doing, options, async (abortSignal) => {
      try {
        await this.#options.client.send(command, { abortSignal });
        return undefined;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return { item: error.Item };
        throw error;
      }
    });
  }

  async #answered<T>(
    doing: string,
    { timeoutMs }: ReadOptions,
    call: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await call(AbortSignal.timeout(Math.ceil(timeoutMs)));
    } catch (error) {
      // The client's own errors carry the whole request, its signature included: only their name and text go on.
      const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const { tableName } = this.#options;
      throw new LimitsError('limits_unavailable', `could not ${doing} the limits in ${tableName} (${why})`);
    }
  }
}

const keyItem = ({ pk, sk }: Key): Record<string, AttributeValue> => ({ [PK]: { S: pk }, [SK]: { S: sk } });

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
