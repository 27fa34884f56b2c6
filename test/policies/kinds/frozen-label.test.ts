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
  [{ groups: [102, 100] }, {}, 'group acme', 'of the groups the one above the job'],
  [
    { groups: ['{acme,secret}/**'] },
    {},
    'group acme/payments/cards',
    "by path the job's own, not the pattern",
  ],
  [
    { groups: [100] },
    { rootNamespaceId: 7, namespaceId: 8, projectId: undefined, projectPath: undefined },
    'group 8',
    'an id where no path is known',
  ],
  [{ projects: [1, 2] }, {}, 'project acme/payments/cards/api', "the job's own project"],
  [{ groups: [100], runner_classes: ['large'] }, {}, 'group acme, runner class large', 'all conditions'],
  [{ protected: true }, {}, 'protected refs', 'protection'],
  [{ refs: ['m*'], environments: ['prod*'] }, {}, 'ref main, environment production', 'ref and environment'],
  [{ refs: ['**'] }, { ref: 'x'.repeat(200) }, `ref ${'x'.repeat(115)}…`, 'but not without end'],
])('match %j of %j is told as %s: %s', (match, request, label) => {
  const given = Object.fromEntries(
    Object.entries({ ...job, ...request }).filter(([, value]) => value !== undefined),
  );
  expect(reasonsOf({ kind: 'freeze', match }, given)).toMatchObject([{ frozenLabel: label }]);
});
