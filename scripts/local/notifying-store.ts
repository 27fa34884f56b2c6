import type { InboxStore, LedgerStore } from '../../functions/core/ledger/index.ts';

export type WriteListener = (jobIds: readonly number[]) => void;

export interface NotifyingStore {
  readonly store: LedgerStore & InboxStore;
  onWritten(listener: WriteListener): void;
  /** Resolves when no transaction is under way, at the latest after so long: for work that is in no hurry. */
  quiet(withinMs: number): Promise<void>;
}

/**
 * The same store, which tells whose records a transaction wrote, after it. One without an answer may have written: it is
 * told as well, so whoever is told reads what is there.
 */
export function notifyingStore(inner: LedgerStore & InboxStore): NotifyingStore {
  const listeners: WriteListener[] = [];
  const turns = new Set<() => void>();
  let underWay = 0;
  return {
    onWritten: (listener) => void listeners.push(listener),
    quiet: (withinMs) =>
      new Promise((resolve) => {
        if (underWay === 0) return resolve();
        const turn = (): void => {
          turns.delete(turn);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(turn, withinMs);
        turns.add(turn);
      }),
    store: {
      async transact(writes, options) {
        underWay += 1;
        try {
          return await inner.transact(writes, options);
        } finally {
          underWay -= 1;
          if (underWay === 0) for (const turn of [...turns]) turn();
          const jobIds = writes.flatMap((write) => (write.kind === 'record' ? [write.record.jobId] : []));
          if (jobIds.length > 0) for (const tell of listeners) tell(jobIds);
        }
      },
      readCounters: (keys, options) => inner.readCounters(keys, options),
      readRecords: (jobIds, options) => inner.readRecords(jobIds, options),
      readEntries: (jobId, options) => inner.readEntries(jobId, options),
      scan: (consistency) => inner.scan(consistency),
      due: (shard, beforeMs, limit, options) => inner.due(shard, beforeMs, limit, options),
      announce: (announcement, options) => inner.announce(announcement, options),
      receive: (item, options) => inner.receive(item, options),
    },
  };
}
