import { describe, expect, test } from 'vitest';
import { LABEL_LENGTH_MAX, LIST_LENGTH_MAX, TEXT_LENGTH_MAX } from '../../../relay/translate/aliases.ts';
import {
  compileTranslator,
  type Translation,
  type TranslatorOptions,
} from '../../../relay/translate/translator.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { descOf, messageFrom, type Shape } from '../../support/relay/desc-of.ts';

const OPTIONS: TranslatorOptions = { variables: { names: [], prefixes: [] }, trustVariables: false };
const TRUSTING: TranslatorOptions = { ...OPTIONS, trustVariables: true };
const VARIABLE = { key: 'string', value: 'string', public: 'bool', file: 'bool', masked: 'bool' } as const;

function translate(shape: Shape, json: Record<string, unknown>, options = OPTIONS): Translation {
  const desc = descOf(shape);
  return compileTranslator(desc, options)(messageFrom(desc, json));
}

const requestOf = (translation: Translation) => {
  if (!translation.ok) throw new Error(translation.problem);
  return translation.request;
};

test.each<[string, Shape, Record<string, unknown>, Record<string, unknown>]>([
  [
    'reads flat fields',
    { job_id: 'int64', project_full_path: 'string', namespace_id: 'int64', user_id: 'int64' },
    { job_id: '7', project_full_path: 'acme/web', namespace_id: '5', user_id: '3' },
    { jobId: 7, projectPath: 'acme/web', namespaceId: 5, userId: 3 },
  ],
  [
    'reads an image given as text',
    { id: 'int64', image: 'string', services: [{ name: 'string' }] },
    { id: '7', image: 'ruby:3', services: [{ name: 'redis:7' }] },
    { jobId: 7, image: 'ruby:3', services: [{ name: 'redis:7' }] },
  ],
  [
    'reads a timeout given as a duration',
    { id: 'int64', runner_info: { timeout: { seconds: 'int64' } } },
    { id: '7', runner_info: { timeout: { seconds: '3600' } } },
    { jobId: 7, timeoutSeconds: 3600 },
  ],
  [
    'takes the job over the question number when both are there',
    { id: 'int64', job_info: { id: 'int64' } },
    { id: '1', job_info: { id: '7' } },
    { jobId: 7 },
  ],
])('%s', (_name, shape, json, expected) => {
  expect(requestOf(translate(shape, json))).toEqual(expected);
});

test('an empty or zero field counts as not sent', () => {
  const shape = { id: 'int64', ref: 'string', user_id: 'int64', job_info: { tags: ['string'] } } as const;
  expect(requestOf(translate(shape, { id: '7', job_info: {} }))).toEqual({ jobId: 7 });
});

test('a field with presence keeps its false, one without cannot say it', () => {
  const asked = { id: '7', git_info: { protected: false } };
  expect(requestOf(translate({ id: 'int64', git_info: { protected: 'bool?' } }, asked)).refProtected).toBe(
    false,
  );
  expect(
    requestOf(translate({ id: 'int64', git_info: { protected: 'bool' } }, asked)).refProtected,
  ).toBeUndefined();
});

test.each([
  ['no job id', { id: '0' }, 'no job id came'],
  ['a negative job id', { id: '-7' }, 'id is not a whole number from 1 to 2^53 - 1'],
  ['a job id beyond 2^53', { id: '9007199254740993' }, 'id is not a whole number from 1 to 2^53 - 1'],
  [
    'a project id beyond 2^53',
    { id: '7', project_id: '9007199254740993' },
    'project_id is not a whole number',
  ],
])('a question with %s is unreadable, and says so without its value', (_name, json, problem) => {
  const shape = { id: 'int64', project_id: 'int64', image: 'string' } as const;
  const translation = translate(shape, json);
  expect(translation).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  expect(JSON.stringify(translation)).not.toContain('9007199254740993');
});

