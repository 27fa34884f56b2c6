/** One function per operation, so that a program's imports show its rights on the table. */

import type { LedgerClock } from '../environment/environment.ts';
import type { Key } from './keys.ts';
import {
  type Item,
  type ItemCondition,
  type ItemPage,
  type ItemsOutcome,
  type ItemTable,
  type ItemWrite,
  keyOf,
  type Operations,
  type PageEnd,
  PK,
  type PutOutcome,
  type PutWrite,
  present,
  type QueryAsk,
  type ScanAsk,
  SK,
  TimeLimit,
  versioned,
} from './operation.ts';
import { inParts } from './parts.ts';
import { answered, retried, type TableFailure, unavailable } from './table-failure.ts';

/** Consistent unless it says otherwise: a read that sees what was just written costs a whole unit instead of half a one. */
export const getItem = (
  table: ItemTable,
  key: Key,
  limit: TimeLimit,
  { consistent }: { readonly consistent: boolean } = { consistent: true },
): Promise<Item | undefined> => table.send('GetItem', { key, consistent }, limit);

export const queryPage = (table: ItemTable, ask: QueryAsk, limit: TimeLimit): Promise<ItemPage> =>
  table.send('Query', ask, limit);

export const queryPages = (table: ItemTable, ask: QueryAsk, limit: TimeLimit) =>
  pagesOf((from) => queryPage(table, { ...ask, ...(from && { from }) }, limit));

async function* pagesOf(
  read: (from: PageEnd | undefined) => Promise<ItemPage>,
): AsyncGenerator<readonly Item[]> {
  let from: PageEnd | undefined;
  do {
    const page: ItemPage = await read(from);
    yield page.items;
    from = page.next;
  } while (from !== undefined);
}

export async function queryAll(table: ItemTable, ask: QueryAsk, limit: TimeLimit): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const items of queryPages(table, ask, limit)) found.push(...items);
  return found;
}

export const scanPage = (table: ItemTable, ask: ScanAsk, limit: TimeLimit): Promise<ItemPage> =>
  table.send('Scan', ask, limit);

/** Yields the whole table in pages; not a snapshot. @param pageTimeoutMs - for each page */
export const scanPages = (table: ItemTable, ask: ScanAsk, pageTimeoutMs: number) =>
  pagesOf((from) => scanPage(table, { ...ask, ...(from && { from }) }, new TimeLimit(pageTimeoutMs)));

export interface BatchGetDeps {
  readonly table: ItemTable;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

/** DynamoDB's own bound on BatchGetItem. */
const KEYS_MAX = 100;
/** A busy table leaves keys unread; after this many rounds it is too busy. */
const ROUNDS_MAX = 5;
const PAUSE_MS = 20;

/** A hundred per call, in parallel. @throws errors of the table, and {Error} if a busy table keeps leaving keys unread */
export async function batchGet(
  wanted: readonly Key[],
  timeoutMs: number,
  deps: BatchGetDeps,
  { consistent }: { readonly consistent: boolean } = { consistent: true },
): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  const limit = new TimeLimit(timeoutMs);
  const distinct = [...new Map(wanted.map((key) => [nameOf(key), key])).values()];
  const batches = inParts(distinct, KEYS_MAX);
  await Promise.all(batches.map((keys) => readBatch({ keys, consistent }, found, limit, deps)));
  return wanted.map((key) => found.get(nameOf(key)));
}

async function readBatch(
  request: Operations['BatchGetItem'],
  found: Map<string, Item>,
  limit: TimeLimit,
  { table, clock, random }: BatchGetDeps,
): Promise<void> {
  let { keys } = request;
  const readRest = async (): Promise<void> => {
    const { items, left } = await table.send('BatchGetItem', { ...request, keys }, limit);
    for (const item of items) found.set(nameOf(keyOf(item)), item);
    keys = left;
  };
  await retried(readRest, () => keys.length > 0, {
    clock,
    random,
    triesMax: ROUNDS_MAX,
    pauseMsMax: (rounds) => PAUSE_MS * rounds,
  });
  if (keys.length > 0) throw new Error(`${keys.length} keys left unread after ${ROUNDS_MAX} rounds`);
}

