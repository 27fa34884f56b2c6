import type { InboxStore, LedgerStore } from '../../functions/ledger/store.ts';

export type OnWritten = (jobIds: readonly number[]) => void;

export interface TellingStore {
  readonly store: LedgerStore & InboxStore;
  onWritten(listener: OnWritten): void;
}

/**
 * The same store, which tells whose records a transaction wrote, after it. One without an answer may have written: it is
 * told as well, so whoever is told reads what is there.
 */
export function tellingStore(inner: LedgerStore & InboxStore): TellingStore {
  const listeners: OnWritten[] = [];
  return {
    onWritten: (listener) => void listeners.push(listener),
    store: {
      async transact(writes, options) {
        try {
          return await inner.transact(writes, options);
        } finally {
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
