/** The ledger's items in the table. Lost races, refusals and throttles are values; everything else is `ledger_unavailable`. */
import type { CounterKey } from '../../../policies/claim.ts';
import {
  type BatchGetDeps,
  batchGet,
  putItem,
  queryPage,
  scanPage,
  scanPages,
  transactItems,
} from '../store/calls.ts';
import {
  ANNOUNCED_SK,
  ENTRY_SK_PREFIX,
  INBOX_SK,
  type Key,
  type LedgerKeys,
  ledgerKeys,
  ROLLUP_SK,
} from '../store/keys.ts';
import {
  absent,
  all,
  any,
  begins,
  compare,
  DUE_AT,
  type InstanceTable,
  type Item,
  type ItemCondition,
  type ItemTable,
  numberIs,
  PK,
  type QueryAsk,
  type RefusedItem,
  SK,
  TimeLimit,
  TTL_ATTRIBUTE,
} from '../store/operation.ts';
import { answered, failureText, LedgerError } from '../store/table-failure.ts';
import {
  announcementItem,
  decodeCounter,
  decodeEntry,
  decodeItem,
  inboxItem,
  itemWrite,
  rewriteOf,
  rewriteOfEntry,
  seconds,
} from './items.ts';
import type { CorrectionEntry, Counter, DueJob, JobRecord } from './ledger.ts';
import { decodeRecord } from './record.ts';
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
  SegmentAsk,
  SegmentPage,
  SegmentStore,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  Write,
} from './store.ts';

type DynamoStoreOptions = InstanceTable & BatchGetDeps;

const SCAN_PAGE_TIMEOUT_MS = 10_000;

export class DynamoStore implements LedgerStore, InboxStore, ClosingStore, RewriteStore, SegmentStore {
  readonly #options: DynamoStoreOptions;
  readonly #table: ItemTable;
  readonly #keys: LedgerKeys;

  constructor(options: DynamoStoreOptions) {
    this.#options = options;
    this.#table = options.table;
    this.#keys = ledgerKeys(options.instance);
  }

