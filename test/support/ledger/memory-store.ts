/** The product's store over a table in memory, with every fault DynamoDB can have. */
import { type LedgerClock, systemClock } from '../../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { decodeItem } from '../../../functions/core/ledger/items.ts';
import type { InboxItem, ReadOptions, StoredItem, Write } from '../../../functions/core/ledger/store.ts';
import { ANNOUNCED_SK, INBOX_SK, ledgerKeys } from '../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { PK, SK } from '../../../functions/core/store/operation.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';

export interface MemoryStoreOptions {
  readonly instance: string;
  /** Waits out latencies and ages tokens. */
  readonly clock?: LedgerClock;
  readonly fault?: (operation: StoreOperation) => StoreFault | undefined;
  /** Awaited before an operation reaches the table and before its answer leaves, so that a scheduler can order both. */
  readonly schedule?: (step: string) => Promise<unknown>;
  readonly onCommit?: (writes: readonly Write[]) => void;
  readonly onReceived?: (item: InboxItem) => void;
}

const FAULTY = {
  transact: 'transact',
  readCounters: 'readCounters',
  readPeriod: 'readCounters',
  readRecords: 'readRecords',
  readEntries: 'readEntries',
  due: 'due',
  dueClosings: 'due',
  announce: 'announce',
  receive: 'receive',
} as const;

export type StoreOperation = (typeof FAULTY)[keyof typeof FAULTY];

export interface StoreFault {
  /** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. Both look the same to the caller. */
  readonly kind: 'conflict' | 'throttle' | 'lost-before' | 'lost-after' | 'slow';
  readonly latencyMs?: number;
}

type StoreMethod = (...args: readonly unknown[]) => Promise<unknown>;

export class MemoryStore extends DynamoStore {
  readonly keys: ReturnType<typeof ledgerKeys>;
  readonly #table: MemoryTable;
  readonly #nowMs: () => number;

  constructor({ instance, clock, fault, schedule, onCommit, onReceived }: MemoryStoreOptions) {
    const nowMs = () => clock?.nowMs() ?? 0;
    let writes: readonly Write[] | undefined;
    const table = new MemoryTable({ nowMs, onWritten: () => writes && onCommit?.(writes), scanPageItems: 1 });
    const send: MemoryTable['send'] = async (name, operation) => {
      if (name === 'Scan') await schedule?.('scan');
      return table.send(name, operation);
    };
    super({
      table: schedule === undefined ? table : { tableName: table.tableName, send },
      ...{ instance, clock: clock ?? systemClock, random: () => 0 },
    });
    this.keys = ledgerKeys(instance);
    this.#table = table;
    this.#nowMs = nowMs;
    const methods = this as unknown as Record<string, StoreMethod>;
    for (const [name, operation] of Object.entries(FAULTY)) {
      const call = methods[name]?.bind(this) as StoreMethod;
      methods[name] = async (...args) => {
        const { timeoutMs } = args.at(-1) as ReadOptions;
        const { kind, latencyMs = 0 } = fault?.(operation) ?? {};
        await schedule?.(operation);
        if (latencyMs > 0) await (clock ?? systemClock).sleep(Math.min(latencyMs, timeoutMs));
        const isLate = latencyMs > timeoutMs && kind !== 'lost-after';
        if (isLate || kind === 'lost-before') throw lost(operation);
        const isTransaction = operation === 'transact';
        if (kind === 'conflict' || kind === 'throttle') {
          if (!isTransaction) throw lost(operation);
          const contended = [...(args[0] as readonly Write[]).keys()];
          return { outcome: kind === 'conflict' ? 'conflict' : 'throttled', contended };
        }
        // The table writes before the call returns its promise.
        if (isTransaction) writes = args[0] as readonly Write[];
        const result = call(...args);
        writes = undefined;
        const answer = await result;
        if (isTransaction) await schedule?.('transacted');
        if (operation === 'receive' && answer === true) onReceived?.(args[0] as InboxItem);
        if (kind === 'lost-after') throw lost(operation);
        return answer;
      };
    }
  }

  /** Deletes what has expired by now; DynamoDB does the same within some days. */
  collectGarbage(): void {
    this.#table.collectGarbage(this.#nowMs());
  }

  *dump(): Generator<StoredItem> {
    for (const item of this.#table.items()) {
      const isOther = item[SK]?.S === ANNOUNCED_SK || item[SK]?.S === INBOX_SK;
      if (!isOther && !this.keys.isInboxPk(item[PK]?.S ?? '')) yield decodeItem(item, this.keys);
    }
  }
}

const lost = (operation: string): LedgerError =>
  new LedgerError('ledger_unavailable', `${operation}: no answer from the in-memory table (injected fault)`);
