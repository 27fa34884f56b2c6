/**
 * The table in memory: the same items, conditions and answers as DynamoDB, plus every fault it can have, on demand.
 * It keeps encoded items, so nothing a caller holds can change what is stored and the encoding is exercised by every test.
 */

import type { Item } from '../store/item-bytes.ts';
import { ANNOUNCED_SK, INBOX_SK, type LedgerKeys, ledgerKeys } from '../store/keys.ts';
import { DUE_AT, DUE_PK, SK } from '../store/table.ts';
import type { DueJob } from './due-job.ts';
import type { CorrectionEntry } from './entry.ts';
import { decodeCounter, decodeEntry, decodeItem, decodeRecord } from './item.ts';
import type { Counter, JobRecord, LedgerClock } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import { MemoryTable } from './memory-table.ts';
import type {
  Announcement,
  ClosingStore,
  InboxItem,
  InboxStore,
  LedgerStore,
  ReadOptions,
  RewriteStore,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  Write,
} from './store.ts';

export interface MemoryStoreOptions {
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
  /** Waits out latencies and ages tokens. Absent: latencies are refused. */
  readonly clock?: LedgerClock;
  /** Asked once per operation; `undefined` lets it work. */
  readonly fault?: (operation: StoreOperation) => StoreFault | undefined;
  /** Awaited before an operation reaches the table and before its answer leaves, so that a scheduler can order both. */
  readonly schedule?: (step: string) => Promise<unknown>;
  /** Called in the same instant as each applied transaction, before anybody hears of it. */
  readonly onCommit?: (writes: readonly Write[]) => void;
  /** Called for each item newly received, as the table's stream would say: this table has none. */
  readonly onReceived?: (item: InboxItem) => void;
}

export type StoreOperation =
  | 'transact'
  | 'readCounters'
  | 'readRecords'
  | 'readEntries'
  | 'due'
  | 'announce'
  | 'receive';

export interface StoreFault {
  /** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. Both look the same to the caller. */
  readonly kind: 'conflict' | 'throttle' | 'lost-before' | 'lost-after' | 'slow';
  readonly latencyMs?: number;
}

