import type { InboxStore, LedgerStore } from '../../functions/ledger/store.ts';

/** Runs a call when it is its turn. */
export type InTurn = <T>(call: () => Promise<T>) => Promise<T>;

/** One call at a time, each after `turn`: a decision waits for one of them at most. */
export function inTurn(turn: () => Promise<void>): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (call) => {
    const mine = last.then(turn).then(call);
    last = mine.catch(() => {});
    return mine;
  };
}

/** The same store for work that is in no hurry. A scan is not held up: nobody asks for one while jobs run. */
export const patientStore = (inner: LedgerStore & InboxStore, after: InTurn): LedgerStore & InboxStore => ({
  transact: (writes, options) => after(() => inner.transact(writes, options)),
  readCounters: (keys, options) => after(() => inner.readCounters(keys, options)),
  readRecords: (jobIds, options) => after(() => inner.readRecords(jobIds, options)),
  readEntries: (jobId, options) => after(() => inner.readEntries(jobId, options)),
  scan: (consistency) => inner.scan(consistency),
  due: (shard, beforeMs, limit, options) => after(() => inner.due(shard, beforeMs, limit, options)),
  announce: (announcement, options) => after(() => inner.announce(announcement, options)),
  receive: (item, options) => after(() => inner.receive(item, options)),
});
