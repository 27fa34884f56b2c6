import { expect, test } from 'vitest';
import { type DirectoryWish, WISH_AGAIN_MS } from '../../../../functions/core/directory/directory-table.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const WAIT = { timeoutMs: 300_000 };

/** Reads and writes of the in-memory table are those of DynamoDB: test/functions/core/store/twin.integ.test.ts. */
const build = memoryDirectoryTable;
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
