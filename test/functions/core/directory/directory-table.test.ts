import { expect, test } from 'vitest';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const WAIT = { timeoutMs: 300_000 };

/** Reads and writes of the in-memory table are those of DynamoDB: test/functions/core/store/twin.integ.test.ts. */
const build = memoryDirectoryTable;
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