test('what an author writes beyond its bound is unknown and marked, and the question stays readable', () => {
  const shape = {
    id: 'int64',
    image: 'string',
    ref: 'string',
    timeout: 'int64',
    services: [{ name: 'string' }],
    tags: ['string'],
    variables: [VARIABLE],
  } as const;
  const long = 'x'.repeat(TEXT_LENGTH_MAX + 1);
  const request = requestOf(
    translate(shape, {
      id: '7',
      image: long,
      ref: long,
      timeout: '99999999',
      services: [{ name: long }, ...Array(LIST_LENGTH_MAX).fill({ name: 'redis:7' })],
      tags: Array(LIST_LENGTH_MAX + 1).fill(long),
      // No variable stands in for a field that came.
      variables: [{ key: 'CI_COMMIT_REF_NAME', value: 'main', public: true }],
    }),
  );
  const cut = `${long.slice(0, LABEL_LENGTH_MAX)}$…`;
  expect(request).toMatchObject({ jobId: 7, image: cut });
  expect(request).not.toHaveProperty('ref');
  expect(request).not.toHaveProperty('timeoutSeconds');
  expect(request.services).toHaveLength(LIST_LENGTH_MAX);
  expect(request.services?.[0]).toEqual({ name: cut });
  expect(request.services?.at(-1)).toEqual({ name: '$…' });
  expect(request.jobTags).toEqual(Array(LIST_LENGTH_MAX).fill(long.slice(0, LABEL_LENGTH_MAX)));
});

const WITH_VARIABLES = {
  id: 'int64',
  project_id: 'int64',
  runner_info: { tags: ['string'] },
  variables: [VARIABLE],
} as const;
const variable = (key: string, value: string, flags: object = { public: true }) => ({ key, value, ...flags });

test('context comes from variables where no field has it', () => {
  const request = requestOf(
    translate(WITH_VARIABLES, {
      id: '7',
      variables: [
        variable('CI_PIPELINE_SOURCE', 'schedule'),
        variable('CI_COMMIT_REF_NAME', 'main'),
        variable('CI_COMMIT_REF_PROTECTED', 'true'),
        variable('CI_ENVIRONMENT_NAME', 'production'),
        variable('CI_RUNNER_TAGS', 'large, linux'),
      ],
    }),
  );
  expect(request).toMatchObject({
    pipelineSource: 'schedule',
    ref: 'main',
    refProtected: true,
    environment: 'production',
    runnerTags: ['large', 'linux'],
  });
});

test('identity comes from variables only when the operator trusts them', () => {
  const json = {
    id: '7',
    variables: [variable('CI_PROJECT_ID', '42'), variable('CI_PROJECT_PATH', 'acme/web')],
  };
  expect(requestOf(translate(WITH_VARIABLES, json)).projectId).toBeUndefined();
  expect(requestOf(translate(WITH_VARIABLES, json, TRUSTING))).toMatchObject({
    projectId: 42,
    projectPath: 'acme/web',
  });
});

test('a typed id wins over a variable that contradicts it, and the contradiction is told', () => {
  const json = { id: '7', project_id: '42', variables: [variable('CI_PROJECT_ID', '666')] };
  const translation = translate(WITH_VARIABLES, json, TRUSTING);
  expect(translation).toMatchObject({ ok: true, request: { projectId: 42 }, suspicious: ['projectId'] });
  // The subject is certain: a user must not be able to make it unknown by setting a variable.
  expect(requestOf(translation).suspicious).toBeUndefined();
});

test('a variable that came twice with different values makes the subject unknown', () => {
  const json = { id: '7', variables: [variable('CI_PROJECT_ID', '42'), variable('CI_PROJECT_ID', '666')] };
  const translation = translate(WITH_VARIABLES, json, TRUSTING);
  const request = requestOf(translation);
  expect(request.projectId).toBeUndefined();
  expect(request.suspicious).toEqual(['projectId']);
  expect(request.variables).toEqual({});
  expect(translation).toMatchObject({ suspicious: ['projectId'] });
  expect(JSON.stringify(translation)).not.toContain('666');
});

