import { expect, test } from 'vitest';
import type { LimitEdit } from '../../../../../functions/core/limits/edit-model.ts';
import { publishLimits } from '../../../../../functions/core/limits/publish-limits.ts';
import { aDirectory, aPolicy } from '../../../../policies/documents.ts';
import { memoryLimitTable } from '../../../../support/tables/memory-limit-table.ts';
import { aDesk, aLiveDesk } from './desk.ts';

const money = (amount: number, subject = 'group/101'): LimitEdit => ({
  kind: 'set',
  subject,
  limit: 'money-month',
  amount,
});

test('the log tells who, when, why, from where, and from what to what, newest first, in pages', async () => {
  const { desk, by, pass } = await aLiveDesk();
  for (const [index, amount] of [501, 502, 503].entries()) {
    pass(1_000);
    await desk.apply(
      [money(amount)],
      await by({ actor: `a${index}`, why: `w${index}`, source: `s${index}` }),
    );
  }
  const first = await desk.history({ max: 2 });
  expect(first.entries).toMatchObject([
    {
      edit: 4,
      actor: 'a2',
      why: 'w2',
      source: 's2',
      count: 1,
      rows: [{ from: 502_000_000, to: 503_000_000 }],
    },
    { edit: 3, actor: 'a1' },
  ]);
  const second = await desk.history({ max: 2, ...(first.next !== undefined && { before: first.next }) });
  expect(second.entries.map(({ edit }) => edit)).toEqual([2, 1]);
  expect(second.next).toBeUndefined();
});

test('by subject it tells what was changed there, also within an import of hundreds', async () => {
  const { desk, by } = aDesk();
  const limits = Array.from({ length: 300 }, (_, at) => ({
    on: { group: 1_000 + at },
    money: 5,
    per: 'month',
    owner: `o${at}`,
  }));
  await desk.apply([{ kind: 'replace', document: { limits } }], await by());
  await desk.apply([money(6, 'group/1007')], await by());
  await desk.apply([money(6, 'group/1008')], await by());
  const { entries, next } = await desk.history({ subject: 'group/1007', max: 10 });
  expect(next).toBeUndefined();
  expect(entries.map(({ edit, rows }) => [edit, rows?.map(({ field }) => field)])).toEqual([
    [2, ['amount']],
    [1, ['amount', 'mode', 'per', 'owner']],
  ]);
  expect(entries[1]?.count).toBe(1_200);
  const all = await desk.history({ max: 10 });
  expect(all.entries.map(({ count, rows }) => [count, rows?.length])).toEqual([
    [1, 1],
    [1, 1],
    [1_200, undefined],
  ]);
});

test('the log is whole although the sets themselves are gone', async () => {
  const table = memoryLimitTable();
  const { desk, by } = await aLiveDesk({ table });
  await desk.apply([money(600)], await by());
  // What the table would collect after ninety days.
  const gone = new Set(table.retired.keys());
  const read = table.readChunks.bind(table);
  table.readChunks = (set, names, options) =>
    gone.has(set) ? Promise.resolve(names.map(() => undefined)) : read(set, names, options);
  expect((await desk.history({ max: 10 })).entries.map(({ rows }) => rows?.length)).toEqual([1, 9]);
});

test('whatever publishes a set is in the log, and whoever came too late is not', async () => {
  const table = memoryLimitTable();
  const change = { actor: 'cli', why: 'w', source: 'file limits.yaml', atMs: 5 };
  const deps = { table, policy: aPolicy(), directory: aDirectory };
  const publish = (jobs: number) => publishLimits({ limits: [{ on: { group: 100 }, jobs }] }, change, deps);
  const outcomes = await Promise.all([publish(1), publish(2)]);
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['live', 'stale']);
  const { entries } = await aDesk({ table }).desk.history({ max: 10 });
  expect(entries).toMatchObject([
    { edit: 1, actor: 'cli', rows: [{ subject: 'group/100', field: 'amount' }, { field: 'mode' }] },
  ]);
});
