import { expect, test } from 'vitest';
import { type DirectoryGroup, indexDirectory } from '../../policies/directory.ts';
import { aJob, ONE, ran, world } from './world.ts';

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
    directory: indexDirectory(TWO_ROOTS),
  });
  const before = { namespaceId: 101, projectPath: 'acme/payments/api' };
  await outcome(aJob(1, before));
  edit({ directory: indexDirectory([group(100, 'acme'), group(101, 'acme/treasury', 100)]) });
  const after = { namespaceId: 101, projectPath: 'acme/treasury/api' };
  const [, rejected] = await ask([aJob(2, after), aJob(3, after)]);
  expect(await committed('group/101')).toBe(2 * ONE);
  expect(rejected).toMatchObject({ text: expect.stringContaining('acme/treasury') });
});

test('a transfer to another top group: what is held settles where it was admitted, the next job counts in the new group', async () => {
  const limits = [budget(100), budget(101), budget(200)];
  const { outcome, edit, hear, settled, committed, drift } = world({
    limits,
    directory: indexDirectory(TWO_ROOTS),
  });
  await outcome(aJob(1, { namespaceId: 101 }));
  edit({
    directory: indexDirectory([group(100, 'acme'), group(200, 'globex'), group(101, 'globex/payments', 200)]),
  });
  await outcome(aJob(2, { namespaceId: 101, rootNamespaceId: 200 }));
  expect(await hear(ran(1, 600))).toMatchObject({ settled: 1 });
  expect([await settled('group/100'), await committed('group/200'), await committed('group/101')]).toEqual([
    ONE,
    ONE,
    2 * ONE,
  ]);
  expect(await drift()).toEqual([]);
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
