/** DynamoDB's operations in memory. Nothing conflicts or is throttled; stored bytes are never shared with callers. */

import { keepLatest } from '../../../policies/keep-latest.ts';
import type { Key } from './keys.ts';
import {
  type Answers,
  DUE_PK,
  type Item,
  type ItemTable,
  keyOf,
  type Operations,
  TTL_ATTRIBUTE,
} from './operation.ts';
import {
  type ItemChange,
  type ItemSpan,
  type KeptItems,
  spanOf,
  TableEvaluation,
  TOKEN_MEMORY_MS,
} from './table-evaluation.ts';

export class MemoryTable implements ItemTable {
  readonly tableName = 'memory';
  readonly #items: MemoryItems;
  readonly #evaluation: TableEvaluation;

  constructor(
    options: {
      readonly nowMs?: () => number;
      readonly onWritten?: (changes: readonly ItemChange[]) => void;
      readonly scanPageItems?: number;
    } = {},
  ) {
    this.#items = new MemoryItems(options.nowMs ?? (() => 0));
    this.#evaluation = new TableEvaluation(this.#items, options);
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    return this.#evaluation.answer(name, operation);
  }

  items(): readonly Item[] {
    return this.#items.page(0, Number.POSITIVE_INFINITY).items;
  }

  collectGarbage(nowMs: number): void {
    for (const item of this.items()) {
      const expiresAtSeconds = item[TTL_ATTRIBUTE]?.N;
      if (expiresAtSeconds !== undefined && Number(expiresAtSeconds) * 1000 <= nowMs)
        this.#evaluation.answer('DeleteItem', { key: keyOf(item) });
    }
  }
}

/* Items by their keys, with what reading them takes: partitions, the sparse index of what is due, and an order for scans. */

interface Entry {
  /** Rises with every item that was not there before. */
  readonly at: number;
  item: Item;
}

type Partitions = Map<string, Map<string, Entry>>;

/** Only the newest tokens matter; at this many the oldest go, so that long runs stay small. */
const TOKENS_MAX = 1000;

class MemoryItems implements KeptItems {
  readonly #partitions: Partitions = new Map();
  readonly #due: Partitions = new Map();
  /** In the order of `at`, so that a scan continues after deletions. */
  readonly #inOrder = new Map<number, Entry>();
  #next = 0;
  readonly #tokens = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get(key: Key): Item | undefined {
    return this.#partitions.get(key.pk)?.get(key.sk)?.item;
  }

  put(item: Item): void {
    const key = keyOf(item);
    const partition = inMap(this.#partitions, key.pk);
    const before = partition.get(key.sk);
    const entry = before ?? { at: this.#next, item };
    if (before === undefined) this.#next += 1;
    this.#index(key, entry, before?.item[DUE_PK]?.S, item[DUE_PK]?.S);
    entry.item = item;
    partition.set(key.sk, entry);
    this.#inOrder.set(entry.at, entry);
  }

  delete(key: Key): void {
    const partition = this.#partitions.get(key.pk);
    const entry = partition?.get(key.sk);
    if (partition === undefined || entry === undefined) return;
    this.#index(key, entry, entry.item[DUE_PK]?.S, undefined);
    partition.delete(key.sk);
    if (partition.size === 0) this.#partitions.delete(key.pk);
    this.#inOrder.delete(entry.at);
  }

  #index(key: Key, entry: Entry, before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    const name = `${key.pk}\n${key.sk}`;
    if (before !== undefined) this.#due.get(before)?.delete(name);
    if (after !== undefined) inMap(this.#due, after).set(name, entry);
  }

  span(span: ItemSpan): readonly Item[] {
    const partitions = span.dueBeforeMs === undefined ? this.#partitions : this.#due;
    const entries = [...(partitions.get(span.pk)?.values() ?? [])];
    return spanOf(
      entries.map(({ item }) => item),
      span,
    );
  }

  page(from: number, max: number): { readonly items: readonly Item[]; readonly next: number | undefined } {
    const items: Item[] = [];
    for (const { at, item } of this.#inOrder.values()) {
      if (at < from) continue;
      if (items.length === max) return { items, next: at };
      items.push(item);
    }
    return { items, next: undefined };
  }

  isRepeated(token: string): boolean {
    const atMs = this.#tokens.get(token);
    return atMs !== undefined && this.#nowMs() - atMs < TOKEN_MEMORY_MS;
  }

  remember(token: string): void {
    keepLatest(this.#tokens, token, this.#nowMs(), TOKENS_MAX);
  }
}

function inMap(partitions: Partitions, name: string): Map<string, Entry> {
  const there = partitions.get(name) ?? new Map<string, Entry>();
  partitions.set(name, there);
  return there;
}
