/** The table in memory and the one in a file answer whatever they are asked like DynamoDB does. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemAt, queryAll, scanPages } from '../../../../functions/core/store/calls.ts';
import type { Key } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import {
  absent,
  all,
  any,
  begins,
  compare,
  DUE_AT,
  DUE_PK,
  type Item,
  type ItemCondition,
  type ItemTable,
  type ItemWrite,
  keyOf,
  numberIs,
  type Operations,
  PK,
  present,
  type QueryAsk,
  SK,
  TimeLimit,
  versioned,
} from '../../../../functions/core/store/operation.ts';
import { signedTable } from '../../../../functions/core/store/signed-table.ts';
import type { ItemChange } from '../../../../functions/core/store/table-evaluation.ts';
import { type ItemChangeRecord, SqliteTable } from '../../../../scripts/local/sqlite-table.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const TABLE = 'twin';
const WAIT_MS = 300_000;
const SORT_KEYS = ['counter', 'entry#000001', 'entry#000002', 'é', 'z|%'];

const local = localTable(TABLE);
let folder = '';
let filed: SqliteTable;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-twin-'));
  filed = new SqliteTable({ file: join(folder, 'twin.sqlite'), makes: true, nowMs: Date.now });
});
afterAll(() => {
  filed.close();
  rmSync(folder, { recursive: true });
});

const key: fc.Arbitrary<Key> = fc.record({
  pk: fc.constantFrom('a', 'b'),
  sk: fc.constantFrom(...SORT_KEYS),
});
const count = fc.integer({ min: -3, max: 3 });
const number = count.map((value) => ({ N: String(value) }));
const word = fc.constantFrom('', 'a', 'ab', 'é').map((value) => ({ S: value }));
/** One attribute that is always a number, one of either kind, one with a name that needs a placeholder, the due index's. */
const attributes: fc.Arbitrary<Item> = fc
  .record(
    {
      n: number,
      x: fc.oneof(number, word),
      y: word,
      'a rule: "größe"': number,
      ttl: number,
      [DUE_PK]: fc.constantFrom('live', 'close'),
      [DUE_AT]: count,
    },
    { requiredKeys: [] },
  )
  .map(({ [DUE_PK]: duePk, [DUE_AT]: dueAt, ...others }) => ({
    ...others,
    // A key of the index is there whole, or the item is not in it.
    ...(duePk !== undefined &&
      dueAt !== undefined && { [DUE_PK]: { S: duePk }, [DUE_AT]: { N: String(dueAt) } }),
  }));
const attribute = fc.constantFrom('n', 'x', 'ttl', PK, SK);
const simple: fc.Arbitrary<ItemCondition> = fc.oneof(
  attribute.map(absent),
  attribute.map(present),
  fc
    .tuple(attribute, fc.constantFrom('=', '<>', '<', '<='), fc.oneof(number, word))
    .map(([name, by, value]) => compare(name, by, value)),
  fc.tuple(attribute, fc.constantFrom('a', 'e', 'entry#')).map(([name, text]) => begins(name, text)),
  count.map((value) => numberIs('n', '<=', value)),
);
const condition: fc.Arbitrary<ItemCondition> = fc.oneof(
  simple,
  fc.array(simple, { minLength: 1, maxLength: 3 }).map(all),
  fc.array(simple, { minLength: 1, maxLength: 3 }).map(any),
);
const conditional = fc.record({ condition, showsOld: fc.boolean() }, { requiredKeys: [] });
const put: fc.Arbitrary<ItemWrite> = fc
  .tuple(key, attributes, conditional)
  .map(([at, item, rest]) => ({ kind: 'put', item: itemAt(at, item), ...rest }));
