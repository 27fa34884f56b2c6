/** Converts received webhooks to inbox items. The table's stream hands them to their reader. */
import { INBOX_SK, type Item, type LedgerKeys, PK, SK, TTL_ATTRIBUTE, versioned } from '../store/index.ts';
import type { InboxItem } from './store.ts';

export function inboxItem({ id, body, receivedAtMs, untilMs }: InboxItem, keys: LedgerKeys): Item {
  const { pk, sk } = keys.inbox(id, receivedAtMs);
  return {
    [PK]: { S: pk },
    [SK]: { S: sk },
    ...versioned,
    b: { S: body },
    at: { N: String(receivedAtMs) },
    [TTL_ATTRIBUTE]: { N: String(Math.ceil(untilMs / 1000)) },
  };
}

/** The body of an inbox item of this instance; undefined for every other item of the table. */
export function inboxBody(item: Item, keys: LedgerKeys): string | undefined {
  return keys.isInboxPk(item[PK]?.S ?? '') ? item.b?.S : undefined;
}

/** The body of an item that a relay wrote: answers given without the ledger. */
export function journalBody(item: Item, keys: LedgerKeys): string | undefined {
  return item[SK]?.S === INBOX_SK && keys.isJournalPk(item[PK]?.S ?? '') ? item.b?.S : undefined;
}
