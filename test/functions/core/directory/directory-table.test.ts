import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type DirectoryPointer,
  type DirectoryWish,
  WISH_AGAIN_MS,
} from '../../../../functions/core/directory/directory-table.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const WAIT = { timeoutMs: 300_000 };

/** Reads and writes of the in-memory table are those of DynamoDB: test/functions/core/store/twin.integ.test.ts. */
const build = memoryDirectoryTable;
const pointer = (edit: number, by = 'a'): DirectoryPointer => ({
  edit,
  manifest: `${edit}-${by}`,
  progress: `${edit}-${by}`,
  live: edit > 1,
  atMs: 1_000 + edit,
});

test('a chunk of a megabyte comes back as it was written, and so do others beside it', async () => {
  const table = build();
  const large = new Uint8Array(randomBytes(1_000_000));
  const small = new Uint8Array([1, 2, 3]);
  const at = (name: string, version = '1-a') => ({ version, name });
  await table.putChunk(at('groups/1'), large, WAIT);
  await table.putChunk(at('groups/10'), small, WAIT);
  await table.putChunk(at('groups/1', '2-a'), small, WAIT);
  const [one, ten, none, other] = await table.readChunks(
    [at('groups/1'), at('groups/10'), at('groups/2'), at('groups/1', '2-a')],
    WAIT,
  );
  expect(Buffer.from(one ?? []).equals(Buffer.from(large))).toBe(true);
  expect([...(ten ?? [])]).toEqual([1, 2, 3]);
  expect(none).toBeUndefined();
  expect([...(other ?? [])]).toEqual([1, 2, 3]);
  expect(await table.readChunks([], WAIT)).toEqual([]);
});

test('of many who flip to the same edit exactly one wins', async () => {
  const table = build();
  const first = await Promise.all(['a', 'b', 'c'].map((by) => table.flip(pointer(1, by), WAIT)));
  expect(first.filter((outcome) => outcome === 'flipped')).toHaveLength(1);
  const second = await Promise.all(['a', 'b', 'c'].map((by) => table.flip(pointer(2, by), WAIT)));
  const winner = ['a', 'b', 'c'][second.indexOf('flipped')];
  expect(second.filter((outcome) => outcome === 'flipped')).toHaveLength(1);
  expect(await table.getPointer(WAIT)).toEqual(pointer(2, winner));
  expect(await table.flip(pointer(2), WAIT)).toBe('stale');
  expect(await table.flip(pointer(4), WAIT)).toBe('stale');
});

test('a wish is on the list once, stays until it is granted, and comes again after ten minutes only', async () => {
  const table = build();
  const group: DirectoryWish = { kind: 'group', id: 7 };
  const project: DirectoryWish = { kind: 'project', id: 7 };
  const atMs = NOVEMBER_21_MS;
  for (let times = 0; times < 3; times += 1) await table.putWish(group, atMs + times, WAIT);
  await table.putWish(project, atMs, WAIT);
  const sorted = async (limit = 10) =>
    [...(await table.readWishes(limit, WAIT))].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  expect(await sorted()).toEqual([group, project]);
  expect(await sorted(1)).toHaveLength(1);
  await table.grantWish(group, WAIT);
  await table.grantWish({ kind: 'group', id: 99 }, WAIT);
  expect(await sorted()).toEqual([project]);
  await table.putWish(group, atMs + WISH_AGAIN_MS - 1, WAIT);
  expect(await sorted()).toEqual([project]);
  await table.putWish(group, atMs + WISH_AGAIN_MS, WAIT);
  expect(await sorted()).toEqual([group, project]);
});

test('a chunk that is to go, and one that never was, do not disturb the others', async () => {
  const table = build();
  await table.putChunk({ version: '1', name: 'a' }, new Uint8Array([1]), WAIT);
  await table.putChunk({ version: '1', name: 'b' }, new Uint8Array([2]), WAIT);
  await table.expireChunk({ version: '1', name: 'a' }, NOVEMBER_21_MS, WAIT);
  await table.expireChunk({ version: '1', name: 'c' }, NOVEMBER_21_MS, WAIT);
  const [b, c] = await table.readChunks(
    [
      { version: '1', name: 'b' },
      { version: '1', name: 'c' },
    ],
    WAIT,
  );
  expect([...(b ?? [])]).toEqual([2]);
  expect(c).toBeUndefined();
});
