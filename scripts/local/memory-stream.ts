import type { ItemChange } from '../../functions/core/store/index.ts';
import { BATCH_RECORDS_MAX, type ItemChangeRecord, StreamReader, streamRecord } from './stream-reader.ts';

/** The stream of a table in memory. What nobody reads is not kept. */
interface MemoryStream {
  push(changes: readonly ItemChange[]): void;
  /** Everything that is written from now on. */
  read(signal: AbortSignal): AsyncIterable<readonly ItemChangeRecord[]>;
}

export function memoryStream(): MemoryStream {
  const readers = new Map<StreamReader, ItemChangeRecord[]>();
  let sequence = 0;
  return {
    push(changes) {
      const records = changes.map((change) => streamRecord(change, ++sequence));
      for (const [reader, waiting] of readers) {
        waiting.push(...records);
        reader.wake();
      }
    },
    read(signal) {
      const waiting: ItemChangeRecord[] = [];
      const reader = new StreamReader(() => waiting.splice(0, BATCH_RECORDS_MAX), signal);
      readers.set(reader, waiting);
      signal.addEventListener('abort', () => readers.delete(reader), { once: true });
      return reader.batches();
    },
  };
}
