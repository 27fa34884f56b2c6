import { expect, test } from 'vitest';
import { fillPlaces } from '../../../support/fill-places.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';

/** Where a job of this project stands, as a function sees it that was started just now. */
const chainOf = async (
  bench: ReturnType<typeof syncBench>,
  ask: { projectId?: number; namespaceId?: number; rootNamespaceId?: number; projectPath?: string },
) => {
  const directory = await bench.reader().directoryFor([ask]);
  const groupId = ask.namespaceId ?? directory?.projectById.get(ask.projectId ?? 0)?.groupId ?? 0;
  return directory?.chainById.get(groupId)?.map(({ path }) => path);
};

const aTree = (bench: ReturnType<typeof syncBench>): void => {
  const { groups, projects, users } = bench.places;
  groups.set(1, { id: 1, path: 'Acme', visibility: 'internal' });
  groups.set(2, { id: 2, parentId: 1, path: 'pay' });
  groups.set(3, { id: 3, parentId: 2, path: 'core' });
  groups.set(4, { id: 4, path: 'beta' });
  users.set(90, 'jane');
  projects.set(11, { id: 11, namespaceId: 3, path: 'checkout', visibility: 'public' });
  projects.set(12, { id: 12, namespaceId: 90, path: 'dotfiles' });
};

test('a group that one listing lacks stays, and goes when the next lacks it, too', async () => {
  const bench = syncBench();
  aTree(bench);
  await bench.run();
  bench.places.groups.delete(4);
  expect(await bench.run()).toMatchObject({ groups: 4, groupsMissing: 1 });
  expect(await chainOf(bench, { namespaceId: 4 })).toEqual(['beta']);
  expect(await bench.run()).toMatchObject({ groups: 3 });
  expect(await chainOf(bench, { namespaceId: 4 })).toBeUndefined();
});

test('a group that a deletion pushed over the edge of a page is back in the next listing, and never gone', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 1, groups: 150, projects: 0 });
  await bench.run();
  // Between the two pages: group 101 moves to the end of the page that was read already.
  bench.before = (call) => {
    if (call.includes('page=2')) bench.places.groups.delete(50);
  };
  expect(await bench.run()).toMatchObject({ groupsMissing: 1 });
  expect(await chainOf(bench, { namespaceId: 101 })).toBeDefined();
  bench.before = () => {};
  await bench.run();
  expect(await bench.run()).toMatchObject({ groups: 149 });
  expect(await chainOf(bench, { namespaceId: 101 })).toBeDefined();
});

test('a path belongs to the group that has it now, although its old owner is only just missing', async () => {
  const bench = syncBench();
  aTree(bench);
  await bench.run();
  bench.places.groups.delete(4);
  // In another chunk than the old one, and in the same, older and younger.
  for (const id of [5, 4 + 64, 3 + 64]) {
    bench.places.groups.set(id, { id, path: 'beta' });
    await bench.run();
    const directory = await bench.reader().directoryFor([{ rootNamespaceId: 4 }, { rootNamespaceId: id }]);
    expect(directory?.groupByPath.get('beta')?.id).toBe(id);
    bench.places.groups.delete(id);
    bench.places.groups.set(4, { id: 4, path: 'beta' });
    await bench.run();
    bench.places.groups.delete(4);
  }
});

test('a listing that lacks a fifth of all groups adds but drops nothing, unless it is forced', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 10, groups: 100, projects: 0 });
  await bench.run();
  for (let id = 70; id <= 100; id += 1) bench.places.groups.delete(id);
  bench.places.groups.set(200, { id: 200, path: 'new' });
  for (let runs = 0; runs < 3; runs += 1) {
    expect(await bench.run()).toMatchObject({
      groupsListing: 'refused',
      groupsMissing: 31,
      groups: 101,
      live: true,
    });
  }
  expect(await chainOf(bench, { namespaceId: 85, rootNamespaceId: 5 })).toBeDefined();
  expect(await chainOf(bench, { namespaceId: 200 })).toEqual(['new']);
  expect(await bench.run({ force: true })).toMatchObject({ groupsListing: 'listed', groups: 70 });
});

test('a GitLab that lists no group at all never makes an empty directory live', async () => {
  const bench = syncBench();
  expect(await bench.run()).toMatchObject({ groupsListing: 'refused', live: false });
  aTree(bench);
  expect(await bench.run()).toMatchObject({ live: true });
  bench.places.groups.clear();
  expect(await bench.run()).toMatchObject({ groupsListing: 'refused', groups: 4 });
});

test('a project that changes just after it was asked for comes with the next run, run after run', async () => {
  const bench = syncBench();
  aTree(bench);
  for (let id = 100; id < 106; id += 1) {
    await bench.run();
    // The clock stands five minutes after the run: the change came right after its question.
    const updatedAtMs = bench.clock.nowMs() - 5 * MINUTE_MS + 1;
    bench.places.projects.set(id, { id, namespaceId: 4, path: `p${id}`, updatedAtMs });
  }
  await bench.run();
  const directory = await bench.reader().directoryFor([{ projectId: 100 }]);
  expect([...(directory?.projectById.keys() ?? [])].filter((id) => id >= 100)).toHaveLength(6);
});

test('projects that a listing lacks by the score are kept, unless it is forced', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 2, groups: 10, projects: 3_000 });
  await bench.run();
  // The token lost its rights: more than half of one chunk, and all of the last two.
  for (let id = 1_200; id <= 3_000; id += 1) if (id < 1_500 || id >= 2_048) bench.places.projects.delete(id);
  bench.clock.advance(24 * 60 * MINUTE_MS);
  expect(await bench.run()).toMatchObject({ projectsRefused: 300 + 953, projectsRemoved: 0 });
  expect((await bench.reader().directoryFor([{ projectId: 2_500 }]))?.projectById.has(2_500)).toBe(true);
  bench.clock.advance(24 * 60 * MINUTE_MS);
  expect(await bench.run({ force: true })).toMatchObject({ projectsRefused: 0, projectsRemoved: 1_253 });
});

test('a run in which nothing changed writes no chunk and leaves the version as it is', async () => {
  const bench = syncBench();
  fillPlaces(bench.places, { roots: 5, groups: 40, projects: 200 });
  await bench.run();
  const before = await bench.table.getPointer({ timeoutMs: 1 });
  const stored = bench.memory.stored.length;
  await bench.run();
  const after = await bench.table.getPointer({ timeoutMs: 1 });
  expect(after?.manifest).toBe(before?.manifest);
  expect(after?.edit).toBe(2);
  // The progress alone.
  expect(bench.memory.stored.length).toBe(stored + 1);
});

test('replaced chunks go after an hour, and none that is live', async () => {
  const bench = syncBench();
  aTree(bench);
  for (let runs = 0; runs < 40; runs += 1) {
    bench.places.groups.set(2, { id: 2, parentId: 1, path: `pay${runs}` });
    await bench.run();
    bench.memory.collectGarbage(bench.clock.nowMs());
  }
  // Thirteen runs until an hour after the next one: groups, manifest and progress of each.
  expect(bench.memory.stored.length).toBeLessThan(15 * 3 + 4);
  expect(await chainOf(bench, { projectId: 11 })).toEqual(['Acme', 'Acme/pay39', 'Acme/pay39/core']);
});