test('a question in our own schema fills every field it has', () => {
  const { request: question } = loadSchema();
  const message = messageFrom(question, {
    jobInfo: {
      id: '7',
      name: 'build',
      stage: 'test',
      pipelineId: '70',
      projectId: '42',
      projectFullPath: 'acme/web',
      namespaceId: '5',
      rootNamespaceId: '1',
      organizationId: '2',
      userId: '3',
      tags: ['large'],
    },
    gitInfo: { ref: 'main', refType: 'branch', protected: false },
    runnerInfo: { id: '9', uuid: 'u-1', timeout: '3600', tags: ['large'] },
    image: {
      name: 'ruby:3',
      pullPolicy: ['always', 'if-not-present'],
      executorOpts: { docker: { user: 'node' }, kubernetes: { user: '1000:1001' } },
    },
    services: [
      {
        name: 'redis:7',
        alias: 'cache',
        pullPolicy: ['never'],
        executorOpts: { docker: { user: 'redis' }, kubernetes: { user: '999' } },
        variables: [{ key: 'KUBERNETES_SERVICE_CPU_REQUEST', value: '2', public: true }],
      },
    ],
    variables: [{ key: 'CI_PIPELINE_SOURCE', value: 'push', public: true }],
  });
  expect(requestOf(compileTranslator(question, OPTIONS)(message))).toEqual({
    jobId: 7,
    jobName: 'build',
    jobStage: 'test',
    pipelineId: 70,
    pipelineSource: 'push',
    projectId: 42,
    projectPath: 'acme/web',
    namespaceId: 5,
    rootNamespaceId: 1,
    organizationId: 2,
    userId: 3,
    ref: 'main',
    refType: 'branch',
    refProtected: false,
    image: 'ruby:3',
    pullPolicies: ['always', 'if-not-present'],
    dockerUser: 'node',
    kubernetesUser: '1000:1001',
    services: [
      {
        name: 'redis:7',
        alias: 'cache',
        pullPolicies: ['never'],
        dockerUser: 'redis',
        kubernetesUser: '999',
        variables: { KUBERNETES_SERVICE_CPU_REQUEST: '2' },
      },
    ],
    jobTags: ['large'],
    runnerTags: ['large'],
    runnerId: 9,
    runnerUuid: 'u-1',
    timeoutSeconds: 3600,
    variables: { CI_PIPELINE_SOURCE: 'push' },
  });
});

test.each([
  ['project_42_bot_4ffca2', true],
  ['service_account_group_7_2b81c9', true],
  ['jane', false],
])('a user named %s is a bot: %s, and the name stays here', (login, byBot) => {
  const variables = [variable('GITLAB_USER_LOGIN', login)];
  const request = requestOf(translate(WITH_VARIABLES, { id: '7', variables }));
  expect(request.byBot).toBe(byBot);
  expect(JSON.stringify(request)).not.toContain(login);
});

test('of a service’s variables only what the executor acts on survives, and no secret', () => {
  const shape = { id: 'int64', services: [{ name: 'string', variables: [VARIABLE] }] } as const;
  const variables = [
    variable('KUBERNETES_SERVICE_MEMORY_LIMIT', '1Gi', {}),
    variable('POSTGRES_PASSWORD', 's3cr3t'),
    variable('KUBERNETES_TOKEN', 's3cr3t'),
    variable('KUBERNETES_SERVICE_CPU_LIMIT', 's3cr3t', { masked: true }),
    variable('KUBERNETES_SERVICE_CPU_REQUEST', 's3cr3t', { file: true }),
  ];
  const translation = translate(shape, { id: '7', services: [{ name: 'a', variables }] });
  expect(requestOf(translation).services).toEqual([
    { name: 'a', variables: { KUBERNETES_SERVICE_MEMORY_LIMIT: '1Gi' } },
  ]);
  expect(JSON.stringify(translation)).not.toContain('s3cr3t');
});

