import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SCRATCH_FOLDER } from '../../cdk/constructs/relay-service.ts';
import type { Deployment } from '../../cdk/settings/props.ts';
import { readRelayConfig } from '../../relay/config.ts';
import { DEFAULTS, PRIVATE, type Synthesized, synthesize } from './synthesized.ts';

const [standard, closed] = [synthesize(DEFAULTS), synthesize(PRIVATE)];

const text = (value: unknown): string => JSON.stringify(value);

const containerOf = (synthesized: Synthesized) =>
  synthesized.resources('AWS::ECS::TaskDefinition')[0]?.[1].Properties.ContainerDefinitions[0];

/** References are filled in as CloudFormation would. */
const environmentOf = (synthesized: Synthesized): Record<string, string> =>
  Object.fromEntries(
    containerOf(synthesized).Environment.map(({ Name, Value }: { Name: string; Value: unknown }) => [
      Name,
      typeof Value === 'string' ? Value : Name.endsWith('URL') ? 'https://abc.on.aws' : 'eu-central-1',
    ]),
  );

const statementsOf = (synthesized: Synthesized, role: string): readonly Record<string, unknown>[] =>
  synthesized
    .resources('AWS::IAM::Policy')
    .filter(([where]) => where.includes(`/RelayTask${role}`))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);

test('no task starts before its way out is there', () => {
  const [[, service] = []] = standard.resources('AWS::ECS::Service');
  const [[route] = []] = standard.resources('AWS::EC2::Route');
  expect(service?.DependsOn).toContain(route?.split('/')[1]);
});

test('the image has the folder of the mount as a volume, the same user and the same health check', () => {
  const dockerfile = readFileSync(fileURLToPath(new URL('../../relay/Dockerfile', import.meta.url)), 'utf8');
  const container = containerOf(standard);
  expect(dockerfile).toContain(`VOLUME ["${SCRATCH_FOLDER}"]`);
  expect(dockerfile).toContain(`USER ${container.User}`);
  const [, ...command] = container.HealthCheck.Command;
  expect(dockerfile).toContain(`CMD [${command.map((part: string) => `"${part}"`).join(', ')}]`);
});

test('the environment is one the relay starts with, and holds no secret', () => {
  expect(readRelayConfig(environmentOf(standard))).toMatchObject({
    router: { url: 'wss://kas.gitlab.example.com' },
    admitRoute: { kind: 'url' },
    aws: { tokenParameter: '/tollgate/prod/router-token', heartbeat: undefined },
    fallback: 'admit',
    relays: 2,
  });
  expect(readRelayConfig(environmentOf(closed))).toMatchObject({
    admitRoute: { kind: 'invoke' },
    aws: { caParameter: '/corp/ca', proxyParameter: '/corp/proxy' },
    fallback: 'reject',
  });
  expect(environmentOf(closed)).toMatchObject({
    https_proxy: 'http://proxy.corp.test:3128',
    no_proxy: expect.stringContaining('169.254.170.2'),
  });
  expect(containerOf(standard).Secrets).toBeUndefined();
});

test('a relay may call admit by its URL, read its token, write its journal and share rooms, and nothing else', () => {
  const statements = statementsOf(standard, 'TaskRole');
  expect(statements).toMatchObject([
    {
      Action: 'lambda:InvokeFunctionUrl',
      Condition: { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } },
    },
    {
      Action: 'lambda:InvokeFunction',
      Condition: { Bool: { 'lambda:InvokedViaFunctionUrl': 'true' } },
    },
    { Action: 'ssm:GetParameter' },
    {
      Action: 'dynamodb:PutItem',
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['gitlab.example.com#journal#*'] } },
    },
    {
      Action: ['dynamodb:PutItem', 'dynamodb:Query'],
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['gitlab.example.com@rooms'] } },
    },
  ]);
  expect(statements).toHaveLength(5);
  expect(text(statements[2]?.Resource)).toContain(':parameter/tollgate/prod/router-token');
  expect(text(statements)).not.toContain('"*"');
});

test('with a customer’s key: invoked by name, and no wider than the three parameters', () => {
  const [invoke, read, decrypt] = statementsOf(closed, 'TaskRole');
  expect(invoke).toMatchObject({ Action: 'lambda:InvokeFunction' });
  expect(invoke).not.toHaveProperty('Condition');
  expect(text(read?.Resource).match(/:parameter[^"]+/g)).toEqual([
    ':parameter/corp/ca',
    ':parameter/corp/proxy',
    ':parameter/tollgate/private/router-token',
  ]);
  expect(decrypt).toMatchObject({ Action: 'kms:Decrypt' });
  expect(text(decrypt?.Condition)).toContain(':parameter/tollgate/private/router-token');
});

test.each([
  { image: 'ghcr.io/example/tollgate-relay:1.2.3', pull: false },
  { image: '123456789012.dkr.ecr.eu-central-1.amazonaws.com/team/tollgate:1.2.3', pull: true },
])(
  'a ready image is taken as it is named, and told which descriptors it must contain: $image',
  ({ image, pull }) => {
    const made = synthesize(DEFAULTS.map((each): Deployment => ({ ...each, relay: { image } })));
    expect(text(containerOf(made).Image).replaceAll(/[^\w.:@/-]/g, '')).toContain(image.split('/').at(-1));
    expect(text(statementsOf(made, 'ExecutionRole')).includes('ecr:BatchGetImage')).toBe(pull);
    const messages = made.app
      .synth()
      .stacks.flatMap((stack) => stack.messages.map(({ entry }) => String(entry.data)));
    expect(messages).toContainEqual(
      expect.stringMatching(/must contain gitlab\.descriptors as \/app\/descriptors\/[0-9a-f]{64}\.binpb/),
    );
  },
);
