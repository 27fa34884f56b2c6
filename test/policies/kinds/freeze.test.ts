import { expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import { aPolicy, someLimits, using } from '../documents.ts';

const freeze = (parts: object): object => ({ kind: 'freeze', ...parts });
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

test('an exempt job starts all the same, and that is recorded', () => {
  const policy = aPolicy({
    rules: [
      {
        id: 'f',
        mode: 'enforce',
        ...freeze({ exempt: [{ jobs: ['hotfix'], reason: 'INC-7', until: 'never' }] }),
      },
    ],
  });
  const of = (jobName: string): readonly string[] =>
    evaluate({ jobId: 1, ...job, jobName }, using(policy, someLimits({ limits: [] }, policy))).violations.map(
      ({ mode, class: ruleClass }) => `${ruleClass} ${mode}`,
    );
  expect(of('deploy')).toEqual(['capacity enforce']);
  expect(of('hotfix')).toEqual(['capacity shadow']);
});