const update: fc.Arbitrary<ItemWrite> = fc
  .tuple(
    key,
    fc.record({ x: fc.oneof(number, word), ttl: number }, { requiredKeys: [] }),
    fc.dictionary(fc.constantFrom('n', 'a rule: "größe"'), count, { noNullPrototype: true }),
    fc.subarray(['y', DUE_PK]),
    conditional,
  )
  .map(([at, set, add, remove, rest]) => ({
    ...{ kind: 'update', key: at, set, setIfAbsent: versioned, add, remove },
    ...rest,
  }));
const write = fc.oneof(put, update);
const transaction = fc
  .uniqueArray(write, { minLength: 1, maxLength: 4, selector: (each) => nameOf(keyOfWrite(each)) })
  .map((writes) => ({ writes }));
const query: fc.Arbitrary<QueryAsk> = fc
  .record(
    {
      pk: fc.constantFrom('a', 'b'),
      sk: fc.oneof(
        fc.constantFrom('e', 'entry#', 'x').map((text) => ({ begins: text })),
        fc.constantFrom(...SORT_KEYS).map((before) => ({ before })),
      ),
      filter: simple.filter(({ ...each }) => !('attribute' in each) || ![PK, SK].includes(each.attribute)),
      attributes: fc.constantFrom([PK, SK], [SK, 'n']),
      backwards: fc.constant(true as const),
      pageItems: fc.integer({ min: 1, max: 3 }),
    },
    { requiredKeys: ['pk'] },
  )
  .map((ask) => ({ ...ask, consistent: true }));
const due: fc.Arbitrary<QueryAsk> = fc
  .tuple(fc.constantFrom('live', 'close'), count)
  .map(([pk, dueBeforeMs]) => ({ pk, dueBeforeMs, consistent: false }));

type Step = {
  readonly [Name in keyof Operations]: { readonly name: Name; readonly operation: Operations[Name] };
}[keyof Operations];

const named = <Name extends keyof Operations>(name: Name, operation: fc.Arbitrary<Operations[Name]>) =>
  operation.map((each) => ({ name, operation: each }) as Step);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: put.chain((each) => named('PutItem', fc.constant(each as never))) },
  { weight: 3, arbitrary: update.chain((each) => named('UpdateItem', fc.constant(each as never))) },
  { weight: 3, arbitrary: named('TransactWriteItems', transaction) },
  named('DeleteItem', fc.record({ key })),
  named('GetItem', fc.record({ key, consistent: fc.constant(true) })),
  named(
    'BatchGetItem',
    fc.record({
      keys: fc.uniqueArray(key, { minLength: 1, selector: nameOf }),
      consistent: fc.constant(true),
    }),
  ),
  { weight: 2, arbitrary: named('Query', query) },
  named('Query', due),
  named(
    'Scan',
    simple.map((filter) => ({ filter, consistent: true, pageItems: 2 })),
  ),
);

