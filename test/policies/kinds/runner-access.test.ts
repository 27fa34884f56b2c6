import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { reasonsOf } from './checking.ts';

const access = (allow: readonly object[], parts: object = {}): object => ({
  kind: 'runner-access',
  runner_classes: ['large'],
  allow,
  ...parts,
});
/** In acme/payments/cards, on a large runner. */
const job = {
  runnerTags: ['large'],
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  namespaceId: 104,
  rootNamespaceId: 100,
  userId: 7,
  ref: 'main',
  refProtected: true,
  environment: 'production',
  pipelineSource: 'push',
  jobName: 'train',
  variables: {},
} as const;

test.each<[readonly object[], Partial<AdmissionRequest>, string | undefined, string]>([
  [[{ groups: [101] }], {}, undefined, 'and one of a group below it'],
  [[{ groups: [102] }], {}, 'RUNNER_SCOPE', 'one of another group does not'],
  [[{ groups: ['acme/payments/**'] }], {}, undefined, 'a group may be named by its path'],
  [[{ groups: [{ id: 101, subtree: false }] }], {}, 'RUNNER_SCOPE', 'or without what is below it'],
  [[{ projects: [1] }], {}, undefined, 'a project may be named'],
  [[{ users: [8] }], {}, 'RUNNER_SCOPE', 'then another user does not pass'],
  [[{ protected: true }], { refProtected: false }, 'RUNNER_SCOPE', 'an unprotected one does not'],
  [[{ refs: ['release/*'] }], {}, 'RUNNER_SCOPE', 'refs are compared'],
  [
    [{ environments: ['prod*'] }],
    { environment: 'review/1' },
    'RUNNER_SCOPE',
    'another one does not open it',
  ],
  [[{ sources: ['schedule'] }], {}, 'RUNNER_SCOPE', 'and pipeline sources'],
  [[{ groups: [101], users: [8] }], {}, 'RUNNER_SCOPE', 'of one entry all conditions must hold'],
  [[{ groups: [102] }, { users: [7] }], {}, undefined, 'one entry is enough'],
  [[], {}, 'RUNNER_SCOPE', 'an empty list opens it to nobody'],
  [[], { runnerTags: ['free'] }, undefined, 'jobs on other classes pass'],
])('%j on %j gives %s: %s', (allow, request, code) => {
  expect(reasonsOf(access(allow), { ...job, ...request })[0]?.code).toBe(code);
});

test.each<[readonly object[], readonly string[], string | undefined]>([
  // What cannot be told is a missing field.
  [[{ protected: true }], ['refProtected'], 'refProtected'],
  // But not where another one opens it.
  [[{ protected: true }, { users: [7] }], ['refProtected'], undefined],
  // Nor where it would not help.
  [[{ users: [8], protected: true }], ['refProtected'], 'RUNNER_SCOPE'],
  // No group at all is a missing field.
  [[{ groups: [101] }], ['namespaceId', 'rootNamespaceId', 'projectId', 'projectPath'], 'namespaceId'],
])('%j without %j gives %s', (allow, absent, given) => {
  const request = Object.fromEntries(Object.entries(job).filter(([key]) => !absent.includes(key)));
  const reasons = reasonsOf(access(allow), request);
  expect(reasons.map((each) => (each.code === 'FIELD_MISSING' ? each.field : each.code))).toEqual(
    given === undefined ? [] : [given],
  );
});

test('a group the directory does not know yet is let in by no security rule; others ask on_missing', () => {
  const unknown = { ...job, projectId: 2, namespaceId: 999, projectPath: 'acme/new/app' };
  expect(reasonsOf(access([{ groups: [101] }]), unknown)).toMatchObject([{ code: 'RUNNER_SCOPE' }]);
  expect(reasonsOf(access([{ groups: [101] }], { class: 'capacity' }), unknown)).toEqual([
    { code: 'FIELD_MISSING', field: 'namespaceId' },
  ]);
  // The root is known, so a group below it that names the root is, too.
  expect(reasonsOf(access([{ groups: [100] }]), unknown)).toEqual([]);
});
