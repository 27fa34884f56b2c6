import { expect, test } from 'vitest';
import { indexDirectory } from '../../../policies/directory.ts';
import { placementOf } from '../../../policies/placement.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

const group = (id: number, path: string, parentId?: number, personal = false) => ({
  id,
  path,
  personal,
  ...(parentId !== undefined && { parentId }),
});
const directory = indexDirectory(
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

test.each<[Partial<AdmissionRequest>, number[], boolean]>([
  // Ids give every group between root and job.
  [{ namespaceId: 104, rootNamespaceId: 100 }, [100, 101, 104], true],
  // An unknown namespace has its root only.
  [{ namespaceId: 999, rootNamespaceId: 100 }, [100], false],
  // Without ids the path is looked up.
  [{ projectPath: 'acme/payments/cards/api' }, [100, 101, 104], true],
  // The longest known prefix of a path counts.
  [{ projectPath: 'acme/payments/new/deep/api' }, [100, 101], false],
  // An id outweighs the path: only the root is taken from it.
  [{ namespaceId: 999, projectPath: 'acme/payments/api' }, [100], false],
  // A contradictory namespace is unknown.
  [{ namespaceId: 104, rootNamespaceId: 100, suspicious: ['namespaceId'] }, [100], false],
  // An unknown contradiction doubts everything.
  [{ namespaceId: 104, rootNamespaceId: 100, suspicious: ['somethingNew'] }, [], false],
  // A contradiction about no identity takes none away.
  [{ namespaceId: 104, suspicious: ['image'] }, [100, 101, 104], true],
])('%j is in %j, known %s', (request, ancestors, known) => {
  expect(ids(request)).toEqual([ancestors, known]);
});

test.each<[Partial<AdmissionRequest>, number[], boolean]>([
  // Levels between are unknown.
  [{ namespaceId: 104, rootNamespaceId: 100, projectPath: 'a/b/c/p' }, [100, 104], false],
  // Two levels are both there.
  [{ namespaceId: 101, rootNamespaceId: 100, projectPath: 'a/b/p' }, [100, 101], true],
  // A top-level group is all there is.
  [{ namespaceId: 100, rootNamespaceId: 100 }, [100], true],
  // A path alone names no id.
  [{ projectPath: 'acme/api' }, [], false],
])('without a directory %j is in %j, known %s', (request, ancestors, known) => {
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