export class MemoryStore implements LedgerStore, InboxStore, ClosingStore, RewriteStore {
  readonly keys: LedgerKeys;
  readonly #options: MemoryStoreOptions;
  readonly #table: MemoryTable;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.keys = ledgerKeys(options.instance);
    this.#table = new MemoryTable(this.keys);
  }

  async transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome> {
    const fault = this.#options.fault?.('transact');
    if (this.#options.schedule !== undefined) await this.#options.schedule('transact');
    if (fault !== undefined) await this.#suffer(fault, options);
    if (fault?.kind === 'conflict') return { outcome: 'conflict' };
    if (fault?.kind === 'throttle') return { outcome: 'throttled' };
    const nowMs = this.#options.clock?.nowMs() ?? 0;
    const applied = this.#table.commits;
    const outcome = this.#table.transact(writes, options.token, nowMs);
    if (this.#table.commits > applied) this.#options.onCommit?.(writes);
    if (this.#options.schedule !== undefined) await this.#options.schedule('transacted');
    if (fault?.kind === 'lost-after') throw lost('transact');
    return outcome;
  }

  async readCounters(
    counterKeys: readonly Counter['key'][],
    options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    await this.#beforeRead('readCounters', options);
    return counterKeys.map((key) => {
      const item = this.#table.get(this.keys.counter(key));
      return item && decodeCounter(item, this.keys);
    });
  }

  async readRecords(
    jobIds: readonly number[],
    options: ReadOptions,
  ): Promise<readonly (JobRecord | undefined)[]> {
    await this.#beforeRead('readRecords', options);
    return jobIds.map((jobId) => {
      const item = this.#table.get(this.keys.record(jobId));
      return item && decodeRecord(item, this.keys);
    });
  }

  async readEntries(jobId: number, options: ReadOptions): Promise<readonly CorrectionEntry[]> {
    await this.#beforeRead('readEntries', options);
    const entries: CorrectionEntry[] = [];
    for (;;) {
      const item = this.#table.get(this.keys.entry(jobId, entries.length + 1));
      if (item === undefined) return entries;
      entries.push(decodeEntry(item, this.keys));
    }
  }

  async *scan(): AsyncGenerator<StoredItem> {
    for (const name of this.#table.names()) {
      if (this.#options.schedule !== undefined) await this.#options.schedule('scan');
      const item = this.#table.named(name);
      if (item !== undefined && isOfBooks(item)) yield decodeItem(item, this.keys);
    }
  }

  async announce(announcement: Announcement, options: ReadOptions): Promise<boolean> {
    const fault = this.#options.fault?.('announce');
    if (this.#options.schedule !== undefined) await this.#options.schedule('announce');
    if (fault !== undefined) await this.#suffer(fault, options);
    if (fault?.kind === 'conflict' || fault?.kind === 'throttle') throw lost('announce');
    const first = this.#table.announce(announcement);
    if (fault?.kind === 'lost-after') throw lost('announce');
    return first;
  }

  async receive(item: InboxItem, options: ReadOptions): Promise<boolean> {
    const fault = this.#options.fault?.('receive');
    if (this.#options.schedule !== undefined) await this.#options.schedule('receive');
    if (fault !== undefined) await this.#suffer(fault, options);
    if (fault?.kind === 'conflict' || fault?.kind === 'throttle') throw lost('receive');
    const first = this.#table.receive(item);
    if (first) this.#options.onReceived?.(item);
    if (fault?.kind === 'lost-after') throw lost('receive');
    return first;
  }

  async due(
    shard: number,
    beforeMs: number,
    limit: number,
    options: ReadOptions,
  ): Promise<readonly DueJob[]> {
    await this.#beforeRead('due', options);
    return this.#dueItems(this.keys.dueShardPk(shard), beforeMs)
      .slice(0, limit)
      .map((item) => ({ jobId: this.keys.jobIdOf(item.pk?.S ?? ''), dueAtMs: dueAt(item) }));
  }

  async dueClosings(
    shard: number,
    beforeMs: number,
    limit: number,
    options: ReadOptions,
  ): Promise<readonly Counter['key'][]> {
    await this.#beforeRead('due', options);
    return this.#dueItems(this.keys.closingShardPk(shard), beforeMs)
      .slice(0, limit)
      .map((item) => this.keys.counterOf(item.pk?.S ?? ''));
  }

  async readPeriod(key: Counter['key'], options: ReadOptions): Promise<readonly StoredItem[]> {
    await this.#beforeRead('readCounters', options);
    const { pk } = this.keys.counter(key);
    return [...this.#table.items()].flatMap((item) =>
      item.pk?.S === pk ? (decodeItem(item, this.keys) ?? []) : [],
    );
  }

  async rewrite(record: JobRecord, entries: readonly CorrectionEntry[]): Promise<boolean> {
    return this.#table.rewrite(record, entries);
  }

  #dueItems(partition: string, beforeMs: number): readonly Item[] {
    return [...this.#table.items()]
      .filter((item) => item[DUE_PK]?.S === partition && dueAt(item) < beforeMs)
      .sort((a, b) => dueAt(a) - dueAt(b));
  }

  /** Deletes what has expired by now, by the clock: DynamoDB does so by itself, within some days. */
  collectGarbage(): void {
    this.#table.collectGarbage(this.#options.clock?.nowMs() ?? 0);
  }

  /** Everything stored, without waiting: for tests and the local summary. */
  *dump(): Generator<StoredItem> {
    for (const item of this.#table.items()) if (isOfBooks(item)) yield decodeItem(item, this.keys);
  }

  async #beforeRead(
    operation: Exclude<StoreOperation, 'transact' | 'announce' | 'receive'>,
    options: ReadOptions,
  ): Promise<void> {
    const fault = this.#options.fault?.(operation);
    if (this.#options.schedule !== undefined) await this.#options.schedule(operation);
    if (fault === undefined) return;
    await this.#suffer(fault, options);
    if (fault.kind !== 'slow') throw lost(operation);
  }

  async #suffer(fault: StoreFault, options: ReadOptions): Promise<void> {
    const latencyMs = fault.latencyMs ?? 0;
    if (latencyMs > 0) {
      if (this.#options.clock === undefined)
        throw new LedgerError('ledger_misuse', 'a slow fault needs a clock to wait on');
      await this.#options.clock.sleep(Math.min(latencyMs, options.timeoutMs));
      if (latencyMs > options.timeoutMs && fault.kind !== 'lost-after') throw lost('slow operation');
    }
    if (fault.kind === 'lost-before') throw lost('operation');
  }
}

const dueAt = (item: Item): number => Number(item[DUE_AT]?.N);
/** A scan of the real table leaves the others out, too. */
const isOfBooks = (item: Item): boolean => item[SK]?.S !== ANNOUNCED_SK && item[SK]?.S !== INBOX_SK;

const lost = (operation: string): LedgerError =>
  new LedgerError('ledger_unavailable', `${operation}: no answer from the in-memory table (injected fault)`);
