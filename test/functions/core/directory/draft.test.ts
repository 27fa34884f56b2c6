import { expect, test } from 'vitest';
import { DirectoryDraft } from '../../../../functions/core/directory/draft.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const HOUR_MS = 3_600_000;

test('a chunk that a run changes and changes back stays the one that is live, and is not let go', async () => {
  const table = memoryDirectoryTable();
  const open = (run: number) =>
    DirectoryDraft.open({ table, runId: `run${run}`, nowMs: NOVEMBER_21_MS + run });
  const first = await open(1);
  await first.write('projects/0', { projects: ['a'] });
  await first.flip({}, true);
  const second = await open(2);
  expect(await second.write('projects/0', { projects: ['b'] })).toBe(true);
  expect(await second.write('projects/0', { projects: ['a'] })).toBe(true);
  expect(await second.flip({}, true)).toBe('flipped');
  await (await open(3)).flip({}, true);
  table.collectGarbage(NOVEMBER_21_MS + 2 * HOUR_MS);
  expect(await (await open(4)).read(['projects/0'])).toEqual([{ projects: ['a'] }]);
});

test('a chunk that was damaged is refused rather than read', async () => {
  const table = memoryDirectoryTable();
  const draft = await DirectoryDraft.open({ table, runId: 'run1', nowMs: NOVEMBER_21_MS });
  await draft.write('projects/0', { projects: ['a'] });
  await draft.flip({}, true);
  const again = await DirectoryDraft.open({ table, runId: 'run2', nowMs: NOVEMBER_21_MS });
  const other = await DirectoryDraft.open({ table, runId: 'run1', nowMs: NOVEMBER_21_MS });
  await other.write('projects/1', { projects: ['b'] });
  const [bytes] = await table.readChunks([{ version: '2-run1', name: 'projects/1' }], { timeoutMs: 1 });
  await table.putChunk({ version: '1-run1', name: 'projects/0' }, bytes ?? new Uint8Array(), {
    timeoutMs: 1,
  });
  await expect(again.read(['projects/0'])).rejects.toMatchObject({ code: 'directory_unreadable' });
});
