import { expect, test } from 'vitest';
import { type DirectoryGroup, directoryOf } from '../../policies/directory.ts';
import { aJob, DAY_MS, neverRan, ONE, ran, range, world } from './world.ts';

const budget = (group: number, money = 10) => ({ on: { group }, money, per: 'month' });
const group = (id: number, path: string, parentId?: number, personal = false): DirectoryGroup => ({
  id,
  path,
  personal,
  ...(parentId !== undefined && { parentId }),
});
const TWO_ROOTS = [
  group(100, 'acme'),
  group(101, 'acme/payments', 100),
  group(200, 'globex'),
  group(190, 'jane', undefined, true),
];

test('a rename keeps the counter: ids are the key, the text names the new path', async () => {
  const { ask, outcome, edit, committed } = world({
    limits: [budget(101, 2)],
    directory: directoryOf(TWO_ROOTS),
  });
  const before = { namespaceId: 101, projectPath: 'acme/payments/api' };
  await outcome(aJob(1, before));
  edit({ directory: directoryOf([group(100, 'acme'), group(101, 'acme/treasury', 100)]) });
  const after = { namespaceId: 101, projectPath: 'acme/treasury/api' };
  const [, rejected] = await ask([aJob(2, after), aJob(3, after)]);
  expect(await committed('group/101')).toBe(2 * ONE);
  expect(rejected).toMatchObject({ text: expect.stringContaining('acme/treasury') });
});

test('a transfer to another top group: what is held settles where it was admitted, the next job counts in the new group', async () => {
  const limits = [budget(100), budget(101), budget(200)];
  const { outcome, edit, hear, settled, committed, drift } = world({
    limits,
    directory: directoryOf(TWO_ROOTS),
  });
  await outcome(aJob(1, { namespaceId: 101 }));
  edit({
    directory: directoryOf([group(100, 'acme'), group(200, 'globex'), group(101, 'globex/payments', 200)]),
  });
  await outcome(aJob(2, { namespaceId: 101, rootNamespaceId: 200 }));
  expect(await hear(ran(1, 600))).toEqual(['applied']);
  expect([await settled('group/100'), await committed('group/200'), await committed('group/101')]).toEqual([
    ONE,
    ONE,
    2 * ONE,
  ]);
  expect(await drift()).toEqual([]);
});

test('a path reused by another project has the other project’s counters', async () => {
  const limits = [{ on: { project: 1 }, money: 1, per: 'month' }];
  const { outcome, committed } = world({ limits });
  await outcome(aJob(1));
  expect(await outcome(aJob(2))).toBe('BUDGET_EXHAUSTED');
  expect(await outcome(aJob(3, { projectId: 2 }))).toBe('admitted');
  expect([await committed('project/1'), await committed('project/2')]).toEqual([ONE, 0]);
});

test('path case makes no other group where GitLab sends no ids', async () => {
  const { outcome, committed } = world({ limits: [budget(101, 2)] });
  const named = (jobId: number, projectPath: string) => {
    const { projectId: _, namespaceId: __, rootNamespaceId: ___, ...job } = aJob(jobId, { projectPath });
    return job;
  };
  const paths = ['acme/payments/api', 'ACME/Payments/api', 'acme/PAYMENTS/API'];
  const words = [];
  for (const [index, path] of paths.entries()) words.push(await outcome(named(index + 1, path)));
  expect(words).toEqual(['admitted', 'admitted', 'BUDGET_EXHAUSTED']);
  expect(await committed('group/101')).toBe(2 * ONE);
});

test('unicode in paths and names is counted, recorded and told as it is; written otherwise it is the same group by its id', async () => {
  const name = 'Lösung ▸ 測試 🚀';
  const path = 'größe/проект';
  const directory = directoryOf([group(100, 'größe'), group(300, path, 100)]);
  const { ask, record } = world({ limits: [budget(300, 1)], directory });
  const job = (jobId: number) =>
    aJob(jobId, { namespaceId: 300, projectPath: `${path}/тест`, jobName: name });
  const [, rejected] = await ask([job(1), job(2)]);
  expect(rejected).toMatchObject({ outcome: 'rejected', text: expect.stringContaining(path) });
  expect((await record(1))?.facts).toMatchObject({ jobName: name, projectPath: `${path}/тест` });
  const decomposed = `${path}/т`.normalize('NFD');
  expect((await ask([aJob(3, { namespaceId: 300, projectPath: decomposed })]))[0]).toMatchObject({
    outcome: 'rejected',
  });
});