describe('variables in images', () => {
  const SHAPE = {
    id: 'int64',
    variables: [VARIABLE],
    image: { name: 'string', executor_opts: { kubernetes: { user: 'string' }, docker: { user: 'string' } } },
    services: [{ name: 'string', executor_opts: { docker: { user: 'string' } } }],
  } as const;
  const VARIABLES = [
    { key: 'REGISTRY', value: 'registry.example.com', public: true },
    { key: 'TAG', value: '1.0', public: true },
    { key: 'TAG', value: '1.1' },
    { key: 'EMPTY', value: '', public: true },
    { key: 'DEPLOY_KEY', value: 'a-secret', masked: true },
    { key: 'KUBECONFIG', value: 'a-secret', file: true },
    { key: 'UID_OF_BUILD', value: '1000' },
    { key: 'LONG', value: 'x'.repeat(TEXT_LENGTH_MAX) },
  ];

  const requestWith = (json: Record<string, unknown>) =>
    requestOf(translate(SHAPE, { id: '7', variables: VARIABLES, ...json }));
  const imageOf = (name: string): string | undefined => requestWith({ image: { name } }).image;

  test.each([
    ['alpine:3', 'alpine:3'],
    ['$REGISTRY/go:$TAG', 'registry.example.com/go:1.1'],
    ['$$REGISTRY/$TAG', 'registry.example.com/1.1'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: GitLab's own way to write a variable
    ['${REGISTRY}/go${EMPTY}:${TAG}-x', 'registry.example.com/go:1.1-x'],
  ])('%s is judged as %s, as the runner will read it', (written, judged) => {
    expect(imageOf(written)).toBe(judged);
  });

  test.each([
    ['a masked variable', 'x/$DEPLOY_KEY'],
    ['a file', 'x/$KUBECONFIG'],
    ['one that did not come', '$NOWHERE/x'],
    ['a text that would grow too long', 'x/$LONG'],
    ['what the runner sets itself', 'x/$CI_RUNNER_VERSION'],
  ])('%s is left as it is written: %s', (_, written) => {
    expect(imageOf(written)).toBe(written);
  });

  test('services and users are expanded, too', () => {
    const request = requestWith({
      image: { name: 'a', executor_opts: { kubernetes: { user: '$UID_OF_BUILD:$UID_OF_BUILD' } } },
      services: [{ name: '$REGISTRY/pg', executor_opts: { docker: { user: '$UID_OF_BUILD' } } }],
    });
    expect(request.kubernetesUser).toBe('1000:1000');
    expect(request.services).toEqual([{ name: 'registry.example.com/pg', dockerUser: '1000' }]);
  });

  test('where a schema cannot say what is masked, only public variables are put in', () => {
    const translation = translate(
      {
        id: 'int64',
        variables: [{ key: 'string', value: 'string', public: 'bool' }],
        image: { name: 'string' },
        services: [{ name: 'string' }],
      },
      {
        id: '7',
        variables: VARIABLES.slice(0, 3),
        image: { name: '$REGISTRY/go' },
        services: [{ name: '$REGISTRY/$TAG' }],
      },
    );
    expect(translation).toMatchObject({
      ok: true,
      request: { image: 'registry.example.com/go', services: [{ name: '$REGISTRY/$TAG' }] },
    });
  });

  test('of two variables with one name the later counts, also when it may not be looked at', () => {
    const shown = { key: 'TOOL', value: 'go', public: true };
    const masked = { key: 'TOOL', value: 'a-secret', masked: true };
    const imageWith = (...variables: readonly object[]) =>
      requestWith({ image: { name: 'x/$TOOL' }, variables: [...variables] }).image;
    expect(imageWith(shown, masked)).toBe('x/$TOOL');
    expect(imageWith(masked, shown)).toBe('x/go');
  });
});
