/** What a period's partition has, as {@link ClosingStore.readPeriod} returns it. */
import type { ClosingEntry } from './entry.ts';
import type { Counter } from './ledger.ts';
import type { StoredItem } from './store.ts';

export const counterIn = (items: readonly StoredItem[]): Counter | undefined =>
  items.flatMap((item) => (item.kind === 'counter' ? item.counter : []))[0];

export const closingIn = (items: readonly StoredItem[]): ClosingEntry | undefined =>
  items.flatMap((item) => (item.kind === 'closing' ? item.closing : []))[0];

/** Sum of the credits and debits by hand, in the counter's unit. */
export const adjustedIn = (items: readonly StoredItem[]): number =>
  items.reduce((sum, item) => sum + (item.kind === 'adjustment' ? item.adjustment.amount : 0), 0);
