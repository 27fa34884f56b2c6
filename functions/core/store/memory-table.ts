/**
 * The table in memory, for tests, simulations and local runs: the same operations, conditions and answers as DynamoDB's. It
 * answers at once, so nothing conflicts and nothing is throttled. What is stored is never shared with a caller's bytes.
 */

import { keepLatest } from '../../../policies/keep-latest.ts';
import type { AttributeValue, Item } from './item-bytes.ts';
import type { Key } from './keys.ts';
import { inOrder, invalid, meets, updated } from './meets.ts';
import { MemoryItems } from './memory-items.ts';
import {
  type Answers,
  type ItemPage,
  type ItemsOutcome,
  type ItemTable,
  type ItemWrite,
  keyOf,
  type Operations,
  type PutOutcome,
  type QueryAsk,
  type RefusedItem,
  type ScanAsk,
  TRANSACTION_ITEMS_MAX,
} from './operation.ts';
import { DUE_AT, DUE_PK, PK, SK, TTL_ATTRIBUTE } from './table.ts';

/** As long as DynamoDB remembers the token of a transaction. */
const TOKEN_MEMORY_MS = 10 * 60_000;
/** Only the newest matter; at this many the oldest go, so that long runs stay small. */
const TOKENS_MAX = 1000;
const PAGE_ITEMS = 1000;

/** What became of one item; an absent image: there was none, or there is none any more. */
export interface ItemChange {
  readonly before?: Item;
  readonly after?: Item;
}

interface MemoryTableOptions {
  /** Ages the tokens of transactions. @default they are never too old */
  readonly nowMs?: () => number;
  /** Told of each write that is applied, in their order and in the same instant: the table's stream, or its journal. */
  readonly onWritten?: (changes: readonly ItemChange[]) => void;
  /** What a page of a scan looks at at most. @default 1000 */
  readonly scanPageItems?: number;
}

export class MemoryTable implements ItemTable {
  readonly tableName = 'memory';
  readonly #items = new MemoryItems();
  readonly #tokens = new Map<string, number>();
  readonly #options: MemoryTableOptions;
  readonly #answers: { readonly [Name in keyof Operations]: (asked: Operations[Name]) => Answers[Name] } = {
    GetItem: ({ key }) => this.#items.get(key),
    BatchGetItem: ({ keys }) => ({
      items: keys.map((key) => this.#items.get(key)).filter((item) => item !== undefined),
      left: [],
    }),
    Query: (ask) => this.#query(ask),
    Scan: (ask) => this.#scan(ask),
    PutItem: (write) => this.#writeOne(write),
    UpdateItem: (write) => this.#writeOne(write),
    DeleteItem: ({ key }) => this.#delete(key),
    TransactWriteItems: ({ writes, token }) => this.#transact(writes, token),
  };

  constructor(options: MemoryTableOptions = {}) {
    this.#options = options;
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    return this.#answers[name](operation);
  }

  /** Everything that is stored, without waiting. */
  items(): readonly Item[] {
    return this.#items.page(0, Number.POSITIVE_INFINITY).items;
  }

  /** Deletes what DynamoDB's TTL would have deleted by then. */
  collectGarbage(nowMs: number): void {
    for (const item of this.items()) {
      const expiresAtSeconds = item[TTL_ATTRIBUTE]?.N;
      if (expiresAtSeconds !== undefined && Number(expiresAtSeconds) * 1000 <= nowMs)
        this.#delete(keyOf(item));
    }
  }

