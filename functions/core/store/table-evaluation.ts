/** Evaluates operations like DynamoDB, for the in-memory table and the ledger file of `npm start`. */

import { nameOf } from './calls.ts';
import type { Key } from './keys.ts';
import {
  type Answers,
  type AttributeValue,
  type Comparator,
  DUE_AT,
  DUE_PK,
  type Item,
  type ItemCondition,
  type ItemPage,
  type ItemsOutcome,
  type ItemWrite,
  keyOf,
  type Operations,
  type PageEnd,
  PK,
  type PutOutcome,
  type QueryAsk,
  type RefusedItem,
  type ScanAsk,
  type ScanSegment,
  SK,
  TRANSACTION_ITEMS_MAX,
  type UpdateWrite,
} from './operation.ts';

/** As long as DynamoDB remembers the token of a transaction. */
export const TOKEN_MEMORY_MS = 10 * 60_000;
const PAGE_ITEMS = 1000;

export interface ItemSpan extends Pick<QueryAsk, 'pk' | 'sk' | 'dueBeforeMs' | 'backwards'> {
  readonly from?: PageEnd | undefined;
  readonly max: number;
}

export interface KeptItems {
  get(key: Key): Item | undefined;
  put(item: Item): void;
  delete(key: Key): void;
  span(span: ItemSpan): readonly Item[];
  /** At most `max` items from the place `from` on, and the next place; undefined: there is nothing behind them. */
  page(from: number, max: number): { readonly items: readonly Item[]; readonly next: number | undefined };
  isRepeated(token: string): boolean;
  remember(token: string): void;
}

/** A change of one item. Absent image: the item did not exist before, or was deleted. */
export interface ItemChange {
  readonly before?: Item;
  readonly after?: Item;
}

interface EvaluationOptions {
  readonly onWritten?: (changes: readonly ItemChange[]) => void;
  readonly scanPageItems?: number;
}

export class TableEvaluation {
  readonly #items: KeptItems;
  readonly #options: EvaluationOptions;
  readonly #answers: { readonly [Name in keyof Operations]: (operation: Operations[Name]) => Answers[Name] } =
    {
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

  constructor(items: KeptItems, options: EvaluationOptions = {}) {
    this.#items = items;
    this.#options = options;
  }

  /** @throws {Error} with DynamoDB's name for what makes no sense; then nothing was written. */
  answer<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Answers[Name] {
    return this.#answers[name](operation);
  }

  #query(ask: QueryAsk): ItemPage {
    const max = ask.pageItems ?? PAGE_ITEMS;
    const found = this.#items.span({ ...ask, max: max + 1 });
    const items = ask.dueBeforeMs === undefined ? found : found.map(inDueIndex);
    const last = items.length > max ? items[max - 1] : undefined;
    return { items: shown(items.slice(0, max), ask), ...(last && { next: inDueIndex(last) }) };
  }

  #scan(ask: ScanAsk): ItemPage {
    const max = Math.min(ask.pageItems ?? PAGE_ITEMS, this.#options.scanPageItems ?? PAGE_ITEMS);
    const { items, next } = this.#items.page(Number(ask.from?.at?.N ?? 0), max);
    const { segment } = ask;
    const inSegment = segment === undefined ? items : items.filter((item) => isIn(segment, item));
    return { items: shown(inSegment, ask), ...(next !== undefined && { next: { at: { N: String(next) } } }) };
  }

  #writeOne(write: ItemWrite): PutOutcome {
    const before = this.#items.get(keyOfWrite(write));
    const refused = refusal(write, before);
    if (refused !== undefined) return { outcome: 'refused', ...refused };
    this.#apply([write], [before]);
    return { outcome: 'written' };
  }

  #delete(key: Key): undefined {
    const before = this.#items.get(key);
    if (before === undefined) return;
    this.#items.delete(key);
    this.#options.onWritten?.([{ before }]);
  }

  #transact(writes: readonly ItemWrite[], token: string | undefined): ItemsOutcome {
    refuseUnlawful(writes);
    if (token !== undefined && this.#items.isRepeated(token)) return { outcome: 'written' };
    const before = writes.map((write) => this.#items.get(keyOfWrite(write)));
    const refused = writes.map((write, index) => refusal(write, before[index]));
    if (refused.some((each) => each !== undefined)) return { outcome: 'refused', refused };
    this.#apply(writes, before);
    if (token !== undefined) this.#items.remember(token);
    return { outcome: 'written' };
  }

  #apply(writes: readonly ItemWrite[], items: readonly (Item | undefined)[]): void {
    const changes = writes.map((write, index): Required<Pick<ItemChange, 'after'>> & ItemChange => {
      const before = items[index];
      const after = write.kind === 'put' ? withOwnBytes(write.item) : updated(before, write);
      return { ...(before && { before }), after };
    });
    for (const { after } of changes) this.#items.put(after);
    this.#options.onWritten?.(changes);
  }
}

