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
    { groups: [100] },
    { rootNamespaceId: 7, namespaceId: 8, projectId: undefined, projectPath: undefined },
    'group 8',
    'an id where no path is known',
  ],
  [{ groups: [100], runner_classes: ['large'] }, {}, 'group acme, runner class large', 'all conditions'],
  [{ refs: ['m*'], environments: ['prod*'] }, {}, 'ref main, environment production', 'ref and environment'],
])('match %j of %j is told as %s: %s', (match, request, label) => {
  const given = Object.fromEntries(
    Object.entries({ ...job, ...request }).filter(([, value]) => value !== undefined),
  );
  expect(reasonsOf({ kind: 'freeze', match }, given)).toMatchObject([{ frozenLabel: label }]);
});