test('20 levels are all asked and all charged, and the fullest one decides', async () => {
  const ids = range(1_000, 20);
  const groups = ids.map((id, depth) =>
    group(
      id,
      ids
        .slice(0, depth + 1)
        .map((each) => `g${each}`)
        .join('/'),
      depth === 0 ? undefined : id - 1,
    ),
  );
  const limits = ids.map((id) => budget(id, id === 1_010 ? 1 : 50));
  const { ask, committed, hear } = world({ limits, directory: directoryOf(groups) });
  const job = (jobId: number) => aJob(jobId, { namespaceId: 1_019, rootNamespaceId: 1_000 });
  const [first, second] = await ask([job(1), job(2)]);
  expect(first?.outcome).toBe('admitted');
  expect(second).toMatchObject({ violations: [{ reason: { subject: 'group/1010' } }] });
  await hear(ran(1, 60));
  expect(await Promise.all(ids.map((id) => committed(`group/${id}`)))).toEqual(ids.map(() => 100_000));
});

test('forks: the fork’s namespace pays, not the project it was forked from', async () => {
  const { outcome, committed } = world({ limits: [budget(100), budget(190)] });
  const fork = { projectId: 77, projectPath: 'jane/api', namespaceId: 190, rootNamespaceId: 190 };
  expect(await outcome(aJob(1, { ...fork, pipelineSource: 'merge_request_event' }))).toBe('admitted');
  expect([await committed('group/190'), await committed('group/100')]).toEqual([ONE, 0]);
});

test('personal namespaces have the default limits, each its own counter, unless one of its own kind is written', async () => {
  const limits = { limits: [budget(191, 3)], personal_default: [{ money: 1, per: 'month' }] };
  const people = [
    group(190, 'jane', undefined, true),
    group(191, 'joe', undefined, true),
    group(192, 'ann', undefined, true),
  ];
  const { outcome, committed } = world({ limits, directory: directoryOf(people) });
  const of = (jobId: number, id: number) =>
    aJob(jobId, { projectId: id * 10, namespaceId: id, rootNamespaceId: id });
  expect([await outcome(of(1, 190)), await outcome(of(2, 190)), await outcome(of(3, 192))]).toEqual([
    'admitted',
    'BUDGET_EXHAUSTED',
    'admitted',
  ]);
  expect([
    await outcome(of(4, 191)),
    await outcome(of(5, 191)),
    await outcome(of(6, 191)),
    await outcome(of(7, 191)),
  ]).toEqual(['admitted', 'admitted', 'admitted', 'BUDGET_EXHAUSTED']);
  expect([await committed('group/190'), await committed('group/191'), await committed('group/192')]).toEqual([
    ONE,
    3 * ONE,
    ONE,
  ]);
});

test('child, parent and multi-project pipelines: each job is paid by the group of its own project, whoever triggered it', async () => {
  const { outcome, committed } = world({ limits: [budget(104), budget(102)] });
  await outcome(aJob(1, { pipelineId: 1, pipelineSource: 'push' }));
  await outcome(aJob(2, { pipelineId: 2, pipelineSource: 'parent_pipeline' }));
  await outcome(
    aJob(3, {
      pipelineId: 3,
      pipelineSource: 'pipeline',
      projectId: 9,
      namespaceId: 102,
      projectPath: 'acme/platform/x',
    }),
  );
  expect([await committed('group/104'), await committed('group/102')]).toEqual([2 * ONE, ONE]);
});

test('trigger jobs have no runner and never arrive: nothing waits for them, and a word about one charges nothing', async () => {
  const { hear, record, committed, ledger, clock } = world({ limits: [budget(100)] });
  const { runnerId: _, startedAtMs: __, finishedAtMs: ___, durationSeconds: ____, ...trigger } = ran(1, 60);
  const words = await hear({ ...trigger, status: 'pending' }, { ...trigger, jobId: 2 }, neverRan(3));
  expect(words).toEqual(['ignored', 'unclear', 'ignored']);
  expect([await record(1), await record(2), await record(3)]).toEqual([undefined, undefined, undefined]);
  expect(await committed('group/100')).toBe(0);
  expect(await ledger.dueJobs(clock.nowMs() + 365 * DAY_MS, 100)).toEqual([]);
});
