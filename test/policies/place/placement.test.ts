import { expect, test } from 'vitest';
import { directoryOf } from '../../../policies/directory.ts';
import { placementOf } from '../../../policies/placement.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const group = (id: number, path: string, parentId?: number, personal = false) => ({
  id,
  path,
  personal,
  ...(parentId !== undefined && { parentId }),
});
const directory = directoryOf(
  [
    group(100, 'acme'),
    group(101, 'acme/Payments', 100),
    group(104, 'acme/payments/cards', 101),
    group(190, 'jane', undefined, true),
  ],
  [{ id: 1, groupId: 104, path: 'acme/payments/cards/api', visibility: 'public' }],
);

const ids = (request: Partial<AdmissionRequest>, dir: typeof directory | undefined = directory) => {
  const placement = placementOf({ jobId: 1, ...request }, dir);
  return [placement.ancestors.map(({ id }) => id), placement.known];
};

test.each<[Partial<AdmissionRequest>, number[], boolean, string]>([
  [
    { namespaceId: 104, rootNamespaceId: 100 },
    [100, 101, 104],
    true,
    'ids give every group between root and job',
  ],
  [{ namespaceId: 999, rootNamespaceId: 100 }, [100], false, 'an unknown namespace has its root only'],
  [{ projectPath: 'acme/payments/cards/api' }, [100, 101, 104], true, 'without ids the path is looked up'],
  [
    { projectPath: 'acme/payments/new/deep/api' },
    [100, 101],
    false,
    'the longest known prefix of a path counts',
  ],
  [
    { namespaceId: 999, projectPath: 'acme/payments/api' },
    [100],
    false,
    'an id outweighs the path: only the root is taken from it',
  ],
  [
    { namespaceId: 104, rootNamespaceId: 100, suspicious: ['namespaceId'] },
    [100],
    false,
    'a contradictory namespace is unknown',
  ],
  [
    { namespaceId: 104, rootNamespaceId: 100, suspicious: ['somethingNew'] },
    [],
    false,
    'an unknown contradiction doubts everything',
  ],
  [
    { namespaceId: 104, suspicious: ['image'] },
    [100, 101, 104],
    true,
    'a contradiction about no identity takes none away',
  ],
])('%j is in %j, known %s: %s', (request, ancestors, known) => {
  expect(ids(request)).toEqual([ancestors, known]);
});

test.each<[Partial<AdmissionRequest>, number[], boolean, string]>([
  [
    { namespaceId: 104, rootNamespaceId: 100, projectPath: 'a/b/c/p' },
    [100, 104],
    false,
    'levels between are unknown',
  ],
  [
    { namespaceId: 101, rootNamespaceId: 100, projectPath: 'a/b/p' },
    [100, 101],
    true,
    'two levels are both there',
  ],
  [{ namespaceId: 100, rootNamespaceId: 100 }, [100], true, 'a top-level group is all there is'],
  [{ projectPath: 'acme/api' }, [], false, 'a path alone names no id'],
])('without a directory %j is in %j, known %s: %s', (request, ancestors, known) => {
  expect(placementOf({ jobId: 1, ...request }, undefined)).toMatchObject({
    ancestors: ancestors.map((id) => ({ id })),
    known,
  });
});

test('a contradictory user or project is not named', () => {
  const placement = placementOf(
    { jobId: 1, userId: 5, projectId: 1, namespaceId: 104, suspicious: ['userId', 'projectId'] },
    directory,
  );
  expect(placement).not.toHaveProperty('userId');
  expect(placement).not.toHaveProperty('projectId');
  expect(placement.groupId).toBe(104);
});

test('a personal namespace is personal, with a path from the directory and visibility from the project', () => {
  expect(placementOf({ jobId: 1, namespaceId: 190 }, directory)).toMatchObject({
    personal: true,
    groupPath: 'jane',
  });
  expect(placementOf({ jobId: 1, projectId: 1 }, directory).visibility).toBe('public');
});

test('a ring of parents or a parent that is not there gives no chain', () => {
  const broken = directoryOf([group(1, 'a', 2), group(2, 'b', 1), group(3, 'c', 9)]);
  expect([...broken.chainById.keys()]).toEqual([]);
});
