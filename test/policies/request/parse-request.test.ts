import { expect, test } from 'vitest';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';

const problemsOf = (input: unknown): readonly string[] => {
  const parsed = parseAdmissionRequest(input);
  return parsed.ok ? [] : parsed.problems;
};

test('a full request comes through as it is', () => {
  const request = {
    jobId: 9_007_199_254_740_991,
    jobName: 'build',
    jobStage: 'test',
    pipelineId: 2,
    pipelineSource: 'push',
    projectId: 3,
    projectPath: 'acme/api',
    projectVisibility: 'private',
    namespaceId: 4,
    rootNamespaceId: 5,
    organizationId: 6,
    userId: 7,
    ref: 'main',
    refType: 'branch',
    refProtected: false,
    environment: 'prod',
    image: 'alpine:3',
    pullPolicies: ['always', 'if-not-present'],
    dockerUser: 'node',
    kubernetesUser: '1000:1001',
    services: [
      {
        name: 'postgres:18',
        alias: 'db',
        pullPolicies: ['never'],
        dockerUser: 'postgres',
        kubernetesUser: '999',
        variables: { KUBERNETES_SERVICE_CPU_REQUEST: '2' },
      },
      { name: 'redis:8' },
    ],
    jobTags: [],
    runnerTags: ['linux'],
    runnerId: 8,
    runnerUuid: 'r-8',
    timeoutSeconds: 3_600,
    variables: { CI_COMMIT_TAG: '' },
    suspicious: ['projectPath'],
  };
  expect(parseAdmissionRequest(request)).toEqual({ ok: true, value: request });
});

test('absent, null, empty text and id 0 say nothing; unknown fields are passed over', () => {
  const request = {
    jobId: 1,
    image: '',
    jobName: null,
    dockerUser: '',
    pullPolicies: [],
    projectId: 0,
    variables: null,
    somethingNew: { deep: [1] },
  };
  expect(parseAdmissionRequest(request)).toEqual({ ok: true, value: { jobId: 1 } });
});

test('a problem in a service names the service', () => {
  const services = [
    { name: 'a', pullPolicies: 'always', dockerUser: 0, kubernetesUser: [], variables: { A: 1, ' ': 2 } },
    { name: 'b', pullPolicies: [1], variables: 'x', alias: 5 },
  ];
  expect(problemsOf({ jobId: 1, pullPolicies: [null], services })).toEqual([
    'pullPolicies[0]: null; expected a text of at most 4096 characters',
    'services[0].pullPolicies: a text of 6 characters; expected a list',
    'services[0].dockerUser: 0; expected a text of at most 4096 characters',
    'services[0].kubernetesUser: a list of 0; expected a text of at most 4096 characters',
    'services[0].variables.A: 1; expected a text of at most 16384 characters',
    'services[0].variables: 2; expected a text of at most 16384 characters',
    'services[1].alias: 5; expected a text of at most 4096 characters',
    'services[1].pullPolicies[0]: 1; expected a text of at most 4096 characters',
    'services[1].variables: a text of 1 characters; expected an object of texts',
  ]);
});

test('every problem is named with its field', () => {
  const request = {
    jobId: '1',
    projectId: -1,
    image: 5,
    refProtected: 'yes',
    services: [{}, 'x'],
    runnerTags: [1],
    jobTags: 'linux',
    variables: { A: 1 },
    timeoutSeconds: 1.5,
  };
  expect(problemsOf(request)).toEqual([
    'jobId: a text of 1 characters; expected a whole number from 1 to 2^53 - 1',
    'image: 5; expected a text of at most 4096 characters',
    'projectId: -1; expected a whole number from 0 to 9007199254740991',
    'timeoutSeconds: 1.5; expected a whole number from 0 to 31622400',
    'refProtected: a text of 3 characters; expected true or false',
    'services[0].name: missing; expected an image',
    'services[1]: a text of 1 characters; expected {"name": …}',
    'jobTags: a text of 5 characters; expected a list',
    'runnerTags[0]: 1; expected a text of at most 4096 characters',
    'variables.A: 1; expected a text of at most 16384 characters',
  ]);
});

test.each([undefined, null, 1, 'x', [], [{ jobId: 1 }]])('%j is no request', (input) => {
  expect(problemsOf(input)).toHaveLength(1);
});

test.each([0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, true])(
  'job id %s is refused',
  (jobId) => {
    expect(problemsOf({ jobId })).toHaveLength(1);
  },
);

test('a problem never quotes a text, which could be a secret that went astray', () => {
  const secret = 'glrt-secret';
  const problems = problemsOf({
    jobId: secret,
    projectId: secret,
    services: secret,
    variables: { [secret]: 1, A: secret.repeat(2_000) },
  });
  expect(problems).toHaveLength(5);
  expect(problems.join()).not.toContain(secret);
});

test.each([
  ['a text', { image: 'x'.repeat(4_097) }],
  ['a list of pull policies', { pullPolicies: Array.from({ length: 101 }, () => 'x') }],
  ['a user', { kubernetesUser: '1'.repeat(4_097) }],
  ['a list of services', { services: Array.from({ length: 101 }, () => ({ name: 'x' })) }],
  ['a list of tags', { runnerTags: Array.from({ length: 201 }, () => 'x') }],
  ['variables', { variables: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`V${at}`, ''])) }],
])('%s beyond its bound is refused', (_, fields) => {
  expect(problemsOf({ jobId: 1, ...fields })).toHaveLength(1);
});

test('__proto__ in JSON reaches no prototype', () => {
  const parsed = parseAdmissionRequest(
    JSON.parse('{"jobId":1,"__proto__":{"image":"evil"},"variables":{"__proto__":"x","constructor":"y"}}'),
  );
  if (!parsed.ok) throw new Error(parsed.problems.join());
  expect(parsed.value.image).toBeUndefined();
  expect(Object.getPrototypeOf(parsed.value.variables)).toBe(Object.prototype);
  expect(Object.entries(parsed.value.variables ?? {})).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ]);
  expect('x' in {}).toBe(false);
});
