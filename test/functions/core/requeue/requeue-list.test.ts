import { expect, test } from 'vitest';
import { dynamoRequeueLists, type RequeueEntry } from '../../../../functions/core/requeue-list.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';

const entry = (jobId: number, rejectedAtMs: number): RequeueEntry => ({
  ...{ jobId, projectId: 1001, root: 100, rejectedAtMs, firstAtMs: rejectedAtMs },
  ...{ retries: 0, state: 'waiting' },
});
const lists = () => dynamoRequeueLists({ table: new MemoryTable(), instance: 'gitlab.example.com' });
const ids = (entries: readonly RequeueEntry[]): readonly number[] => entries.map(({ jobId }) => jobId);

test('of more than two hundred entries the latest are kept', async () => {
  const { read, write } = lists();
  const entries = Array.from({ length: 205 }, (_, at) => entry(at, at));
  await write({ ...(await read(101)), entries });
  expect(ids((await read(101)).entries)).toEqual(entries.slice(5).map(({ jobId }) => jobId));
});

test('of two who write at once the second is refused', async () => {
  const { read, write } = lists();
  const before = await read(101);
  expect(await write({ ...before, entries: [entry(1, 1)] })).toMatchObject({ rev: 1 });
  expect(await write({ ...before, entries: [entry(2, 2)] })).toBeUndefined();
  expect(ids((await read(101)).entries)).toEqual([1]);
});
