import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { SCRATCH_FOLDER } from '../../cdk/constructs/relay-service.ts';
import { readRelayConfig } from '../../relay/config.ts';
import { someSettings } from './relay-settings.ts';
import { relayStack, statementsOf } from './relay-stack.ts';

const TASK_ROLE = /TaskTaskRole/;
const TABLE_ARN = 'arn:aws:dynamodb:eu-central-1:123456789012:table/tollgate-prod';
const ADMIT_ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:admit';
const KEY_ARN = 'arn:aws:kms:eu-central-1:123456789012:key/11111111-2222-3333-4444-555555555555';

/** The resolved text of intrinsic functions, with `{Ref}` for what only CloudFormation knows. */
const text = (value: unknown): string => JSON.stringify(value);

describe('a deployment by default', () => {
  let made: ReturnType<typeof relayStack>;
  beforeAll(() => {
    made = relayStack(someSettings());
  });

  test('a deployment never goes below all relays, waits for a stream, and is rolled back without one', () => {
    made.template.hasResourceProperties('AWS::ECS::Service', {
      AvailabilityZoneRebalancing: 'ENABLED',
      DeploymentConfiguration: {
        MinimumHealthyPercent: 100,
        MaximumPercent: 200,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      },
    });
    expect(made.container.HealthCheck.Command).toEqual(['CMD', '/nodejs/bin/node', '/app/health-check.mjs']);
    expect(made.container.StopTimeout).toBeGreaterThan(10);
  });

  test('no task starts before its way out is there', () => {
    const [service] = Object.values(made.template.findResources('AWS::ECS::Service'));
    const [route] = Object.keys(made.template.findResources('AWS::EC2::Route'));
    expect(service?.DependsOn).toContain(route);
  });

  test('nobody in the container is root or may become it, and only the scratch folder can be written', () => {
    expect(made.container).toMatchObject({
      User: '65532:65532',
      ReadonlyRootFilesystem: true,
      LinuxParameters: { Capabilities: { Drop: ['ALL'] } },
      MountPoints: [{ ContainerPath: '/tmp', ReadOnly: false, SourceVolume: 'scratch' }],
    });
    made.template.hasResourceProperties('AWS::ECS::TaskDefinition', { Volumes: [{ Name: 'scratch' }] });
  });

  test('the image has the folder of the mount as a volume, the same user and the same health check', () => {
    const dockerfile = readFileSync(
      fileURLToPath(new URL('../../relay/Dockerfile', import.meta.url)),
      'utf8',
    );
    expect(dockerfile).toContain(`VOLUME ["${SCRATCH_FOLDER}"]`);
    expect(dockerfile).toContain(`USER ${made.container.User}`);
    const [, ...command] = made.container.HealthCheck.Command;
    expect(dockerfile).toContain(`CMD [${command.map((part: string) => `"${part}"`).join(', ')}]`);
  });

  test('the environment is one the relay starts with, and holds no secret', () => {
    const env = Object.fromEntries(
      Object.entries(made.environment).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : 'eu-central-1',
      ]),
    );
    expect(readRelayConfig(env)).toMatchObject({
      router: { url: 'wss://kas.gitlab.example.com' },
      admitRoute: { kind: 'url' },
      admitUrl: 'https://abc.lambda-url.eu-central-1.on.aws',
      aws: { region: 'eu-central-1', tokenParameter: '/tollgate/prod/router-token', heartbeat: undefined },
      fallback: 'admit',
      deadlineMs: 2_000,
    });
    expect(made.container.Secrets).toBeUndefined();
    expect(made.environment).not.toHaveProperty('TOLLGATE_ROUTER_TOKEN');
    expect(made.environment).not.toHaveProperty('https_proxy');
  });

  test('the task may call one function by its URL, read one parameter, write its journal and keep rooms, and nothing else', () => {
    const statements = statementsOf(made.template, TASK_ROLE);
    expect(statements).toMatchObject([
      {
        Action: 'lambda:InvokeFunctionUrl',
        Resource: ADMIT_ARN,
        Condition: { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } },
      },
      {
        Action: 'lambda:InvokeFunction',
        Resource: ADMIT_ARN,
        Condition: { Bool: { 'lambda:InvokedViaFunctionUrl': 'true' } },
      },
      { Action: 'ssm:GetParameter', Effect: 'Allow' },
      {
        Action: 'dynamodb:PutItem',
        Resource: TABLE_ARN,
        Condition: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['gitlab.example.com#journal#*'] },
        },
      },
      {
        Action: ['dynamodb:PutItem', 'dynamodb:Query'],
        Resource: TABLE_ARN,
        Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['gitlab.example.com@rooms'] } },
      },
    ]);
    expect(statements).toHaveLength(5);
    expect(text(statements[2]?.Resource)).toContain(':parameter/tollgate/prod/router-token');
    expect(text(statements)).not.toContain('"*"');
  });
});

