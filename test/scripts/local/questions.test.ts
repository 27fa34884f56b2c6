import { expect, test } from 'vitest';
import { loadSchema } from '../../../relay/wire/schema.ts';
import type { PipelineJob } from '../../../scripts/cli/pipeline/expanded-pipeline.ts';
import { NOT_A_SECRET } from '../../../scripts/cli/pipeline/job-variables.ts';
import { pipelineRequests } from '../../../scripts/local/pipeline-router.ts';
import { requestEncoder } from '../../../scripts/local/router/messages.ts';

const projects = [
  { id: 201, path: 'acme/payments/api', namespaceId: 101, rootNamespaceId: 100 },
  { id: 202, path: 'acme/data/ml/models', namespaceId: 104, rootNamespaceId: 100, visibility: 'public' },
];
const jobs: readonly PipelineJob[] = [
  {
    name: 'unit',
    stage: 'test',
    image: 'alpine:3',
    services: [],
    tags: ['large'],
    variables: {},
  },
  {
    name: 'deploy',
    stage: 'deploy',
    services: [{ name: 'postgres:17', alias: 'db' }],
    tags: [],
    timeoutSeconds: 600,
    variables: { CI_PROJECT_ID: '1', KUBERNETES_CPU_REQUEST: '8' },
  },
];

interface Asked {
  readonly variables: { key: string; value: string; public: boolean; masked: boolean; file: boolean }[];
}

test('secrets ride along, never as public, and stand only where secrets do', () => {
  const [question] = JSON.parse(JSON.stringify([...pipelineRequests(jobs, projects, 2, 1)])) as Asked[];
  const secret = question?.variables.filter(({ value }) => value.includes(NOT_A_SECRET)) ?? [];
  expect(secret.map(({ key }) => key)).toContain('CI_JOB_TOKEN');
  expect(secret.every((variable) => !variable.public && (variable.masked || variable.file))).toBe(true);
  expect(JSON.stringify({ ...question, variables: [] })).not.toContain(NOT_A_SECRET);
});

test('every key is in the wire schema, also of pull policies, users and a service’s variables', () => {
  const options = { pullPolicies: ['never'], dockerUser: 'node', kubernetesUser: '1000' };
  const job: PipelineJob = {
    ...{ name: 'a', stage: 'test', image: 'alpine:3', tags: [], variables: {}, ...options },
    services: [{ name: 'db', kubernetesUser: '999', variables: { KUBERNETES_SERVICE_CPU_LIMIT: '2' } }],
  };
  const questions = [...pipelineRequests([job, ...jobs], projects, 6, 1)];
  const encode = requestEncoder(loadSchema().request, true);
  for (const question of questions) expect(() => encode(question)).not.toThrow();
  expect(questions[0]).toMatchObject({
    image: {
      name: 'alpine:3',
      pull_policy: ['never'],
      executor_opts: { docker: { user: 'node' }, kubernetes: { user: '1000' } },
    },
    services: [
      {
        name: 'db',
        executor_opts: { kubernetes: { user: '999' } },
        variables: [{ key: 'KUBERNETES_SERVICE_CPU_LIMIT', value: '2', public: true }],
      },
    ],
  });
});
