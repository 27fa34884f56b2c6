import { expect, test } from 'vitest';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import type { ItemTable } from '../../../../functions/core/store/operation.ts';
import { LedgerError } from '../../../../functions/core/store/table-failure.ts';
import { dynamoViewStore } from '../../../../functions/core/views/dynamo-view-store.ts';
import { keepView, VIEWS_MAX } from '../../../../functions/core/views/saved-view.ts';

const INSTANCE = 'gitlab.example.com';
const storeOn = (table: ItemTable) => dynamoViewStore({ table, instance: INSTANCE });
const view = (name: string, query = 'kind=project') => ({ name, query });

test('everybody has views of their own, beside those of everybody', async () => {
  const store = storeOn(new MemoryTable());
  await store.change(7, { keep: view('mine') });
  await store.change('everybody', { keep: view('ours', 'trouble=used-up') });
  expect(await store.read(7)).toEqual({ views: [view('mine')] });
  expect(await store.read('everybody')).toEqual({ views: [view('ours', 'trouble=used-up')] });
  expect(await store.read(8)).toEqual({ views: [] });
});

test('a view of the same name is replaced, and there are never more than twenty', async () => {
  const store = storeOn(new MemoryTable());
  for (let at = 0; at < VIEWS_MAX; at += 1)
    expect(await store.change(7, { keep: view(`v${at}`) })).toBe('written');
  expect(await store.change(7, { keep: view('one more') })).toBe('full');
  expect(await store.change(7, { keep: view('v3', 'kind=user') })).toBe('written');
  const { views } = await store.read(7);
  expect([views.length, views.find(({ name }) => name === 'v3')]).toEqual([
    VIEWS_MAX,
    view('v3', 'kind=user'),
  ]);
});

test('the view a list opens with goes with the view, and is never one that is not there', () => {
  const list = { views: [view('a'), view('b')], first: 'a' };
  expect(keepView(list, { drop: 'a' })).toEqual({ views: [view('b')] });
  expect(keepView(list, { drop: 'b' })).toEqual({ views: [view('a')], first: 'a' });
  expect(keepView(list, { first: 'c' })).toEqual({ views: list.views });
  expect(keepView(list, { keep: view('c') })).toMatchObject({ first: 'a' });
});

test('of two writers at once neither loses a view', async () => {
  const table = new MemoryTable();
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name) => storeOn(table).change(7, { keep: view(name) })));
  expect((await storeOn(table).read(7)).views.map(({ name }) => name)).toEqual(names);
});

test('a list that others write all the time is told as that, and one that nobody can read is empty', async () => {
  const table = new MemoryTable();
  await storeOn(table).change(7, { keep: view('a') });
  const raced: ItemTable = {
    tableName: 'raced',
    send: async (operation, asked) => {
      if (operation === 'PutItem') await storeOn(table).change(7, { keep: view('theirs') });
      return table.send(operation, asked);
    },
  };
  expect(await storeOn(raced).change(7, { keep: view('b') })).toBe('contended');
  const odd: ItemTable = {
    tableName: 'odd',
    send: async () => ({ vi: { S: '[{"name":1},null,' } }) as never,
  };
  expect(await storeOn(odd).read(7)).toEqual({ views: [] });
});

test('views of a forgotten user are counted, then gone; a table without an answer is a failure', async () => {
  const table = new MemoryTable();
  const store = storeOn(table);
  await store.change(7, { keep: view('a') });
  await store.change(8, { keep: view('b') });
  expect(await store.forget(7, { dryRun: true })).toBe(1);
  expect(await store.forget(7, { dryRun: false })).toBe(1);
  expect([await store.read(7), (await store.read(8)).views.length]).toEqual([{ views: [] }, 1]);
  const gone: ItemTable = { tableName: 'gone', send: () => Promise.reject(new Error('away')) };
  await expect(storeOn(gone).read(7)).rejects.toThrow(LedgerError);
});