  #query(ask: QueryAsk): ItemPage {
    const { pk, sk, dueBeforeMs, backwards, from } = ask;
    let items =
      dueBeforeMs === undefined
        ? this.#items.partition(pk).filter((item) => isAsked(item[SK]?.S ?? '', sk))
        : this.#items
            .duePartition(pk)
            .filter((item) => dueAt(item) < dueBeforeMs)
            .map(inDueIndex);
    const order = dueBeforeMs === undefined ? bySortKey : byDue;
    items = items.toSorted(backwards ? (one, other) => order(other, one) : order);
    // A page ends at an item that may be gone by the next one.
    if (from !== undefined)
      items = items.filter((item) => (backwards ? order(item, from) < 0 : order(item, from) > 0));
    const max = ask.pageItems ?? PAGE_ITEMS;
    const last = items.length > max ? items[max - 1] : undefined;
    return { items: shown(items.slice(0, max), ask), ...(last && { next: inDueIndex(last) }) };
  }

  #scan(ask: ScanAsk): ItemPage {
    const max = Math.min(ask.pageItems ?? PAGE_ITEMS, this.#options.scanPageItems ?? PAGE_ITEMS);
    const { items, next } = this.#items.page(Number(ask.from?.at?.N ?? 0), max);
    return { items: shown(items, ask), ...(next !== undefined && { next: { at: { N: String(next) } } }) };
  }

  #writeOne(write: ItemWrite): PutOutcome {
    const refused = this.#refused(write);
    if (refused !== undefined) return { outcome: 'refused', ...refused };
    this.#told([this.#apply(write)]);
    return { outcome: 'written' };
  }

  #delete(key: Key): undefined {
    const before = this.#items.get(key);
    if (before === undefined) return;
    this.#items.delete(key);
    this.#told([{ before }]);
  }

  #transact(writes: readonly ItemWrite[], token: string | undefined): ItemsOutcome {
    refuseUnlawful(writes);
    if (token !== undefined && this.#isRepeated(token)) return { outcome: 'written' };
    const refused = writes.map((write) => this.#refused(write));
    if (refused.some((each) => each !== undefined)) return { outcome: 'refused', refused };
    this.#told(writes.map((write) => this.#apply(write)));
    if (token !== undefined) this.#remember(token);
    return { outcome: 'written' };
  }

  #refused(write: ItemWrite): RefusedItem | undefined {
    if (write.condition === undefined) return undefined;
    const item = this.#items.get(keyOfWrite(write));
    if (meets(write.condition, item)) return undefined;
    return write.showsOld && item ? { item } : {};
  }

  #apply(write: ItemWrite): ItemChange {
    const before = this.#items.get(keyOfWrite(write));
    const after = write.kind === 'put' ? withOwnBytes(write.item) : updated(before, write);
    this.#items.put(after);
    return { ...(before && { before }), after };
  }

  #told(changes: readonly ItemChange[]): void {
    this.#options.onWritten?.(changes);
  }

  #isRepeated(token: string): boolean {
    const atMs = this.#tokens.get(token);
    return atMs !== undefined && this.#nowMs() - atMs < TOKEN_MEMORY_MS;
  }

  #remember(token: string): void {
    keepLatest(this.#tokens, token, this.#nowMs(), TOKENS_MAX);
  }

  #nowMs(): number {
    return this.#options.nowMs?.() ?? 0;
  }
}

const dueAt = (item: Item): number => Number(item[DUE_AT]?.N);
const bySortKey = (one: Item, other: Item): number => inOrder(one[SK]?.S ?? '', other[SK]?.S ?? '');
/** The index leaves the order of what is due in the same moment open. */
const byDue = (one: Item, other: Item): number =>
  dueAt(one) - dueAt(other) || inOrder(one[PK]?.S ?? '', other[PK]?.S ?? '') || bySortKey(one, other);

function isAsked(sortKey: string, sk: QueryAsk['sk']): boolean {
  if (sk === undefined) return true;
  return 'begins' in sk ? sortKey.startsWith(sk.begins) : inOrder(sortKey, sk.before) < 0;
}

const inDueIndex = (item: Item): Item => picked(item, [PK, SK, DUE_PK, DUE_AT]);

const shown = (
  items: readonly Item[],
  { filter, attributes }: Pick<QueryAsk, 'filter' | 'attributes'>,
): readonly Item[] => {
  const found = filter === undefined ? items : items.filter((item) => meets(filter, item));
  return attributes === undefined ? found : found.map((item) => picked(item, attributes));
};

function picked(item: Item, attributes: readonly string[]): Item {
  const some: Record<string, AttributeValue> = {};
  for (const name of attributes) {
    const value = item[name];
    if (value !== undefined) some[name] = value;
  }
  return some;
}

/** Bytes are the one kind of value that a caller could change afterwards. */
function withOwnBytes(item: Item): Item {
  const own: Record<string, AttributeValue> = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) own[name] = value.B === undefined ? value : { B: Uint8Array.from(value.B) };
  }
  return own;
}

const keyOfWrite = (write: ItemWrite): Key => (write.kind === 'put' ? keyOf(write.item) : write.key);

/** DynamoDB refuses both outright, whatever the conditions. */
function refuseUnlawful(writes: readonly ItemWrite[]): void {
  if (writes.length === 0 || writes.length > TRANSACTION_ITEMS_MAX)
    throw invalid(`transaction of ${writes.length} items: expected 1 to ${TRANSACTION_ITEMS_MAX}`);
  const names = new Set(writes.map(keyOfWrite).map(({ pk, sk }) => `${pk}\n${sk}`));
  if (names.size !== writes.length)
    throw invalid('one transaction writes the same item twice: merge the writes first');
}
