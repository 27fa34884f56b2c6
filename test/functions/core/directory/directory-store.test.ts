import { expect, test } from 'vitest';
import { directoryOf } from '../../../../policies/place/directory.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';

const PACKED = directoryOf([{ id: 777, path: 'packed', personal: false }]);
const WAIT = { timeoutMs: 1 };

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

test('a version that changes other chunks reads none of those that are known', async () => {
  const { places, run, counts, clock, reader } = countingBench();
  fillPlaces(places, { roots: 2, groups: 20, projects: 20 });
  await run();
  const store = reader();
  const ask = { projectId: 5, namespaceId: 3, rootNamespaceId: 1 };
  await store.directoryFor([ask]);
  places.groups.set(2, { id: 2, path: 'other-root' });
  await run();
  clock.advance(MINUTE_MS);
  counts.readChunks = 0;
  await store.directoryFor([ask]);
  // The manifest alone; an empty list of chunks asks the table nothing.
  expect(counts.readChunks).toBeLessThanOrEqual(2);
  expect((await store.directoryFor([ask]))?.chainById.get(3)?.map(({ path }) => path)).toEqual([
    'g1',
    'g1/g3',
  ]);
});

test('a root that became a subgroup is one for a reader that knew it as a root, too', async () => {
  const bench = syncBench();
  const { groups } = bench.places;
  groups.set(1, { id: 1, path: 'acme' });
  groups.set(2, { id: 2, path: 'bought' });
  await bench.run();
  const reader = bench.reader();
  await reader.directoryFor([{ rootNamespaceId: 1 }]);
  await reader.directoryFor([{ rootNamespaceId: 2 }]);
  groups.set(2, { id: 2, parentId: 1, path: 'bought' });
  await bench.run();
  const directory = await reader.directoryFor([{ namespaceId: 2, rootNamespaceId: 1 }]);
  expect(directory?.chainById.get(2)?.map(({ path }) => path)).toEqual(['acme', 'acme/bought']);
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

test('an id nobody knows is written down once in ten minutes, by everybody together', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 1, groups: 3, projects: 0 });
  await bench.run();
  const readers = [bench.reader(), bench.reader(), bench.reader()];
  const ask = { namespaceId: 50, rootNamespaceId: 1 };
  for (const reader of readers) for (let times = 0; times < 5; times += 1) await reader.directoryFor([ask]);
  await Promise.all(readers.map((reader) => reader.settled()));
  expect(await bench.table.readWishes(10, WAIT)).toEqual([{ kind: 'group', id: 50 }]);
});

test('a group that a job has below another root is asked for anew, and so is a project without its group', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 2, groups: 10, projects: 3 });
  await bench.run();
  const reader = bench.reader();
  await reader.directoryFor([
    { namespaceId: 3, rootNamespaceId: 2 },
    { projectId: 900 },
    // Known, contradictory, or without any id: nothing to ask for.
    { namespaceId: 3, rootNamespaceId: 1 },
    { projectId: 3 },
    { namespaceId: 60, suspicious: ['CI_PROJECT_NAMESPACE_ID'] },
    { projectPath: 'nowhere/at/all' },
  ]);
  await reader.settled();
  expect(await bench.table.readWishes(10, WAIT)).toEqual([
    { kind: 'group', id: 3 },
    { kind: 'project', id: 900 },
  ]);
});

test('one process writes down a hundred ids in ten minutes and no more', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 1, groups: 3, projects: 0 });
  await bench.run();
  const reader = bench.reader();
  const asks = Array.from({ length: 500 }, (_, at) => ({ namespaceId: 1_000 + at, rootNamespaceId: 1 }));
  await reader.directoryFor(asks);
  await reader.settled();
  expect(await bench.table.readWishes(1_000, WAIT)).toHaveLength(100);
});

test('a process that met very many projects forgets some and still knows those it is asked for', async () => {
  const bench = syncBench();
  bench.places.groups.set(1, { id: 1, path: 'one' });
  for (let at = 0; at < 400; at += 1) {
    const id = 1 + at * 512;
    bench.places.projects.set(id, { id, namespaceId: 1, path: `p${id}` });
  }
  await bench.run();
  const reader = bench.reader();
  for (const id of bench.places.projects.keys()) {
    expect((await reader.directoryFor([{ projectId: id, rootNamespaceId: 1 }]))?.projectById.has(id)).toBe(
      true,
    );
  }
  const last = await reader.directoryFor([{ rootNamespaceId: 1 }]);
  expect(last?.projectById.size).toBeLessThan(270);
});
