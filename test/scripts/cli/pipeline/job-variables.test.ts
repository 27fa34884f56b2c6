import { expect, test } from 'vitest';
import { jobVariables } from '../../../../scripts/cli/pipeline/job-variables.ts';

const run = {
  project: { id: 201, path: 'acme/payments/api', namespaceId: 101, rootNamespaceId: 100 },
  pipelineId: 1,
  source: 'push',
  ref: 'main',
  refProtected: true,
  sha: '0',
  userId: 5,
};
const job = { name: 'deploy', stage: 'deploy', services: [], tags: [], variables: {} };

test('a job’s environment comes as GitLab sends it, and a job without one has no such variable', () => {
  const environmentOf = (environment?: string) =>
    jobVariables({ ...job, ...(environment !== undefined && { environment }) }, 1, run).find(
      ({ key }) => key === 'CI_ENVIRONMENT_NAME',
    );
  expect(environmentOf('production')).toMatchObject({ value: 'production', public: true });
  expect(environmentOf()).toBeUndefined();
});