test('the route invoke: the function by its name, one right, no URL', () => {
  const { template, environment } = relayStack(someSettings({ admitRoute: 'invoke' }));
  expect(environment).toMatchObject({ TOLLGATE_ADMIT_ROUTE: 'invoke', TOLLGATE_ADMIT_FUNCTION: ADMIT_ARN });
  expect(environment).not.toHaveProperty('TOLLGATE_ADMIT_URL');
  const [first] = statementsOf(template, TASK_ROLE);
  expect(first).toEqual({
    Sid: 'Invoke',
    Effect: 'Allow',
    Action: 'lambda:InvokeFunction',
    Resource: ADMIT_ARN,
  });
});

test('a private authority, a proxy and a customer’s key: named, granted, and no wider than the three parameters', () => {
  const settings = someSettings();
  const { template, environment } = relayStack({
    ...settings,
    gitlab: {
      ...settings.gitlab,
      caParameter: '/tollgate/prod/ca',
      proxyUrl: 'http://proxy.example.com:3128',
    },
    parameters: { ...settings.parameters, proxyCredentials: '/tollgate/prod/proxy', keyArn: KEY_ARN },
  });
  expect(environment).toMatchObject({
    TOLLGATE_CA_PARAMETER: '/tollgate/prod/ca',
    TOLLGATE_PROXY_PARAMETER: '/tollgate/prod/proxy',
    https_proxy: 'http://proxy.example.com:3128',
    no_proxy: expect.stringContaining('169.254.170.2'),
  });
  const [read, decrypt] = statementsOf(template, TASK_ROLE).slice(2);
  expect(text(read?.Resource)).toMatch(/:parameter\/tollgate\/prod\/ca.*:parameter\/tollgate\/prod\/proxy/);
  expect(decrypt).toMatchObject({ Action: 'kms:Decrypt', Resource: KEY_ARN });
  expect(text(decrypt?.Condition)).toContain('kms:ViaService');
  expect(text(decrypt?.Condition)).toContain(':parameter/tollgate/prod/router-token');
});

test.each([
  { image: 'ghcr.io/example/tollgate-relay:1.2.3', pull: false },
  { image: `123456789012.dkr.ecr.eu-central-1.amazonaws.com/tollgate@sha256:${'a'.repeat(64)}`, pull: true },
  { image: '123456789012.dkr.ecr.eu-central-1.amazonaws.com/team/tollgate:1.2.3', pull: true },
])('a ready image is taken as it is named: $image', ({ image, pull }) => {
  const settings = someSettings();
  const { app, container, template } = relayStack({ ...settings, relay: { ...settings.relay, image } });
  expect(text(container.Image).replaceAll(/[^\w.:@/-]/g, '')).toContain(image.split('/').at(-1));
  const pulls = text(statementsOf(template, /ExecutionRole/)).includes('ecr:BatchGetImage');
  expect(pulls).toBe(pull);
  const { artifacts = {} } = app.synth().manifest;
  expect(text(artifacts)).not.toContain('docker');
});
