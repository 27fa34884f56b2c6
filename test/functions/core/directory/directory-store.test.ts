import { expect, test } from 'vitest';
import { DirectoryDraft } from '../../../../functions/core/directory/draft.ts';
import { directoryOf } from '../../../../policies/directory.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { largeGitLab } from '../../../support/large-gitlab.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const PACKED = directoryOf([{ id: 777, path: 'packed', personal: false }]);

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

test('a reader that slept until its chunks were gone finds the version that is live by now', async () => {
  const { places, run, clock, memory, reader } = countingBench();
  fillPlaces(places, { roots: 2, groups: 20, projects: 0 });
  await run();
  const store = reader();
  await store.directoryFor([{ rootNamespaceId: 1 }]);
  places.groups.set(4, { id: 4, parentId: 2, path: 'changed' });
  await run();
  await run();
  memory.collectGarbage(clock.nowMs() + 120 * MINUTE_MS);
  expect((await store.directoryFor([{ rootNamespaceId: 2 }]))?.groupById.get(4)?.path).toBe('g2/changed');
});

const HOUR_MS = 3_600_000;

test('a chunk that a run changes and changes back stays the one that is live, and is not let go', async () => {
  const table = memoryDirectoryTable();
  const open = (run: number) =>
    DirectoryDraft.open({ table, runId: `run${run}`, nowMs: NOVEMBER_21_MS + run });
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

test('where groups alone are more than a run can ask for, projects still get their turn', async () => {
  const { gitlab } = largeGitLab({ roots: 10, groups: 100_000, projects: 30_000 });
  const bench = syncBench();
  const reports = [];
  for (let runs = 0; runs < 4; runs += 1) reports.push(await bench.run({ gitlab }));
  expect(reports.map(({ groupsListing }) => groupsListing)).toEqual(['going', 'going', 'going', 'listed']);
  expect(reports.at(-1)).toMatchObject({ live: true, groups: 100_000, projectsGoing: false });
});
