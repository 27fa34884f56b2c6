import { type InboxItem, inboxItem } from '../../functions/core/ledger/index.ts';
import type { LedgerKeys } from '../../functions/core/store/index.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';

/** What stands in for the table's stream where there is no table: the inbox items, as Lambda would be told of them. */
interface MemoryStream {
  push(item: InboxItem): void;
  /** Batches, never empty; ends when the signal says so. */
  read(signal: AbortSignal): AsyncGenerator<readonly TableStreamRecord[]>;
}

/** As many as Lambda hands over at once by default. */
const BATCH_MAX = 100;

export function memoryStream(keys: LedgerKeys): MemoryStream {
  const waiting: TableStreamRecord[] = [];
  let sequence = 0;
  let wake = (): void => {};
  return {
    push(item) {
      sequence += 1;
      waiting.push({
        eventName: 'INSERT',
        dynamodb: { SequenceNumber: String(sequence), NewImage: inboxItem(item, keys) },
      });
      wake();
    },
    async *read(signal) {
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted) {
        if (waiting.length > 0) yield waiting.splice(0, BATCH_MAX);
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
