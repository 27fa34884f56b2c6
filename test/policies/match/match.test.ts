import { expect, test } from 'vitest';
import { checkedJobOf } from '../../../policies/job.ts';
import { matchOf } from '../../../policies/match/match.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aDirectory, aPolicy, NOW_MS } from '../documents.ts';

const job: AdmissionRequest = {
  jobId: 1,
  jobName: 'deploy: [eu]',
  namespaceId: 104,
  rootNamespaceId: 100,
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  userId: 5,
  ref: 'release/2.1',
  refProtected: true,
  pipelineSource: 'push',
  environment: 'production/eu',
  runnerId: 41,
  runnerTags: ['large', 'arm'],
  variables: { TIER: 'prod/eu', EMPTY: '' },
};

function matched(
  match: object,
  more: Partial<AdmissionRequest> = {},
  without: readonly string[] = [],
): unknown {
  const policy = aPolicy({ rules: [{ id: 'r', kind: 'budget', mode: 'enforce', match }] });
  const request = Object.fromEntries(
    Object.entries({ ...job, ...more }).filter(([name]) => !without.includes(name)),
  ) as unknown as AdmissionRequest;
  const compared = checkedJobOf(request, { policy, directory: aDirectory, nowMs: NOW_MS });
  const result = matchOf(policy.rules[0]?.match ?? {}, compared);
  return result.matches === 'missing' ? result.field : result.matches;
}

test.each<[object, object]>([
  [{ groups: [101] }, { groups: [102] }],
  [{ groups: [{ id: 104, subtree: false }] }, { groups: [{ id: 101, subtree: false }] }],
  [{ groups: ['acme/**'] }, { groups: ['acme/*'] }],
  [{ projects: [1] }, { projects: [2] }],
  [{ projects: ['**/api'] }, { projects: ['**/web'] }],
  [{ runner_classes: ['large'] }, { runner_classes: ['small'] }],
  [{ runner_tags: ['gpu', 'arm'] }, { runner_tags: ['gpu'] }],
  [{ runner_ids: [40, 41] }, { runner_ids: [42] }],
  [{ users: [5] }, { users: [6] }],
  [{ refs: ['main', 'release/*'] }, { refs: ['release'] }],
  [{ protected: true }, { protected: false }],
  [{ sources: ['push', 'web'] }, { sources: ['schedule'] }],
  [{ environments: ['production/**'] }, { environments: ['staging'] }],
  [{ jobs: ['deploy*'] }, { jobs: ['build*'] }],
  [{ variables: { TIER: ['dev', 'prod/*'] } }, { variables: { TIER: ['prod*'] } }],
  [{ variables: { TIER: true, OTHER: false } }, { variables: { TIER: true, OTHER: true } }],
  [{ variables: { EMPTY: false } }, { variables: { EMPTY: true } }],
])('%j is met, %j is not', (met, unmet) => {
  expect(matched(met)).toBe(true);
  expect(matched(unmet)).toBe(false);
  expect(matched({ not: unmet })).toBe(true);
  expect(matched({ not: met })).toBe(false);
  // All that are there must hold.
  expect(matched({ ...unmet, users: [6] })).toBe(false);
  expect(matched({ ...met, users: [6] })).toBe(false);
});

test.each<[object, string]>([
  [{ projects: [1] }, 'projectId'],
  [{ runner_tags: ['gpu'] }, 'runnerTags'],
  [{ runner_ids: [41] }, 'runnerId'],
  [{ users: [5] }, 'userId'],
  [{ refs: ['main'] }, 'ref'],
  [{ protected: true }, 'refProtected'],
  [{ sources: ['push'] }, 'pipelineSource'],
  [{ jobs: ['deploy'] }, 'jobName'],
  [{ variables: { TIER: true } }, 'variables'],
])('%j cannot be told without %s', (match, field) => {
  expect(matched(match, {}, [field])).toBe(field);
});

test('a job has no environment if GitLab sent variables and none of them names one', () => {
  expect(matched({ environments: ['**'] }, {}, ['environment'])).toBe(false);
  expect(matched({ not: { environments: ['**'] } }, {}, ['environment'])).toBe(true);
  expect(matched({ environments: ['**'] }, {}, ['environment', 'variables'])).toBe('environment');
});

test.each([true, false, ['prod/*']])(
  'a variable that nobody can tell is a missing field, whatever is asked of it: %j',
  (wanted) => {
    const hidden = { variables: {}, hiddenVariables: ['TIER'] };
    expect(matched({ variables: { TIER: wanted } }, hidden)).toBe('variables.TIER');
    // What fails for certain outweighs it.
    expect(matched({ variables: { TIER: wanted, OTHER: true } }, hidden)).toBe(false);
  },
);
