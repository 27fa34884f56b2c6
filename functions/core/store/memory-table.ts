/** DynamoDB's operations in memory. Nothing conflicts or is throttled; stored bytes are never shared with callers. */

import { keepLatest } from '../../../policies/keep-latest.ts';
import { nameOf } from './calls.ts';
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

interface Entry {
  readonly at: number;
  item: Item;
}

const TOKENS_MAX = 1000;

class MemoryItems implements KeptItems {
  /** By both keys, in the order of `at`, so that a scan continues after deletions. */
  readonly #entries = new Map<string, Entry>();
  /** The table's partitions and, under names of their own, those of the due index. */
  readonly #partitions = new Map<string, Map<string, Entry>>();
  #next = 0;
  readonly #tokens = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get(key: Key): Item | undefined {
    return this.#entries.get(nameOf(key))?.item;
  }

  put(item: Item): void {
    const name = nameOf(keyOf(item));
    const known = this.#entries.get(name);
    if (known !== undefined && known.item[DUE_PK]?.S === item[DUE_PK]?.S) {
      known.item = item;
      return;
    }
    const entry = { at: known?.at ?? this.#next++, item };
    if (known !== undefined) this.#unlink(name, known.item);
    this.#entries.set(name, entry);
    for (const partition of partitionsOf(item)) {
      const entries = this.#partitions.get(partition) ?? new Map<string, Entry>();
      this.#partitions.set(partition, entries.set(name, entry));
    }
  }

  delete(key: Key): void {
    const name = nameOf(key);
    const entry = this.#entries.get(name);
    if (entry !== undefined) this.#unlink(name, entry.item);
    this.#entries.delete(name);
  }

  #unlink(name: string, item: Item): void {
    for (const partition of partitionsOf(item)) this.#partitions.get(partition)?.delete(name);
  }

  span(span: ItemSpan): readonly Item[] {
    const name = span.dueBeforeMs === undefined ? span.pk : dueName(span.pk);
    const items = [...(this.#partitions.get(name)?.values() ?? [])].map(({ item }) => item);
    return spanOf(items, span);
  }

  page(from: number, max: number): { readonly items: readonly Item[]; readonly next: number | undefined } {
    const items: Item[] = [];
    for (const { at, item } of this.#entries.values()) {
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

const dueName = (pk: string): string => `due\n${pk}`;

function partitionsOf(item: Item): readonly string[] {
  const due = item[DUE_PK]?.S;
  return due === undefined ? [keyOf(item).pk] : [keyOf(item).pk, dueName(due)];
}
