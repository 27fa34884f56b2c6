/** The ledger's store in memory, with every fault DynamoDB can have: for tests, simulations and the bench. */
import { type LedgerClock, systemClock } from '../../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { decodeItem } from '../../../functions/core/ledger/items.ts';
import type {
  InboxItem,
  ReadOptions,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  Write,
} from '../../../functions/core/ledger/store.ts';
import { ANNOUNCED_SK, INBOX_SK, type LedgerKeys, ledgerKeys } from '../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { type ItemTable, PK, SK } from '../../../functions/core/store/operation.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';

export interface MemoryStoreOptions {
  readonly instance: string;
  /** Waits out latencies and ages tokens. Absent: latencies are refused. */
  readonly clock?: LedgerClock;
  readonly fault?: (operation: StoreOperation) => StoreFault | undefined;
  /** Awaited before an operation reaches the table and before its answer leaves, so that a scheduler can order both. */
  readonly schedule?: (step: string) => Promise<unknown>;
  readonly onCommit?: (writes: readonly Write[]) => void;
  readonly onReceived?: (item: InboxItem) => void;
}

const FAULTY = {
  readCounters: 'readCounters',
  readPeriod: 'readCounters',
  readRecords: 'readRecords',
  readEntries: 'readEntries',
  due: 'due',
  dueClosings: 'due',
  announce: 'announce',
  receive: 'receive',
} as const;

export type StoreOperation = 'transact' | (typeof FAULTY)[keyof typeof FAULTY];

export interface StoreFault {
  /** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. Both look the same to the caller. */
  readonly kind: 'conflict' | 'throttle' | 'lost-before' | 'lost-after' | 'slow';
  readonly latencyMs?: number;
}

type StoreMethod = (...asked: unknown[]) => Promise<unknown>;

export class MemoryStore extends DynamoStore {
  readonly keys: LedgerKeys;
  readonly #options: MemoryStoreOptions;
  readonly #table: MemoryTable;
  readonly #applied: { writes?: readonly Write[] | undefined };

  constructor(options: MemoryStoreOptions) {
    const { instance, clock = systemClock, schedule, onCommit } = options;
    const applied: { writes?: readonly Write[] } = {};
    const table = new MemoryTable({
      nowMs: () => options.clock?.nowMs() ?? 0,
      onWritten: () => applied.writes && onCommit?.(applied.writes),
      scanPageItems: 1,
    });
    super({
      table: schedule === undefined ? table : scheduledScans(table, schedule),
      instance,
      clock,
      random: () => 0,
    });
    this.keys = ledgerKeys(instance);
    this.#options = options;
    this.#table = table;
    this.#applied = applied;
    const methods = this as unknown as Record<string, StoreMethod>;
    for (const [name, operation] of Object.entries(FAULTY)) {
      const call = methods[name]?.bind(this) as StoreMethod;
      methods[name] = async (...asked) => {
        const fault = await this.#faultAt(operation, asked.at(-1) as ReadOptions);
        if (fault === 'conflict' || fault === 'throttle') throw lost(operation);
        const answer = await call(...asked);
        if (fault === 'lost-after') throw lost(operation);
        return answer;
      };
    }
  }

  override async transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome> {
    const fault = await this.#faultAt('transact', options);
    const contended = [...writes.keys()];
    if (fault === 'conflict') return { outcome: 'conflict', contended };
    if (fault === 'throttle') return { outcome: 'throttled', contended };
    this.#applied.writes = writes;
    const answer = super.transact(writes, options);
    this.#applied.writes = undefined;
    const outcome = await answer;
    await this.#options.schedule?.('transacted');
    if (fault === 'lost-after') throw lost('transact');
    return outcome;
  }

  override async receive(item: InboxItem, options: ReadOptions): Promise<boolean> {
    const first = await super.receive(item, options);
    if (first) this.#options.onReceived?.(item);
    return first;
  }

  /** Deletes what has expired by now; DynamoDB does the same within some days. */
  collectGarbage(): void {
    this.#table.collectGarbage(this.#options.clock?.nowMs() ?? 0);
  }

  *dump(): Generator<StoredItem> {
    for (const item of this.#table.items()) {
      const isOther = item[SK]?.S === ANNOUNCED_SK || item[SK]?.S === INBOX_SK;
      if (!isOther && !this.keys.isInboxPk(item[PK]?.S ?? '')) yield decodeItem(item, this.keys);
    }
  }

  async #faultAt(operation: string, { timeoutMs }: ReadOptions): Promise<StoreFault['kind'] | undefined> {
    const { clock, schedule } = this.#options;
    const { kind, latencyMs = 0 } = this.#options.fault?.(operation as StoreOperation) ?? {};
    await schedule?.(operation);
    if (latencyMs > 0) {
      if (clock === undefined)
        throw new LedgerError('ledger_misuse', 'a slow fault needs a clock to wait on');
      await clock.sleep(Math.min(latencyMs, timeoutMs));
      if (latencyMs > timeoutMs && kind !== 'lost-after') throw lost('slow operation');
    }
    if (kind === 'lost-before') throw lost('operation');
    return kind;
  }
}

const scheduledScans = (table: ItemTable, schedule: (step: string) => Promise<unknown>): ItemTable => ({
  tableName: table.tableName,
  send: async (name, operation, limit) => {
    if (name === 'Scan') await schedule('scan');
    return table.send(name, operation, limit);
  },
});

const lost = (operation: string): LedgerError =>
  new LedgerError('ledger_unavailable', `${operation}: no answer from the in-memory table (injected fault)`);