export const nameOf = (key: Key): string => `${key.pk}\n${key.sk}`;

export const itemAt = ({ pk, sk }: Key, attributes: Item): Item => ({
  [PK]: { S: pk },
  [SK]: { S: sk },
  ...versioned,
  ...attributes,
});

type Shown = 'nothing' | 'old';

export const putItem = (
  table: ItemTable,
  item: Item,
  limit: TimeLimit,
  condition?: ItemCondition,
  shown: Shown = 'nothing',
): Promise<PutOutcome> => table.send('PutItem', putOf(item, condition, shown), limit);

export const putOf = (item: Item, condition?: ItemCondition, shown: Shown = 'nothing'): PutWrite => ({
  kind: 'put',
  item,
  ...(condition !== undefined && { condition, showsOld: shown === 'old' }),
});

/** Sets attributes of an item that is there: what was taken away meanwhile does not come back. False: it was. */
export async function changeItem(table: ItemTable, key: Key, set: Item, limit: TimeLimit): Promise<boolean> {
  const { outcome } = await table.send(
    'UpdateItem',
    { kind: 'update', key, set, condition: present() },
    limit,
  );
  return outcome === 'written';
}

export async function deleteItem(table: ItemTable, key: Key, limit: TimeLimit): Promise<void> {
  await table.send('DeleteItem', { key }, limit);
}

/** All or nothing. The same writes with the same token within ten minutes are written once. */
export const transactItems = (
  table: ItemTable,
  writes: readonly ItemWrite[],
  limit: TimeLimit,
  token?: string,
): Promise<ItemsOutcome> =>
  table.send('TransactWriteItems', { writes, ...(token !== undefined && { token }) }, limit);

/** A table with the time and the error of each call, for items that no admission waits for. */
export const timedTable = (
  table: ItemTable,
  timeoutMs: number,
  failure: TableFailure = unavailable(table),
) => ({
  table,
  within: <T>(doing: string, call: (limit: TimeLimit) => Promise<T>): Promise<T> =>
    answered(doing, failure, () => call(new TimeLimit(timeoutMs))),
});

export type TimedTable = ReturnType<typeof timedTable>;

export const readItem = (
  { table, within }: TimedTable,
  what: string,
  key: Key,
  read?: { readonly consistent: boolean },
) => within(`read ${what}`, (limit) => getItem(table, key, limit, read));

export const readAll = ({ table, within }: TimedTable, what: string, ask: QueryAsk) =>
  within(`read ${what}`, (limit) => queryAll(table, ask, limit));

/** The item of a partition that sorts last. */
export async function readNewest(
  { table, within }: TimedTable,
  what: string,
  pk: string,
): Promise<Item | undefined> {
  const ask = { pk, consistent: true, backwards: true, pageItems: 1 } as const;
  return (await within(`read ${what}`, (limit) => queryPage(table, ask, limit))).items[0];
}

/** False: the condition refused it. */
export async function writeItem(
  { table, within }: TimedTable,
  what: string,
  item: Item,
  condition?: ItemCondition,
): Promise<boolean> {
  const { outcome } = await within(`write ${what}`, (limit) => putItem(table, item, limit, condition));
  return outcome === 'written';
}

interface SingleItemOptions<Value> {
  readonly table: ItemTable;
  readonly key: Key;
  readonly name: string;
  readonly consistent: boolean;
  readonly encode: (value: Value) => Item;
  readonly decode: (item: Item) => Value | undefined;
}

/** Each call throws {@link LedgerError} `ledger_unavailable`. Undefined: it was never written. */
export interface SingleItem<Value> {
  read(): Promise<Value | undefined>;
  write(value: Value): Promise<void>;
}

const SINGLE_ITEM_TIMEOUT_MS = 3_000;

export function singleItem<Value>(options: SingleItemOptions<Value>): SingleItem<Value> {
  const { table, key, name, consistent, encode, decode } = options;
  const timed = timedTable(table, SINGLE_ITEM_TIMEOUT_MS);
  return {
    async read() {
      const item = await readItem(timed, name, key, { consistent });
      return item && decode(item);
    },
    async write(value) {
      await writeItem(timed, name, itemAt(key, encode(value)));
    },
  };
}
