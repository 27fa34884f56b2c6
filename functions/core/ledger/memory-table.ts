/** Items in memory with DynamoDB's transactions: all or nothing, conditions first, a repeated token applied once. */

import type { Item } from '../store/item-bytes.ts';
import type { Key, LedgerKeys } from '../store/keys.ts';
import { TTL_ATTRIBUTE } from '../store/table.ts';
import { NO_AMOUNTS, plus } from './amounts.ts';
import { announcementItem, standsAt } from './announcement-item.ts';
import type { CorrectionEntry } from './entry.ts';
import { inboxItem } from './inbox-item.ts';
import {
  CLOSED_AT,
  decodeAdjustment,
  decodeCounter,
  decodeRecord,
  encodeAdjustment,
  encodeClosing,
  encodeCounter,
  encodeEntry,
  encodeReset,
} from './item.ts';
import type { Counter, JobRecord } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import { recordItem } from './record-size.ts';
import type { Announcement, CounterWrite, InboxItem, Refusal, TransactOutcome, Write } from './store.ts';
import { TRANSACTION_ITEMS_MAX } from './store.ts';

/** As long as DynamoDB remembers a client request token. */
const TOKEN_MEMORY_MS = 10 * 60_000;
/** Only answers younger than ten minutes matter; at this many the oldest go, so that long benchmarks stay small. */
const TOKENS_MAX = 1000;

export class MemoryTable {
  readonly keys: LedgerKeys;
  /** Transactions applied so far; a repeated token is not one. */
  commits = 0;
  readonly #items = new Map<string, Item>();
  readonly #tokens = new Map<string, number>();

  constructor(keys: LedgerKeys) {
    this.keys = keys;
  }

  get(key: Key): Item | undefined {
    return this.#items.get(nameOf(key));
  }

  items(): Iterable<Item> {
    return this.#items.values();
  }

