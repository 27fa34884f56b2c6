import { expect, test } from 'vitest';
import { createAdmitApp } from '../../../../functions/admit/app.ts';
import { ADMISSIONS_PATH } from '../../../../functions/core/contract/admissions.ts';
import { DirectoryDraft } from '../../../../functions/core/directory/draft.ts';
import { CALLS_MAX } from '../../../../functions/core/directory/listings.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { rulesInForce } from '../../../../functions/core/rules.ts';
import { chargeBypass } from '../../../../functions/core/truth/settle-truths.ts';
import type { Decision } from '../../../../policies/decision.ts';
import { directoryOf } from '../../../../policies/directory.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { aDirectory, aPolicy, someLimits } from '../../../policies/documents.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { largeGitLab } from '../../../support/large-gitlab.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { MINUTE_MS, syncBench } from '../../../support/sync-bench.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

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

const SLOTS = { id: 'slots', on: { group: 2 }, jobs: 1 };

/** One slot on `acme/pay`, which is neither the root nor the own group of any job here. */
function house() {
  const bench = syncBench();
  const { groups, projects } = bench.places;
  groups.set(1, { id: 1, path: 'acme' });
  groups.set(2, { id: 2, parentId: 1, path: 'pay' });
  groups.set(3, { id: 3, parentId: 2, path: 'core' });
  projects.set(11, { id: 11, namespaceId: 3, path: 'checkout' });
  const ledger = createLedger({
    store: new MemoryStore({ instance: 'gitlab.example.com', clock: bench.clock }),
    clock: bench.clock,
  });
  const packed = {
    policy: aPolicy(),
    limits: someLimits({ limits: [SLOTS] }),
    directory: aDirectory,
    estimator: timeoutEstimator,
  };
  const store = bench.reader(aDirectory);
  const rules = rulesInForce(packed, {
    table: memoryLimitTable(),
    ledger,
    clock: bench.clock,
    log: silentLog,
    directoryFor: (jobs) => store.directoryFor(jobs),
  });
  const app = createAdmitApp({ ledger, currentRules: rules.rulesFor, clock: bench.clock, log: silentLog });
  let jobs = 0;
  const decide = async (where: object): Promise<Decision['outcome'] | undefined> => {
    jobs += 1;
    const body = JSON.stringify({ requests: [{ jobId: jobs, ...where }], remainingMs: 20_000 });
    const answer = await app.request(ADMISSIONS_PATH, { method: 'POST', body });
    return ((await answer.json()) as { decisions: Decision[] }).decisions[0]?.outcome;
  };
  return { bench, ledger, rules, store, decide };
}

test('a limit on a group between root and project counts as soon as the groups were synced', async () => {
  const { bench, decide } = house();
  const where = { projectId: 11, namespaceId: 3, rootNamespaceId: 1 };
  // The packed directory knows nothing of these groups.
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'admitted']);
  await bench.run();
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'rejected']);
});

test('a group of today has all its limits after the next sync, and its root’s before that', async () => {
  const { bench, decide, store } = house();
  await bench.run();
  bench.places.groups.set(4, { id: 4, parentId: 2, path: 'fresh' });
  const where = { namespaceId: 4, rootNamespaceId: 1 };
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'admitted']);
  await store.settled();
  expect(await bench.run()).toMatchObject({ wishes: 1, wishesGranted: 1 });
  expect([await decide(where), await decide(where)]).toEqual(['admitted', 'rejected']);
});

test('a job nobody asked about is charged to the groups above it, though only its project is known', async () => {
  const { bench, ledger, rules } = house();
  await bench.run();
  bench.clock.advance(MINUTE_MS);
  const end = { jobId: 900, durationSeconds: 60, endedAtMs: bench.clock.nowMs() };
  const truth = {
    jobId: 900,
    projectId: 11,
    status: 'success' as const,
    startedAtMs: end.endedAtMs - 60_000,
    finishedAtMs: end.endedAtMs,
  };
  await chargeBypass([{ truth, end }], {
    ledger,
    currentRules: rules.rulesFor,
    clock: bench.clock,
    log: silentLog,
  });
  const [record] = await ledger.readRecords([900]);
  expect(record?.facts).toMatchObject({ rootId: 1, groupId: 3, projectId: 11 });
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

test('10 000 groups are live after one run and 100 000 projects after four, at 400 calls a run', async () => {
  const { gitlab, calls } = largeGitLab({ roots: 100, groups: 10_000, projects: 100_000 });
  const bench = syncBench();
  const reports = [];
  for (let runs = 0; runs < 4; runs += 1) reports.push(await bench.run({ gitlab }));
  expect(reports[0]).toMatchObject({ live: true, groups: 10_000, projectsGoing: true });
  for (const { calls: used } of reports) expect(used).toBeLessThanOrEqual(CALLS_MAX);
  expect(reports.at(-1)).toMatchObject({ projectsGoing: false });
  expect(reports.reduce((sum, { projectsListed }) => sum + projectsListed, 0)).toBe(100_000);
  // 100 a run for the groups; 1 000 for the projects, and at most a chunk's pages again where a run began anew.
  expect(calls.groups).toBe(400);
  expect(calls.projects).toBeGreaterThanOrEqual(1_000);
  expect(calls.projects).toBeLessThanOrEqual(1_000 + 3 * 12 + 3);
  // Until the next day a run is the groups and one question about projects.
  expect(await bench.run({ gitlab })).toMatchObject({ calls: 101 });
  const directory = await bench.reader().directoryFor([{ projectId: 99_999 }]);
  expect(directory?.projectById.get(99_999)?.path).toBe('group-100/team-10000/service-99999');
});

test('where groups alone are more than a run can ask for, projects still get their turn', async () => {
  const { gitlab } = largeGitLab({ roots: 10, groups: 100_000, projects: 30_000 });
  const bench = syncBench();
  const reports = [];
  for (let runs = 0; runs < 4; runs += 1) reports.push(await bench.run({ gitlab }));
  expect(reports.map(({ groupsListing }) => groupsListing)).toEqual(['going', 'going', 'going', 'listed']);
  expect(reports.at(-1)).toMatchObject({ live: true, groups: 100_000, projectsGoing: false });
});
