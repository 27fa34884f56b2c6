import { expect, test } from 'vitest';
import { openDraft } from '../../../../functions/core/directory/draft.ts';
import { indexDirectory } from '../../../../policies/directory.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const PACKED = indexDirectory([{ id: 777, path: 'packed', personal: false }]);

/** A table that counts what readers ask of it, and fails when told to. */
const countingBench = () => {
  const counts = { getPointer: 0, readChunks: 0 };
  const state = { isDown: false };
  const memory = memoryDirectoryTable((operation) => {
    if (operation === 'getPointer' || operation === 'readChunks') counts[operation] += 1;
    return state.isDown ? 'lost-before' : undefined;
  });
  return { ...syncBench({ table: memory }), memory, counts, state };
};

test('until all groups were listed once the packed directory is in force', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 1, groups: 300, projects: 0 });
  const reader = bench.reader(PACKED);
  expect(await reader.directoryFor([{ rootNamespaceId: 1 }])).toBe(PACKED);
  expect(await bench.run({ callsMax: 2 })).toMatchObject({ groupsListing: 'going', live: false });
  expect(await reader.directoryFor([{ rootNamespaceId: 1 }])).toBe(PACKED);
  expect(await bench.run()).toMatchObject({ live: true });
  const directory = await reader.directoryFor([{ rootNamespaceId: 1 }]);
  expect(directory?.groupById.has(777)).toBe(false);
  expect(directory?.chainById.get(300)).toBeDefined();
});

test('the pointer is looked at once a minute, and a new version is known after it', async () => {
  const { places, run, clock, counts, reader } = countingBench();
  fillPlaces(places, { roots: 1, groups: 3, projects: 0 });
  await run();
  const store = reader();
  const ask = { namespaceId: 2, rootNamespaceId: 1 };
  await store.directoryFor([ask]);
  counts.getPointer = 0;
  for (let second = 0; second < 59; second += 1) {
    clock.advance(1_000);
    await store.directoryFor([ask]);
  }
  expect(counts.getPointer).toBe(0);
  places.groups.set(2, { id: 2, parentId: 1, path: 'renamed' });
  await run();
  counts.getPointer = 0;
  expect((await store.directoryFor([ask]))?.groupById.get(2)?.path).toBe('g1/renamed');
  expect(counts.getPointer).toBe(1);
});

test('a table that is down leaves the last good directory, and the packed one before a first', async () => {
  const { places, run, clock, state, reader } = countingBench();
  fillPlaces(places, { roots: 1, groups: 3, projects: 3 });
  await run();
  const store = reader(PACKED);
  await store.directoryFor([{ rootNamespaceId: 1 }]);
  state.isDown = true;
  clock.advance(10 * MINUTE_MS);
  const directory = await store.directoryFor([{ projectId: 2, rootNamespaceId: 1 }]);
  expect(directory?.chainById.get(2)).toBeDefined();
  expect(await reader(PACKED).directoryFor([{ rootNamespaceId: 1 }])).toBe(PACKED);
  state.isDown = false;
  clock.advance(5_000);
  expect((await store.directoryFor([{ projectId: 2, rootNamespaceId: 1 }]))?.projectById.has(2)).toBe(true);
});

const HOUR_MS = 3_600_000;

test('a chunk that a run changes and changes back stays the one that is live, and is not let go', async () => {
  const table = memoryDirectoryTable();
  const open = (run: number) => openDraft({ table, runId: `run${run}`, nowMs: NOVEMBER_21_MS + run });
  const first = await open(1);
  await first.write('projects/0', { projects: ['a'] });
  await first.flip({}, true);
  const second = await open(2);
  await second.write('projects/0', { projects: ['b'] });
  await second.write('projects/0', { projects: ['a'] });
  expect(await second.flip({}, true)).toBe('flipped');
  await (await open(3)).flip({}, true);
  table.collectGarbage(NOVEMBER_21_MS + 2 * HOUR_MS);
  expect(await (await open(4)).read(['projects/0'])).toEqual([{ projects: ['a'] }]);
});