function nameOf({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}
function keyOfWrite(each: ItemWrite): Key {
  return each.kind === 'put' ? keyOf(each.item) : each.key;
}

/** What came of it, in one form: pages are read to their end, and what has no order gets one. */
async function answerOf(table: ItemTable, { name, operation }: Step): Promise<unknown> {
  const limit = new TimeLimit(WAIT_MS);
  try {
    if (name === 'Scan') {
      const found: Item[] = [];
      for await (const items of scanPages(table, operation, WAIT_MS)) found.push(...items);
      return ordered(found);
    }
    if (name === 'Query') {
      const items = await queryAll(table, operation, limit);
      return operation.dueBeforeMs === undefined ? items : ordered(items);
    }
    if (name === 'BatchGetItem') return ordered((await table.send(name, operation, limit)).items);
    return await table.send(name, operation as never, limit);
  } catch (error) {
    // Both refuse it; what the transaction says more is its own text.
    return {
      refusedAs: error instanceof Error ? error.name.replace('TransactionCanceled', 'Validation') : error,
    };
  }
}

const ordered = (items: readonly Item[]): readonly Item[] =>
  [...items].sort((one, other) => (nameOf(keyOf(one)) < nameOf(keyOf(other)) ? -1 : 1));

async function emptied(table: ItemTable): Promise<ItemTable> {
  const limit = new TimeLimit(WAIT_MS);
  for await (const items of scanPages(table, { filter: present(), consistent: true }, WAIT_MS))
    for (const item of items) await table.send('DeleteItem', { key: keyOf(item) }, limit);
  return table;
}

test('whatever is written and read, both answer like DynamoDB, and their streams tell all of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
      const real = await emptied(signedTable(TABLE, {}, local.endpoint));
      filed.empty();
      const journal: ItemChange[] = [];
      const twin = new MemoryTable({ onWritten: (changes) => journal.push(...changes) });
      const reading = new AbortController();
      const stream = filed.stream(reading.signal, () => new Promise((resolve) => setImmediate(resolve)));
      const everything: Step = { name: 'Scan', operation: { filter: present(), consistent: true } };
      let left: unknown;
      for (const each of [...steps, everything]) {
        left = await answerOf(real, each);
        expect(['in memory', each, await answerOf(twin, each)]).toEqual(['in memory', each, left]);
        expect(['in a file', each, await answerOf(filed, each)]).toEqual(['in a file', each, left]);
      }
      expect(replayed(journal)).toEqual(left);
      const filedJournal: ItemChange[] = [];
      if (journal.length > 0) {
        for await (const records of stream) {
          for (const { dynamodb } of records) filedJournal.push(changeIn(dynamodb));
          if (filedJournal.length >= journal.length) break;
        }
      }
      reading.abort();
      expect(filedJournal).toEqual(journal);
    }),
    { numRuns: propertyRuns(60) },
  );
});

const changeIn = ({ OldImage, NewImage }: ItemChangeRecord['dynamodb']): ItemChange => ({
  ...(OldImage && { before: OldImage }),
  ...(NewImage && { after: NewImage }),
});

/** What is left when every change is made again, in its order. */
function replayed(journal: readonly ItemChange[]): readonly Item[] {
  const items = new Map<string, Item>();
  for (const { before, after } of journal) {
    if (after !== undefined) items.set(nameOf(keyOf(after)), after);
    else if (before !== undefined) items.delete(nameOf(keyOf(before)));
  }
  return ordered([...items.values()]);
}

test('the same transaction is written once, and segments have every item once, with its partition, on all', async () => {
  filed.empty();
  const keys = Array.from({ length: 30 }, (_, at) => ({ pk: `p${at >> 1}`, sk: String(at % 2) }));
  for (const table of [
    await emptied(signedTable(TABLE, {}, local.endpoint)),
    new MemoryTable(),
    filed,
  ] as const) {
    const limit = new TimeLimit(WAIT_MS);
    const add = { kind: 'update', key: { pk: 'p0', sk: '0' }, setIfAbsent: versioned } as const;
    const asked = { writes: [{ ...add, add: { n: 2 } }], token: `once-${table.tableName}` };
    for (let tries = 0; tries < 3; tries += 1)
      expect(await table.send('TransactWriteItems', asked, limit)).toEqual({ outcome: 'written' });
    const once = await table.send('GetItem', { key: add.key, consistent: true }, limit);
    expect(once).toMatchObject({ n: { N: '2' } });
    for (const each of keys) await table.send('PutItem', { kind: 'put', item: itemAt(each, {}) }, limit);
    const segments: Item[][] = [];
    for (let index = 0; index < 4; index += 1) {
      const found: Item[] = [];
      const ask = { filter: present(), consistent: true, pageItems: 2, segment: { index, of: 4 } };
      for await (const items of scanPages(table, ask, WAIT_MS)) found.push(...items);
      segments.push(found);
    }
    const all = ordered(keys.map((each) => itemAt(each, {})));
    expect(ordered(segments.flat()).map(keyOf)).toEqual(all.map(keyOf));
    const partitions = segments.flatMap((items) => [...new Set(items.map((item) => keyOf(item).pk))]);
    expect(partitions).toHaveLength(15);
  }
});
