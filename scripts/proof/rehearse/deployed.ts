import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DynamoDBClient, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { stackNames } from '../../../cdk/settings/deployment.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { ENV_GITLAB_INSTANCE, INBOX_SK, SK } from '../../../functions/names.ts';
import { type CdkRun, runCdk, startNode } from '../../build/cdk-cli.ts';
import { cloudFormation } from '../../build/cloudformation.ts';
import type { Emulator } from './emulator.ts';
import { type HostedBundle, hostBundle } from './hosted-bundle.ts';

const ACCOUNT = '123456789012';
const REGION = 'us-east-1';
export const STAGE = 'prod';
export const [STATE_STACK, FUNCTIONS_STACK, RELAYS_STACK] = stackNames(STAGE);
export const CONSOLE_URL = 'https://budget.example.com';
export const CLIENT_ID = '2f0a5d7c';
export const NOTE = { pk: { S: 'rehearsal@note' }, sk: { S: 'note' } };
const INSTANCE = 'gitlab.example.com';
const SETTINGS = [
  `relay.image=registry.example.com/tollgate/relay@sha256:${'a'.repeat(64)}`,
  `console.url=${CONSOLE_URL}`,
  `console.clientId=${CLIENT_ID}`,
  'console.adminGroupId=123',
  'console.financeGroupId=124',
];
const CALL_MS_MAX = 15_000;
const CDK_MS_MAX = 240_000;
const COMMAND_MS_MAX = 60_000;
const DEPLOY = fileURLToPath(new URL('../../build/deploy.ts', import.meta.url));
const CLI = fileURLToPath(new URL('../../tollgate.mjs', import.meta.url));

type Texts = Readonly<Record<string, string>>;

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;

export type Deployment = ReturnType<typeof deploymentAt>;

