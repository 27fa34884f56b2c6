/**
 * Writes fallback decisions into the table while the function cannot be reached. The stream that settles jobs books them.
 * One item holds a whole batch. A decision that arrives twice is booked once.
 */
import { randomUUID } from 'node:crypto';
import { INBOX_SK, JOURNAL_PK_PREFIX, PK, SK, TTL_ATTRIBUTE } from '../functions/names.ts';
import { putByHand, type RelayTable } from './aws/put-by-hand.ts';

/** A write takes a few milliseconds. While the relay stops, the function has to be asked within the same two seconds. */
const TIMEOUT_MS = 1_000;
/** As long as letters of the stream that books it lie with the dead. */
const KEPT_SECONDS = 14 * 24 * 3_600;

interface JournalTable extends RelayTable {
  readonly nowMs: () => number;
}

/** Writes one batch down: `{"answers": […]}`. Rejects when the table did not take it. */
export type WriteJournal = (body: string) => Promise<void>;

export function journalWriter(journal: JournalTable): WriteJournal {
  const { instance, nowMs } = journal;
  return async (body) => {
    const atMs = nowMs();
    const item = {
      [PK]: { S: `${instance}${JOURNAL_PK_PREFIX}${randomUUID()}` },
      [SK]: { S: INBOX_SK },
      b: { S: body },
      at: { N: String(atMs) },
      [TTL_ATTRIBUTE]: { N: String(Math.ceil(atMs / 1_000) + KEPT_SECONDS) },
    };
    await putByHand(journal, item, TIMEOUT_MS);
  };
}