  /** For walks during which items change. */
  names(): readonly string[] {
    return [...this.#items.keys()];
  }

  named(name: string): Item | undefined {
    return this.#items.get(name);
  }

  /** Deletes what DynamoDB's TTL would have deleted by then. */
  collectGarbage(nowMs: number): void {
    for (const [name, item] of this.#items) {
      const expiresAtSeconds = item[TTL_ATTRIBUTE]?.N;
      if (expiresAtSeconds !== undefined && Number(expiresAtSeconds) * 1000 <= nowMs)
        this.#items.delete(name);
    }
  }

  announce(announcement: Announcement): boolean {
    const name = nameOf(this.keys.announcement(announcement.key));
    const item = this.#items.get(name);
    if (item !== undefined && standsAt(item, announcement.atMs)) return false;
    this.#items.set(name, announcementItem(announcement, this.keys));
    return true;
  }

  receive(item: InboxItem): boolean {
    const name = nameOf(this.keys.inbox(item.id));
    if (this.#items.has(name)) return false;
    this.#items.set(name, inboxItem(item, this.keys));
    return true;
  }

  rewrite(record: JobRecord, entries: readonly CorrectionEntry[]): boolean {
    const name = nameOf(this.keys.record(record.jobId));
    const others = entries.map(
      (entry) => [nameOf(this.keys.entry(entry.jobId, entry.number)), encodeEntry(entry, this.keys)] as const,
    );
    const there = others.every(([each]) => this.#items.has(each));
    if (!there || Number(this.#items.get(name)?.r?.N) !== record.rev) return false;
    this.#items.set(name, recordItem(record, this.keys));
    for (const [each, item] of others) this.#items.set(each, item);
    return true;
  }

  transact(writes: readonly Write[], token: string, nowMs: number): TransactOutcome {
    const keys = writes.map((write) => nameOf(this.#keyOf(write)));
    refuseUnlawful(keys);
    if (this.#replayed(token, nowMs)) return { outcome: 'committed' };
    const refusals = writes.map((write, index) => this.#refusal(write, this.#items.get(keys[index] ?? '')));
    if (refusals.some((refusal) => refusal !== undefined)) return { outcome: 'refused', refusals };
    writes.forEach((write, index) => {
      const name = keys[index] ?? '';
      this.#items.set(name, this.#after(write, this.#items.get(name)));
    });
    this.#remember(token, nowMs);
    this.commits += 1;
    return { outcome: 'committed' };
  }

  #keyOf(write: Write): Key {
    switch (write.kind) {
      case 'record':
        return this.keys.record(write.record.jobId);
      case 'entry':
        return this.keys.entry(write.entry.jobId, write.entry.number);
      case 'closing':
        return this.keys.closing(write.closing.key);
      case 'adjustment':
        return this.keys.adjustment(write.adjustment.key, write.adjustment.id);
      case 'counter':
      case 'reset':
        return this.keys.counter(write.key);
    }
  }

  #refusal(write: Write, item: Item | undefined): Refusal | undefined {
    switch (write.kind) {
      case 'record': {
        const rev = item === undefined ? undefined : Number(item.r?.N);
        if (rev === write.replaces?.rev) return undefined;
        return { kind: 'record', ...(item && { record: decodeRecord(item, this.keys) }) };
      }
      case 'counter': {
        const counter = item && decodeCounter(item, this.keys);
        return fits(write, counter) ? undefined : { kind: 'counter', ...(counter && { counter }) };
      }
      case 'reset': {
        const counter = item && decodeCounter(item, this.keys);
        return (counter?.rev ?? 0) === write.rev
          ? undefined
          : { kind: 'counter', ...(counter && { counter }) };
      }
      case 'closing': {
        const closedAtMs = item === undefined ? undefined : Number(item[CLOSED_AT]?.N);
        return closedAtMs === write.replaces?.closedAtMs ? undefined : { kind: 'closing' };
      }
      case 'entry':
        return item === undefined ? undefined : { kind: 'entry' };
      case 'adjustment':
        return item && { kind: 'adjustment', adjustment: decodeAdjustment(item, this.keys) };
    }
  }

  #after(write: Write, item: Item | undefined): Item {
    switch (write.kind) {
      case 'record':
        return recordItem(write.record, this.keys);
      case 'entry':
        return encodeEntry(write.entry, this.keys);
      case 'closing':
        return encodeClosing(write.closing, this.keys);
      case 'adjustment':
        return encodeAdjustment(write.adjustment, this.keys);
      case 'reset':
        return encodeReset(write, this.keys);
      case 'counter': {
        const before = item && decodeCounter(item, this.keys);
        const rev = (before?.rev ?? 0) + 1;
        const amounts = plus(before ?? NO_AMOUNTS, write);
        const counter = { key: write.key, ...amounts, rev, ...(before?.drifts && { drifts: before.drifts }) };
        return encodeCounter(counter, this.keys, write.expiresAtSeconds, write.closeAtMs);
      }
    }
  }

  #replayed(token: string, nowMs: number): boolean {
    const atMs = this.#tokens.get(token);
    return atMs !== undefined && nowMs - atMs < TOKEN_MEMORY_MS;
  }

  #remember(token: string, nowMs: number): void {
    this.#tokens.set(token, nowMs);
    if (this.#tokens.size <= TOKENS_MAX) return;
    const [oldest] = this.#tokens.keys();
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }
}

const nameOf = (key: Key): string => `${key.pk}\n${key.sk}`;

/** The condition of {@link CounterWrite}, on a counter that may be absent. */
const fits = (write: CounterWrite, counter: Counter | undefined): boolean =>
  (counter?.committed ?? 0) <= (write.maxCommitted ?? Number.POSITIVE_INFINITY) &&
  (counter?.fitted ?? 0) <= (write.maxFitted ?? Number.POSITIVE_INFINITY);

/** DynamoDB refuses both outright, whatever the conditions. */
function refuseUnlawful(names: readonly string[]): void {
  if (names.length === 0 || names.length > TRANSACTION_ITEMS_MAX) {
    throw new LedgerError(
      'ledger_misuse',
      `transaction of ${names.length} items: expected 1 to ${TRANSACTION_ITEMS_MAX}`,
    );
  }
  if (new Set(names).size !== names.length) {
    throw new LedgerError(
      'ledger_misuse',
      'one transaction writes the same item twice: merge the writes first',
    );
  }
}