/** @param descriptors - stand in for a GitLab's; their numbers differ from the placeholder's. */
export function deploymentAt(emulator: Emulator, folder: string, descriptors: string, python: string) {
  const { endpoint } = emulator;
  const credentials = { accessKeyId: 'rehearsal', secretAccessKey: 'rehearsal' };
  const connection = { endpoint, region: REGION, credentials };
  const [dynamo, ssm] = [new DynamoDBClient(connection), new SSMClient(connection)];
  const awsEnv: Texts = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
  };

  /** Fetches with a placeholder signature: the emulator reads the service from it and checks nothing. */
  const fetchFor =
    (service: string) =>
    (url: string, init: RequestInit = {}): Promise<Response> => {
      const scope = `${ACCOUNT}/20260101/${REGION}/${service}/aws4_request`;
      const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
      const headers = { ...Object.fromEntries(new Headers(init.headers)), authorization };
      return fetch(url, { signal: AbortSignal.timeout(CALL_MS_MAX), ...init, headers });
    };
  const call = (service: string, path: string, init?: RequestInit): Promise<Response> =>
    fetchFor(service)(`${endpoint}${path}`, init);
  async function ecs<T>(action: string, input: object): Promise<T> {
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AmazonEC2ContainerServiceV20141113.${action}`,
    };
    const response = await call('ecs', '/', { method: 'POST', headers, body: JSON.stringify(input) });
    return (await response.json()) as T;
  }

  const cdkOut = join(folder, 'cdk.out');
  const outputsFile = join(folder, 'outputs.json');
  const settings = [...SETTINGS, `gitlab.descriptors=${descriptors}`].flatMap((each) => ['-c', each]);
  const cdk = (...args: readonly string[]) => {
    const from = args[0] === 'destroy' ? ['--app', cdkOut] : [...settings, '--output', cdkOut];
    return runCdk([...args, ...from], { env: awsEnv, timeoutMs: CDK_MS_MAX });
  };
  function mustEnd(what: string, { code, text }: CdkRun) {
    const crashes = emulator.crashes();
    const tail = text.trim().split('\n').slice(-15);
    if (code !== 0 || crashes.length > 0)
      throw new Error(`${what} ended with ${code}\n${[...tail, ...crashes].join('\n')}`);
  }
  let synthesized: string | undefined;
  /** Runs the part of `npm run deploy` that follows the bundling. The templates of the same settings are made once. */
  function startDeploy(...args: readonly string[]) {
    const from = synthesized === args.join(' ') ? '--app' : '--output';
    synthesized = args.join(' ');
    const options = ['--require-approval', 'never', '--outputs-file', outputsFile, from, cdkOut];
    const command = [DEPLOY, ...options, ...settings, ...args];
    return startNode(command, { env: awsEnv, timeoutMs: CDK_MS_MAX });
  }
  const output = (stack: string, name: string): string =>
    readJson<Readonly<Record<string, Texts>>>(outputsFile)[stack]?.[name] ?? '';
  const tableName = (): string => output(STATE_STACK, 'TableName');

  async function unpackedCode(name: string): Promise<string> {
    type Resource = { readonly Properties?: { FunctionName?: string; Code?: { S3Key: string } } };
    const found = readdirSync(cdkOut)
      .filter((file) => file.endsWith('.template.json'))
      .map((file) => readJson<{ Resources: Record<string, Resource> }>(join(cdkOut, file)))
      .flatMap(({ Resources }) => Object.values(Resources))
      .find(({ Properties }) => Properties?.FunctionName === `tollgate-${STAGE}-${name}`);
    const key = found?.Properties?.Code?.S3Key;
    const response = await call('s3', `/cdk-hnb659fds-assets-${ACCOUNT}-${REGION}/${key}`);
    if (!response.ok) throw new Error(`the code of ${name} is not in the bucket (HTTP ${response.status})`);
    const own = join(folder, 'functions', name);
    mkdirSync(own, { recursive: true });
    writeFileSync(`${own}.zip`, Buffer.from(await response.arrayBuffer()));
    const unzip = ['-m', 'zipfile', '-e', `${own}.zip`, own];
    const { status, stderr } = spawnSync(python, unzip, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the code of ${name} cannot be unpacked: ${stderr}`);
    return own;
  }

  /**
   * Runs a function as it was deployed: the code that lies in the bucket, with the environment that the stack gave it. Only
   * the path of its rules is another, since nothing here is unpacked to /var/task, and what `instead` says.
   */
  async function withDeployed<T>(
    name: string,
    use: (bundle: HostedBundle) => Promise<T>,
    instead: Texts = {},
  ): Promise<T> {
    const own = await unpackedCode(name);
    const response = await call('lambda', `/2015-03-31/functions/tollgate-${STAGE}-${name}/configuration`);
    const { Environment } = (await response.json()) as { Environment?: { Variables: Texts } };
    if (Environment === undefined) throw new Error(`${name} has no environment (HTTP ${response.status})`);
    const unpacked = Object.entries(Environment.Variables).map(([variable, value]) => [
      variable,
      value.replace('/var/task/', `${own}/`),
    ]);
    const env = { ...awsEnv, ...Object.fromEntries(unpacked), ...instead };
    const bundle = await hostBundle({ folder: own, env });
    try {
      return await use(bundle);
    } finally {
      await bundle.close();
    }
  }

  async function relayService() {
    type Service = { desiredCount: number; taskDefinition: string };
    const { clusterArns } = await ecs<{ clusterArns: string[] }>('ListClusters', {});
    const cluster = clusterArns[0];
    const { serviceArns } = await ecs<{ serviceArns: string[] }>('ListServices', { cluster });
    const input = { cluster, services: serviceArns.slice(0, 1) };
    const [service] = (await ecs<{ services: Service[] }>('DescribeServices', input)).services;
    if (service === undefined) throw new Error('there is no relay service');
    return service;
  }

  return {
    ...{ folder, descriptors, awsEnv, endpoint, dynamo, cdk, output, tableName, withDeployed, startDeploy },
    ...{ inject: emulator.inject, stacks: cloudFormation(endpoint, fetchFor('cloudformation')) },
    bootstrap: async () => mustEnd('cdk bootstrap', await cdk('bootstrap', `aws://${ACCOUNT}/${REGION}`)),
    deploy: async (...args: readonly string[]) => mustEnd('npm run deploy', await startDeploy(...args).ended),
    putParameter: (Name: string, Value: string, Type: 'String' | 'SecureString') =>
      ssm.send(new PutParameterCommand({ Name, Value, Type, Overwrite: true })),
    relaysWanted: async () => (await relayService()).desiredCount,
    async relayEnvironment(): Promise<Texts> {
      const { taskDefinition } = await relayService();
      type Container = { environment: { name: string; value: string }[] };
      type Answer = { taskDefinition: { containerDefinitions: Container[] } };
      const answer = await ecs<Answer>('DescribeTaskDefinition', { taskDefinition });
      const environment = answer.taskDefinition.containerDefinitions[0]?.environment ?? [];
      return Object.fromEntries(environment.map(({ name, value }) => [name, value]));
    },
    async note(): Promise<string | undefined> {
      const command = new GetItemCommand({ TableName: tableName(), Key: NOTE, ConsistentRead: true });
      return (await dynamo.send(command)).Item?.text?.S;
    },
    /** Runs `npx tollgate …` on the deployed table with rights on the account. @throws {Error} with its output if it fails. */
    async tollgate(...args: readonly string[]): Promise<string> {
      const env = { ...awsEnv, [ENV_GITLAB_INSTANCE]: INSTANCE, NO_COLOR: '1' };
      const command = [CLI, ...args, '--ledger', tableName()];
      const running = promisify(execFile)(process.execPath, command, { env, timeout: COMMAND_MS_MAX });
      return (await running).stdout;
    },
    /** Returns the stream records of the deliveries in the inbox: the emulator's stream is not filled. */
    async arrivals(): Promise<readonly unknown[]> {
      const scan = new ScanCommand({ TableName: tableName(), ConsistentRead: true });
      const { Items = [] } = await dynamo.send(scan);
      return Items.filter((item) => item[SK]?.S?.startsWith(INBOX_SK) === true).map((NewImage, index) => ({
        ...{ eventName: 'INSERT', eventSource: 'aws:dynamodb' },
        dynamodb: { SequenceNumber: String(index + 1), StreamViewType: 'NEW_AND_OLD_IMAGES', NewImage },
      }));
    },
    async stateOfJob(jobId: number): Promise<string | undefined> {
      const table = dynamoTable(dynamo, tableName());
      const store = new DynamoStore({ table, instance: INSTANCE, clock: systemClock, random: Math.random });
      return (await createLedger({ store }).readRecord(jobId))?.state;
    },
  };
}