/** By the partition, as DynamoDB does it. */
function isIn({ index, of }: ScanSegment, item: Item): boolean {
  let hash = 0;
  for (const character of keyOf(item).pk) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return (Math.imul(hash, 0x9e37_79b1) >>> 8) % of === index;
}

function refusal(write: ItemWrite, item: Item | undefined): RefusedItem | undefined {
  if (write.condition === undefined || meets(write.condition, item)) return undefined;
  return write.showsOld && item ? { item } : {};
}

const dueAt = (item: Item): number => Number(item[DUE_AT]?.N);
const bySortKey = (one: Item, other: Item): number => inOrder(one[SK]?.S ?? '', other[SK]?.S ?? '');
const byDue = (one: Item, other: Item): number =>
  dueAt(one) - dueAt(other) || inOrder(one[PK]?.S ?? '', other[PK]?.S ?? '') || bySortKey(one, other);

export function spanOf(
  partition: readonly Item[],
  { sk, dueBeforeMs, backwards, from, max }: ItemSpan,
): readonly Item[] {
  const order = dueBeforeMs === undefined ? bySortKey : byDue;
  return partition
    .filter((item) =>
      dueBeforeMs === undefined ? isAsked(item[SK]?.S ?? '', sk) : dueAt(item) < dueBeforeMs,
    )
    .filter((item) => from === undefined || (backwards ? order(item, from) < 0 : order(item, from) > 0))
    .sort(backwards ? (one, other) => order(other, one) : order)
    .slice(0, max);
}

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

const picked = (item: Item, attributes: readonly string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => attributes.includes(name)));

/** Bytes are the one kind of value that a caller could change afterwards. */
const withOwnBytes = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, value.B ? { B: Uint8Array.from(value.B) } : value]),
  );

const keyOfWrite = (write: ItemWrite): Key => (write.kind === 'put' ? keyOf(write.item) : write.key);

/** DynamoDB refuses both under any condition. */
function refuseUnlawful(writes: readonly ItemWrite[]): void {
  if (writes.length === 0 || writes.length > TRANSACTION_ITEMS_MAX)
    throw invalid(`transaction of ${writes.length} items: expected 1 to ${TRANSACTION_ITEMS_MAX}`);
  const names = new Set(writes.map((write) => nameOf(keyOfWrite(write))));
  if (names.size !== writes.length)
    throw invalid('one transaction writes the same item twice: merge the writes first');
}

function meets(condition: ItemCondition, item: Item | undefined): boolean {
  switch (condition.kind) {
    case 'absent':
      return item?.[condition.attribute] === undefined;
    case 'present':
      return item?.[condition.attribute] !== undefined;
    case 'compare':
      return compares(item?.[condition.attribute], condition.by, condition.value);
    case 'begins':
      return item?.[condition.attribute]?.S?.startsWith(condition.text) ?? false;
    case 'all':
      return condition.of.every((each) => meets(each, item));
    case 'any':
      return condition.of.some((each) => meets(each, item));
  }
}

/** An attribute that is absent, or of another type, compares to nothing: it only differs. */
function compares(value: AttributeValue | undefined, by: Comparator, to: AttributeValue): boolean {
  const order = orderOf(value, to);
  if (order === undefined) return by === '<>';
  switch (by) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}

function orderOf(value: AttributeValue | undefined, to: AttributeValue): number | undefined {
  if (to.N !== undefined) return value?.N === undefined ? undefined : Number(value.N) - Number(to.N);
  if (to.S !== undefined) return value?.S === undefined ? undefined : inOrder(value.S, to.S);
  throw new RangeError(`no order known for ${Object.keys(to)}: the table compares S and N`);
}

const inOrder = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));

function updated(
  item: Item | undefined,
  { key, set, setIfAbsent = {}, add, remove = [] }: UpdateWrite,
): Item {
  const after: Record<string, AttributeValue> = item
    ? { ...item }
    : { [PK]: { S: key.pk }, [SK]: { S: key.sk } };
  for (const [name, value] of Object.entries(setIfAbsent)) after[name] ??= value;
  Object.assign(after, set);
  for (const name in add) {
    const before = item?.[name];
    if (before !== undefined && before.N === undefined) throw invalid(`ADD to ${name}, which is no number`);
    after[name] = { N: String(Number(before?.N ?? 0) + (add[name] ?? 0)) };
  }
  for (const name of remove) delete after[name];
  return after;
}

const invalid = (why: string): Error => Object.assign(new Error(why), { name: 'ValidationException' });
