/**
 * The ledger's store on a table in memory, plus every fault DynamoDB can have, on demand: for tests, simulations and the
 * bench. What it does with items is what a deployment does.
 */

import { type LedgerClock, systemClock } from '../environment/index.ts';
import {
  ANNOUNCED_SK,
  INBOX_SK,
  type Item,
  type ItemTable,
  LedgerError,
  type LedgerKeys,
  ledgerKeys,
  MemoryTable,
  PK,
  SK,
} from '../store/index.ts';
import { decodeItem } from './counter-item.ts';
import { DynamoStore } from './dynamo-store.ts';
import type { Counter } from './ledger.ts';
import type {
  ClosingStore,
  InboxItem,
  InboxStore,
  LedgerStore,
  ReadOptions,
  RewriteStore,
  SegmentAsk,
  SegmentPage,
  SegmentStore,
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
  /** Called synchronously with each applied transaction. */
  readonly onCommit?: (writes: readonly Write[]) => void;
  /** Called for each item newly received, as the table's stream would say. */
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

export class MemoryStore implements LedgerStore, InboxStore, ClosingStore, RewriteStore, SegmentStore {
  readonly keys: LedgerKeys;
  readonly #options: MemoryStoreOptions;
  readonly #table: MemoryTable;
  readonly #store: DynamoStore;
  /** The transaction that the table applies now. */
  #writing: readonly Write[] | undefined;

  constructor(options: MemoryStoreOptions) {
    const { instance, clock, schedule } = options;
    this.#options = options;
    this.keys = ledgerKeys(instance);
    this.#table = new MemoryTable({
      nowMs: () => clock?.nowMs() ?? 0,
      onWritten: () => this.#writing && options.onCommit?.(this.#writing),
      // Something may happen before each item.
      scanPageItems: 1,
    });
    const table = schedule === undefined ? this.#table : scheduledScans(this.#table, schedule);
    this.#store = new DynamoStore({ table, instance, clock: clock ?? systemClock, random: () => 0 });
  }

  async transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome> {
    const fault = await this.#before('transact', options);
    const contended = [...writes.keys()];
    if (fault?.kind === 'conflict') return { outcome: 'conflict', contended };
    if (fault?.kind === 'throttle') return { outcome: 'throttled', contended };
    this.#writing = writes;
    const answer = this.#store.transact(writes, options);
    this.#writing = undefined;
    const outcome = await answer;
    if (this.#options.schedule !== undefined) await this.#options.schedule('transacted');
    if (fault?.kind === 'lost-after') throw lost('transact');
    return outcome;
  }

  async readCounters(...asked: Parameters<LedgerStore['readCounters']>) {
    await this.#beforeRead('readCounters', asked[1]);
    return this.#store.readCounters(...asked);
  }

  async readRecords(...asked: Parameters<LedgerStore['readRecords']>) {
    await this.#beforeRead('readRecords', asked[1]);
    return this.#store.readRecords(...asked);
  }

  async readEntries(...asked: Parameters<LedgerStore['readEntries']>) {
    await this.#beforeRead('readEntries', asked[1]);
    return this.#store.readEntries(...asked);
  }

  scan(...asked: Parameters<LedgerStore['scan']>): AsyncGenerator<StoredItem> {
    return this.#store.scan(...asked);
  }

  scanSegment(ask: SegmentAsk): Promise<SegmentPage> {
    return this.#store.scanSegment(ask);
  }

  async announce(...asked: Parameters<LedgerStore['announce']>): Promise<boolean> {
    return this.#put('announce', asked[1], () => this.#store.announce(...asked));
  }

  async receive(item: InboxItem, options: ReadOptions): Promise<boolean> {
    return this.#put('receive', options, async () => {
      const first = await this.#store.receive(item, options);
      if (first) this.#options.onReceived?.(item);
      return first;
    });
  }

  async #put(
    operation: 'announce' | 'receive',
    options: ReadOptions,
    put: () => Promise<boolean>,
  ): Promise<boolean> {
    const fault = await this.#before(operation, options);
    if (fault?.kind === 'conflict' || fault?.kind === 'throttle') throw lost(operation);
    const first = await put();
    if (fault?.kind === 'lost-after') throw lost(operation);
    return first;
  }

  async due(...asked: Parameters<LedgerStore['due']>) {
    await this.#beforeRead('due', asked[3]);
    return this.#store.due(...asked);
  }

  async dueClosings(...asked: Parameters<ClosingStore['dueClosings']>) {
    await this.#beforeRead('due', asked[3]);
    return this.#store.dueClosings(...asked);
  }

  async readPeriod(key: Counter['key'], options: ReadOptions): Promise<readonly StoredItem[]> {
    await this.#beforeRead('readCounters', options);
    return this.#store.readPeriod(key, options);
  }

  rewrite(...asked: Parameters<RewriteStore['rewrite']>): Promise<boolean> {
    return this.#store.rewrite(...asked);
  }

  /** Deletes what has expired by now, by the clock: DynamoDB does so by itself, within some days. */
  collectGarbage(): void {
    this.#table.collectGarbage(this.#options.clock?.nowMs() ?? 0);
  }

  /** Everything stored, without waiting: for tests and the local summary. */
  *dump(): Generator<StoredItem> {
    for (const item of this.#table.items()) if (isOfBooks(item, this.keys)) yield decodeItem(item, this.keys);
  }

  async #beforeRead(
    operation: Exclude<StoreOperation, 'transact' | 'announce' | 'receive'>,
    options: ReadOptions,
  ): Promise<void> {
    const fault = await this.#before(operation, options);
    if (fault !== undefined && fault.kind !== 'slow') throw lost(operation);
  }

  async #before(operation: StoreOperation, options: ReadOptions): Promise<StoreFault | undefined> {
    const fault = this.#options.fault?.(operation);
    if (this.#options.schedule !== undefined) await this.#options.schedule(operation);
    if (fault !== undefined) await this.#suffer(fault, options);
    return fault;
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

const scheduledScans = (table: ItemTable, schedule: (step: string) => Promise<unknown>): ItemTable => ({
  tableName: table.tableName,
  send: async (name, operation, limit) => {
    if (name === 'Scan') await schedule('scan');
    return table.send(name, operation, limit);
  },
});

/** A scan of the ledger leaves the others out, too. */
const isOfBooks = (item: Item, keys: LedgerKeys): boolean =>
  item[SK]?.S !== ANNOUNCED_SK && item[SK]?.S !== INBOX_SK && !keys.isInboxPk(item[PK]?.S ?? '');

const lost = (operation: string): LedgerError =>
  new LedgerError('ledger_unavailable', `${operation}: no answer from the in-memory table (injected fault)`);
