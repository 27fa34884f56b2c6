/** The table in DynamoDB. Lost races, refusals and throttles are values; everything else is `ledger_unavailable`. */
import {
  type CancellationReason,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { CounterKey } from '../../../policies/claim.ts';
import { batchGet } from '../store/batch-get.ts';
import type { Item } from '../store/item-bytes.ts';
import { ANNOUNCED_SK, ENTRY_SK_PREFIX, INBOX_SK, type Key, ledgerKeys, ROLLUP_SK } from '../store/keys.ts';
import { DUE_AT, DUE_INDEX, DUE_PK, PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { announcementItem, seconds } from './announcement-item.ts';
import type { DueJob } from './due-job.ts';
import { type DynamoTarget, dynamoWrite, rewriteOf, rewriteOfEntry } from './dynamo-write.ts';
import type { CorrectionEntry } from './entry.ts';
import { inboxItem } from './inbox-item.ts';
import { decodeAdjustment, decodeCounter, decodeEntry, decodeItem, decodeRecord } from './item.ts';
import type { Counter, JobRecord, LedgerClock } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import type {
  Announcement,
  ClosingStore,
  Consistency,
  InboxItem,
  InboxStore,
  LedgerStore,
  ReadOptions,
  Refusal,
  RewriteStore,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  Write,
} from './store.ts';

export interface DynamoStoreOptions {
  /** Must have `maxAttempts: 1`, as `dynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

/** Scans serve repairs, which nobody waits for. */
const SCAN_PAGE_TIMEOUT_MS = 10_000;

export class DynamoStore implements LedgerStore, InboxStore, ClosingStore, RewriteStore {
  readonly #options: DynamoStoreOptions;
  readonly #target: DynamoTarget;

  constructor(options: DynamoStoreOptions) {
    this.#options = options;
    this.#target = { tableName: options.tableName, keys: ledgerKeys(options.instance) };
  }

  async transact(writes: readonly Write[], { token, timeoutMs }: TransactOptions): Promise<TransactOutcome> {
    const command = new TransactWriteItemsCommand({
      ClientRequestToken: token,
      TransactItems: writes.map((write) => dynamoWrite(write, this.#target)),
    });
    try {
      await this.#options.client.send(command, { abortSignal: AbortSignal.timeout(Math.ceil(timeoutMs)) });
      return { outcome: 'committed' };
    } catch (error) {
      if (error instanceof TransactionCanceledException) return this.#canceled(error, writes);
      const name = error instanceof Error ? error.name : '';
      if (CONFLICTS.has(name)) return { outcome: 'conflict' };
      if (THROTTLES.has(name)) return { outcome: 'throttled' };
      throw this.#unavailable(`write ${writes.length} items to`, error);
    }
  }

  async readCounters(
    counterKeys: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    const { keys } = this.#target;
    const items = await this.#readItems(
      counterKeys.map((key) => keys.counter(key)),
      options,
    );
    return items.map((item) => item && decodeCounter(item, keys));
  }

  async readRecords(
    jobIds: readonly number[],
    options: ReadOptions,
  ): Promise<readonly (JobRecord | undefined)[]> {
    const { keys } = this.#target;
    const items = await this.#readItems(
      jobIds.map((jobId) => keys.record(jobId)),
      options,
    );
    return items.map((item) => item && decodeRecord(item, keys));
  }

  async readEntries(jobId: number, options: ReadOptions): Promise<readonly CorrectionEntry[]> {
    const { keys, tableName } = this.#target;
    const command = new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: `${PK} = :pk AND begins_with(${SK}, :entry)`,
      ExpressionAttributeValues: { ':pk': { S: keys.record(jobId).pk }, ':entry': { S: ENTRY_SK_PREFIX } },
    });
    // A job has a handful of entries: one page of 1 MB holds thousands.
    const { Items = [] } = await this.#send('read entries of', () =>
      this.#options.client.send(command, { abortSignal: AbortSignal.timeout(Math.ceil(options.timeoutMs)) }),
    );
    return Items.map((item) => decodeEntry(item, keys));
  }

  async *scan(consistency: Consistency = 'consistent'): AsyncGenerator<StoredItem> {
    const { keys, tableName } = this.#target;
    const pages = paginateScan(
      { client: this.#options.client, pageSize: 1000 },
      {
        TableName: tableName,
        ConsistentRead: consistency === 'consistent',
        FilterExpression: `begins_with(${PK}, :instance) AND ${SK} <> :announced AND ${SK} <> :inbox AND ${SK} <> :rollup`,
        ExpressionAttributeValues: {
          ':instance': { S: keys.prefix },
          ':announced': { S: ANNOUNCED_SK },
          ':inbox': { S: INBOX_SK },
          ':rollup': { S: ROLLUP_SK },
        },
      },
      { requestTimeout: SCAN_PAGE_TIMEOUT_MS },
    );
    try {
      for await (const page of pages) {
        for (const item of page.Items ?? []) yield decodeItem(item, keys);
      }
    } catch (error) {
      throw this.#unavailable('scan', error);
    }
  }

  async due(
    shard: number,
    beforeMs: number,
    limit: number,
    options: ReadOptions,
  ): Promise<readonly DueJob[]> {
    const { keys } = this.#target;
    const items = await this.#dueItems(keys.dueShardPk(shard), beforeMs, limit, options);
    return items.map((item) => ({
      jobId: keys.jobIdOf(item[PK]?.S ?? ''),
      dueAtMs: Number(item[DUE_AT]?.N),
    }));
  }

  async dueClosings(
    shard: number,
    beforeMs: number,
    limit: number,
    options: ReadOptions,
  ): Promise<readonly CounterKey[]> {
    const { keys } = this.#target;
    const items = await this.#dueItems(keys.closingShardPk(shard), beforeMs, limit, options);
    return items.map((item) => keys.counterOf(item[PK]?.S ?? ''));
  }

  async readPeriod(key: CounterKey, options: ReadOptions): Promise<readonly StoredItem[]> {
    const { keys, tableName } = this.#target;
    const command = new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: `${PK} = :pk`,
      ExpressionAttributeValues: { ':pk': { S: keys.counter(key).pk } },
    });
    // A period has a handful of adjustments: one page of 1 MB holds thousands.
    const { Items = [] } = await this.#send('read a period of', () =>
      this.#options.client.send(command, { abortSignal: AbortSignal.timeout(Math.ceil(options.timeoutMs)) }),
    );
    return Items.flatMap((item) => decodeItem(item, keys) ?? []);
  }

  async rewrite(
    record: JobRecord,
    entries: readonly CorrectionEntry[],
    { timeoutMs }: ReadOptions,
  ): Promise<boolean> {
    const put = rewriteOf(record, this.#target);
    const others = entries.map((entry) => ({ Put: rewriteOfEntry(entry, this.#target) }));
    const options = { abortSignal: AbortSignal.timeout(Math.ceil(timeoutMs)) };
    try {
      // Alone it is half the price.
      if (others.length === 0) await this.#options.client.send(new PutItemCommand(put), options);
      else {
        const TransactItems = [{ Put: put }, ...others];
        await this.#options.client.send(new TransactWriteItemsCommand({ TransactItems }), options);
      }
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || error instanceof TransactionCanceledException)
        return false;
      throw this.#unavailable('rewrite a record of', error);
    }
  }

  async #dueItems(
    partition: string,
    beforeMs: number,
    limit: number,
    { timeoutMs }: ReadOptions,
  ): Promise<readonly Item[]> {
    const command = new QueryCommand({
      TableName: this.#target.tableName,
      IndexName: DUE_INDEX,
      KeyConditionExpression: `${DUE_PK} = :partition AND ${DUE_AT} < :before`,
      ExpressionAttributeValues: { ':partition': { S: partition }, ':before': { N: String(beforeMs) } },
      Limit: limit,
    });
    const { Items = [] } = await this.#send('query what is due of', () =>
      this.#options.client.send(command, { abortSignal: AbortSignal.timeout(Math.ceil(timeoutMs)) }),
    );
    return Items;
  }

  async announce(announcement: Announcement, { timeoutMs }: ReadOptions): Promise<boolean> {
    const { keys, tableName } = this.#target;
    const command = new PutItemCommand({
      TableName: tableName,
      Item: announcementItem(announcement, keys),
      // Garbage collection comes late: an item whose time has passed is as good as none.
      ConditionExpression: `attribute_not_exists(${PK}) OR #until <= :now`,
      ExpressionAttributeNames: { '#until': TTL_ATTRIBUTE },
      ExpressionAttributeValues: { ':now': { N: String(seconds(announcement.atMs)) } },
    });
    try {
      await this.#options.client.send(command, { abortSignal: AbortSignal.timeout(Math.ceil(timeoutMs)) });
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw this.#unavailable('announce in', error);
    }
  }

  async receive(item: InboxItem, { timeoutMs }: ReadOptions): Promise<boolean> {
    const { keys, tableName } = this.#target;
    const command = new PutItemCommand({
      TableName: tableName,
      Item: inboxItem(item, keys),
      ConditionExpression: `attribute_not_exists(${PK})`,
    });
    try {
      await this.#options.client.send(command, { abortSignal: AbortSignal.timeout(Math.ceil(timeoutMs)) });
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw this.#unavailable('put an inbox item into', error);
    }
  }

  async #readItems(wanted: readonly Key[], { timeoutMs }: ReadOptions): Promise<(Item | undefined)[]> {
    const { client, clock, random, tableName } = this.#options;
    return this.#send(`read ${wanted.length} items of`, () =>
      batchGet(wanted, timeoutMs, { client, clock, random, tableName }),
    );
  }

  #canceled(error: TransactionCanceledException, writes: readonly Write[]): TransactOutcome {
    const reasons = error.CancellationReasons ?? [];
    const codes = new Set(reasons.map((reason) => reason.Code));
    // A refusal says something new about an item, a conflict beside it does not: learn first, race later.
    if (codes.has('ConditionalCheckFailed')) {
      return {
        outcome: 'refused',
        refusals: writes.map((write, index) => this.#refusal(write, reasons[index])),
      };
    }
    if (codes.has('TransactionConflict')) return { outcome: 'conflict' };
    if (codes.has('ThrottlingError') || codes.has('ProvisionedThroughputExceeded'))
      return { outcome: 'throttled' };
    throw this.#unavailable(`write ${writes.length} items to`, error);
  }

  #refusal(write: Write, reason: CancellationReason | undefined): Refusal | undefined {
    if (reason?.Code !== 'ConditionalCheckFailed') return undefined;
    const { keys } = this.#target;
    switch (write.kind) {
      case 'record':
        return { kind: 'record', ...(reason.Item && { record: decodeRecord(reason.Item, keys) }) };
      case 'counter':
      case 'reset':
        return { kind: 'counter', ...(reason.Item && { counter: decodeCounter(reason.Item, keys) }) };
      case 'entry':
      case 'closing':
        return { kind: write.kind };
      case 'adjustment':
        return {
          kind: 'adjustment',
          ...(reason.Item && { adjustment: decodeAdjustment(reason.Item, keys) }),
        };
    }
  }

  async #send<T>(doing: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#unavailable(doing, error);
    }
  }

  #unavailable(doing: string, cause: unknown): LedgerError {
    // The client's own errors carry the whole request, its signature included: only their name and text go on.
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    return new LedgerError(
      'ledger_unavailable',
      `could not ${doing} table ${this.#target.tableName} (${why})`,
    );
  }
}

/** Somebody else holds an item, or our own earlier attempt with this token is still under way. */
const CONFLICTS: ReadonlySet<string> = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
]);

const THROTTLES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]);
