import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { reasonsOf } from './checking.ts';

const job = {
  namespaceId: 104,
  rootNamespaceId: 100,
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  runnerTags: ['large'],
  ref: 'main',
  environment: 'production',
  pipelineSource: 'push',
  jobName: 'deploy',
} as const;

/** `undefined`: not sent. */
type Given = { readonly [Field in keyof AdmissionRequest]?: AdmissionRequest[Field] | undefined };

test.each<[object, Given, string, string]>([
  [{}, {}, 'everything', 'no condition'],
  [{ not: { groups: [102] } }, {}, 'everything', 'what is left alone is not told'],
  [{ groups: [102, 100] }, {}, 'group acme', 'of the groups the one above the job'],
  [
    { groups: ['{acme,secret}/**'] },
    {},
    'group acme/payments/cards',
    "by path the job's own, not the pattern",
  ],
  [{ groups: [{ id: 104, subtree: false }] }, {}, 'group acme/payments/cards', 'the group alone'],
  [
    { groups: [100] },
    { rootNamespaceId: 7, namespaceId: 8, projectId: undefined, projectPath: undefined },
    'group 8',
    'an id where no path is known',
  ],
  [
    { groups: [100] },
    { rootNamespaceId: undefined, namespaceId: undefined, projectId: undefined, projectPath: undefined },
    'this group',
    'and neither',
  ],
  [{ projects: [1, 2] }, {}, 'project acme/payments/cards/api', "the job's own project"],
  [{ runner_classes: ['large', 'small'] }, {}, 'runner class large', 'and runner class'],
  [{ groups: [100], runner_classes: ['large'] }, {}, 'group acme, runner class large', 'all conditions'],
  [{ runner_tags: ['large'] }, {}, 'this runner', 'runners have no name'],
  [{ users: [7] }, {}, 'this user', 'users are not named'],
  [{ protected: true }, {}, 'protected refs', 'protection'],
  [{ protected: false }, {}, 'refs that are not protected', 'or none'],
  [{ refs: ['m*'], environments: ['prod*'] }, {}, 'ref main, environment production', 'ref and environment'],
  [{ sources: ['push', 'web'], jobs: ['*'] }, {}, 'pipeline source push, job deploy', 'source and job'],
  [{ refs: ['**'] }, { ref: 'x'.repeat(200) }, `ref ${'x'.repeat(115)}…`, 'but not without end'],
])('match %j of %j is told as %s: %s', (match, request, label) => {
  const given = Object.fromEntries(
    Object.entries({ ...job, ...request }).filter(([, value]) => value !== undefined),
  );
  expect(reasonsOf({ kind: 'freeze', match }, given)).toMatchObject([{ frozenLabel: label }]);
});