  async transact(writes: readonly Write[], { token, timeoutMs }: TransactOptions): Promise<TransactOutcome> {
    const items = writes.map((write) => itemWrite(write, this.#keys));
    const outcome = await this.#answered(`write ${writes.length} items to`, () =>
      transactItems(this.#table, items, new TimeLimit(timeoutMs), token),
    );
    if (outcome.outcome === 'written') return COMMITTED;
    if (outcome.outcome !== 'refused') return outcome;
    const refusals = writes.map((write, index) => this.#refusal(write, outcome.refused[index]));
    return { outcome: 'refused', refusals };
  }

  async readCounters(
    counterKeys: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    const wanted = counterKeys.map((key) => this.#keys.counter(key));
    const items = await this.#readItems(wanted, options);
    return items.map((item) => item && decodeCounter(item, this.#keys));
  }

  async readRecords(
    jobIds: readonly number[],
    options: ReadOptions,
  ): Promise<readonly (JobRecord | undefined)[]> {
    const wanted = jobIds.map((jobId) => this.#keys.record(jobId));
    const items = await this.#readItems(wanted, options);
    return items.map((item) => item && decodeRecord(item, this.#keys));
  }

  async readEntries(jobId: number, options: ReadOptions): Promise<readonly CorrectionEntry[]> {
    const ask = { pk: this.#keys.record(jobId).pk, sk: { begins: ENTRY_SK_PREFIX }, consistent: true };
    const items = await this.#query('read entries of', ask, options);
    return items.map((item) => decodeEntry(item, this.#keys));
  }

  async *scan(consistency: Consistency = 'consistent'): AsyncGenerator<StoredItem> {
    try {
      for await (const items of scanPages(this.#table, this.#scanAsk(consistency), SCAN_PAGE_TIMEOUT_MS)) {
        for (const item of items) yield decodeItem(item, this.#keys);
      }
    } catch (error) {
      throw this.#unavailable('scan', failureText(error));
    }
  }

  async scanSegment(part: SegmentAsk): Promise<SegmentPage> {
    const ask = { ...this.#scanAsk('eventual'), ...part };
    const { items, next } = await this.#answered('scan a segment of', () =>
      scanPage(this.#table, ask, new TimeLimit(SCAN_PAGE_TIMEOUT_MS)),
    );
    return { items: items.map((item) => decodeItem(item, this.#keys)), ...(next && { next }) };
  }

  #scanAsk(consistency: Consistency) {
    const filter = all([
      begins(PK, this.#keys.prefix),
      ...[ANNOUNCED_SK, INBOX_SK, ROLLUP_SK].map((sk) => compare(SK, '<>', { S: sk })),
    ]);
    return { filter, consistent: consistency === 'consistent', pageItems: 1000 };
  }

  async due(shard: number, dueBeforeMs: number, pageItems: number, options: ReadOptions): Promise<DueJob[]> {
    const items = await this.#due(this.#keys.dueShardPk(shard), dueBeforeMs, pageItems, options);
    return items.map((item) => ({
      jobId: this.#keys.jobIdOf(item[PK]?.S ?? ''),
      dueAtMs: Number(item[DUE_AT]?.N),
    }));
  }

  async dueClosings(
    shard: number,
    dueBeforeMs: number,
    pageItems: number,
    options: ReadOptions,
  ): Promise<readonly CounterKey[]> {
    const items = await this.#due(this.#keys.closingShardPk(shard), dueBeforeMs, pageItems, options);
    return items.map((item) => this.#keys.counterOf(item[PK]?.S ?? ''));
  }

  #due(pk: string, dueBeforeMs: number, pageItems: number, options: ReadOptions) {
    return this.#query('query what is due of', { pk, dueBeforeMs, pageItems, consistent: false }, options);
  }

  async readPeriod(key: CounterKey, options: ReadOptions): Promise<readonly StoredItem[]> {
    const ask = { pk: this.#keys.counter(key).pk, consistent: true };
    const items = await this.#query('read a period of', ask, options);
    return items.map((item) => decodeItem(item, this.#keys));
  }

  async rewrite(
    record: JobRecord,
    entries: readonly CorrectionEntry[],
    { timeoutMs }: ReadOptions,
  ): Promise<boolean> {
    const put = rewriteOf(record, this.#keys);
    const others = entries.map((entry) => rewriteOfEntry(entry, this.#keys));
    const limit = new TimeLimit(timeoutMs);
    const { outcome } = await this.#answered<{ readonly outcome: string }>('rewrite a record of', () =>
      // Alone it is half the price.
      others.length === 0
        ? putItem(this.#table, put.item, limit, put.condition)
        : transactItems(this.#table, [put, ...others], limit),
    );
    return outcome === 'written';
  }

  async #query(doing: string, ask: QueryAsk, { timeoutMs }: ReadOptions): Promise<readonly Item[]> {
    const { items } = await this.#answered(doing, () =>
      queryPage(this.#table, ask, new TimeLimit(timeoutMs)),
    );
    return items;
  }

  announce(announcement: Announcement, options: ReadOptions): Promise<boolean> {
    // Garbage collection comes late: an item whose time has passed is as good as none.
    const over = any([absent(), numberIs(TTL_ATTRIBUTE, '<=', seconds(announcement.atMs))]);
    return this.#putIf(announcementItem(announcement, this.#keys), over, 'announce in', options);
  }

  receive(item: InboxItem, options: ReadOptions): Promise<boolean> {
    return this.#putIf(inboxItem(item, this.#keys), absent(), 'put an inbox item into', options);
  }

  async #putIf(
    item: Item,
    condition: ItemCondition,
    doing: string,
    { timeoutMs }: ReadOptions,
  ): Promise<boolean> {
    const { outcome } = await this.#answered(doing, () =>
      putItem(this.#table, item, new TimeLimit(timeoutMs), condition),
    );
    return outcome === 'written';
  }

  #readItems(wanted: readonly Key[], { timeoutMs }: ReadOptions): Promise<(Item | undefined)[]> {
    return this.#answered(`read ${wanted.length} items of`, () => batchGet(wanted, timeoutMs, this.#options));
  }

  #refusal(write: Write, refused: RefusedItem | undefined): Refusal | undefined {
    if (refused === undefined) return undefined;
    const { item } = refused;
    switch (write.kind) {
      case 'record':
        return { kind: 'record', ...(item && { record: decodeRecord(item, this.#keys) }) };
      case 'counter':
      case 'reset':
        return { kind: 'counter', ...(item && { counter: decodeCounter(item, this.#keys) }) };
      case 'entry':
      case 'closing':
        return { kind: write.kind };
    }
  }

  #answered<T>(doing: string, call: () => Promise<T>): Promise<T> {
    return answered(doing, this.#unavailable, call);
  }

  readonly #unavailable = (doing: string, why: string): LedgerError =>
    new LedgerError('ledger_unavailable', `could not ${doing} table ${this.#table.tableName} (${why})`);
}

const COMMITTED: TransactOutcome = { outcome: 'committed' };
