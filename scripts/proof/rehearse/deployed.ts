import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DynamoDBClient, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { ENV_GITLAB_INSTANCE, INBOX_SK, SK } from '../../../functions/names.ts';
import { type CdkRun, runCdk } from '../../build/cdk-cli.ts';
import type { Emulator } from './emulator.ts';
import { type HostedBundle, hostBundle } from './hosted-bundle.ts';

export const REHEARSAL_ACCOUNT = '123456789012';
export const REHEARSAL_REGION = 'us-east-1';
export const REHEARSAL_STAGE = 'prod';
export const STATE_STACK = `Tollgate-${REHEARSAL_STAGE}-State`;
export const SERVICE_STACK = `Tollgate-${REHEARSAL_STAGE}-Service`;
const CALL_MS_MAX = 15_000;

export interface RehearsalPlace {
  readonly emulator: Emulator;
  readonly folder: string;
  /** Stand in for a GitLab's descriptors; their numbers differ from the placeholder's. */
  readonly descriptors: string;
  readonly python: string;
  readonly awsEnv: Readonly<Record<string, string>>;
}

export const awsEnvFor = (endpoint: string, home: string): Readonly<Record<string, string>> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: REHEARSAL_REGION,
  AWS_DEFAULT_REGION: REHEARSAL_REGION,
  AWS_ACCESS_KEY_ID: 'rehearsal',
  AWS_SECRET_ACCESS_KEY: 'rehearsal',
  AWS_EC2_METADATA_DISABLED: 'true',
});

/** Fetches with a placeholder signature: the emulator reads the service from it and checks nothing. */
export const fetchFor =
  (service: string) =>
  (url: string, init: RequestInit = {}): Promise<Response> => {
    const scope = `${REHEARSAL_ACCOUNT}/20260101/${REHEARSAL_REGION}/${service}/aws4_request`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
    const headers = { ...Object.fromEntries(new Headers(init.headers)), authorization };
    return fetch(url, { signal: AbortSignal.timeout(CALL_MS_MAX), ...init, headers });
  };

const call = (
  { emulator }: RehearsalPlace,
  service: string,
  path: string,
  init?: RequestInit,
): Promise<Response> => fetchFor(service)(`${emulator.endpoint}${path}`, init);

export function outputsOf(place: RehearsalPlace, stack: string): Texts {
  const all: Readonly<Record<string, Texts>> = readJson(join(place.folder, 'outputs.json'));
  const outputs = all[stack];
  if (outputs === undefined) throw new Error(`${stack} has no outputs`);
  return outputs;
}

type Texts = Readonly<Record<string, string>>;

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;

export async function stackExists(place: RehearsalPlace, stack: string): Promise<boolean> {
  const body = new URLSearchParams({ Action: 'DescribeStacks', Version: '2010-05-15', StackName: stack });
  const response = await call(place, 'cloudformation', '/', { method: 'POST', body });
  return response.ok && !(await response.text()).includes('DELETE_COMPLETE');
}

const functionName = (name: string): string => `tollgate-${REHEARSAL_STAGE}-${name}`;

async function environmentOf(place: RehearsalPlace, name: string): Promise<Texts> {
  const response = await call(place, 'lambda', `/2015-03-31/functions/${functionName(name)}/configuration`);
  const { Environment } = (await response.json()) as { readonly Environment?: { readonly Variables: Texts } };
  if (Environment !== undefined) return Environment.Variables;
  throw new Error(`${functionName(name)} has no environment (HTTP ${response.status})`);
}

function codeKeyOf(place: RehearsalPlace, name: string): string {
  const file = join(place.folder, 'cdk.out', `${SERVICE_STACK}.template.json`);
  type Resource = { readonly Properties?: { FunctionName?: string; Code?: { S3Key: string } } };
  const resources = Object.values(readJson<{ Resources: Record<string, Resource> }>(file).Resources);
  const found = resources.find(({ Properties }) => Properties?.FunctionName === functionName(name));
  const key = found?.Properties?.Code?.S3Key;
  if (key !== undefined) return key;
  throw new Error(`${SERVICE_STACK} has no function ${functionName(name)}`);
}

/**
 * Starts a function as it was deployed: the code that lies in the bucket, with the environment that the stack gave it. Only
 * the path of its rules is another, since nothing here is unpacked to /var/task, and what `instead` says.
 */
export async function startDeployed(
  place: RehearsalPlace,
  name: string,
  instead: Readonly<Record<string, string>> = {},
): Promise<HostedBundle> {
  const folder = await unpackedCode(place, name);
  const deployedEnv = await environmentOf(place, name);
  const unpacked = Object.entries(deployedEnv).map(([variable, value]) => [
    variable,
    value.replace('/var/task/', `${folder}/`),
  ]);
  return hostBundle({ folder, env: { ...place.awsEnv, ...Object.fromEntries(unpacked), ...instead } });
}

export async function withDeployed<T>(
  place: RehearsalPlace,
  name: string,
  use: (bundle: HostedBundle) => Promise<T>,
  instead: Readonly<Record<string, string>> = {},
): Promise<T> {
  const bundle = await startDeployed(place, name, instead);
  try {
    return await use(bundle);
  } finally {
    await bundle.close();
  }
}

async function unpackedCode(place: RehearsalPlace, name: string): Promise<string> {
  const key = codeKeyOf(place, name);
  const response = await call(
    place,
    's3',
    `/cdk-hnb659fds-assets-${REHEARSAL_ACCOUNT}-${REHEARSAL_REGION}/${key}`,
  );
  if (!response.ok) throw new Error(`the code of ${name} is not in the bucket (HTTP ${response.status})`);
  const folder = join(place.folder, 'functions', name);
  mkdirSync(folder, { recursive: true });
  const zip = `${folder}.zip`;
  writeFileSync(zip, Buffer.from(await response.arrayBuffer()));
  const { status, stderr } = spawnSync(place.python, ['-m', 'zipfile', '-e', zip, folder], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the code of ${name} cannot be unpacked: ${stderr}`);
  return folder;
}

async function ecs<Name extends string, T>(place: RehearsalPlace, action: string, input: object) {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `AmazonEC2ContainerServiceV20141113.${action}`,
  };
  const response = await call(place, 'ecs', '/', { method: 'POST', headers, body: JSON.stringify(input) });
  return (await response.json()) as Readonly<Record<Name, T | undefined>>;
}

interface RelayService {
  readonly desiredCount: number;
  readonly taskDefinition: string;
}

async function relayServiceOf(place: RehearsalPlace): Promise<RelayService | undefined> {
  const { clusterArns: [cluster] = [] } = await ecs<'clusterArns', string[]>(place, 'ListClusters', {});
  const { serviceArns: services = [] } = await ecs<'serviceArns', string[]>(place, 'ListServices', {
    cluster,
  });
  const asked = { cluster, services: services.slice(0, 1) };
  return (await ecs<'services', RelayService[]>(place, 'DescribeServices', asked)).services?.[0];
}

export const relaysWanted = async (place: RehearsalPlace): Promise<number | undefined> =>
  (await relayServiceOf(place))?.desiredCount;

interface TaskDefinition {
  readonly containerDefinitions: readonly {
    readonly environment: readonly { name: string; value: string }[];
  }[];
}

export async function relayEnvironmentOf(place: RehearsalPlace): Promise<Texts> {
  const asked = { taskDefinition: (await relayServiceOf(place))?.taskDefinition };
  const answer = await ecs<'taskDefinition', TaskDefinition>(place, 'DescribeTaskDefinition', asked);
  const environment = answer.taskDefinition?.containerDefinitions[0]?.environment;
  if (environment === undefined) throw new Error('the relay’s task has no environment');
  return Object.fromEntries(environment.map(({ name, value }) => [name, value]));
}

export const NOTE = { pk: { S: 'rehearsal@note' }, sk: { S: 'note' } };

const connection = ({ emulator }: RehearsalPlace) => ({
  endpoint: emulator.endpoint,
  region: REHEARSAL_REGION,
  credentials: { accessKeyId: 'rehearsal', secretAccessKey: 'rehearsal' },
});
export const dynamo = (place: RehearsalPlace): DynamoDBClient => new DynamoDBClient(connection(place));
export const ssm = (place: RehearsalPlace): SSMClient => new SSMClient(connection(place));
export const tableOf = (place: RehearsalPlace): string => outputsOf(place, STATE_STACK).TableName ?? '';

export const noteIn = async (place: RehearsalPlace): Promise<string | undefined> => {
  const command = new GetItemCommand({ TableName: tableOf(place), Key: NOTE, ConsistentRead: true });
  return (await dynamo(place).send(command)).Item?.text?.S;
};

export const REHEARSAL_CONSOLE_URL = 'https://budget.example.com';
export const REHEARSAL_CLIENT_ID = '2f0a5d7c';
const IMAGE = `registry.example.com/tollgate/relay@sha256:${'a'.repeat(64)}`;
const SETTINGS = [
  `relay.image=${IMAGE}`,
  `console.url=${REHEARSAL_CONSOLE_URL}`,
  `console.clientId=${REHEARSAL_CLIENT_ID}`,
  'console.adminGroupId=123',
  'console.financeGroupId=124',
];
const CDK_MS_MAX = 240_000;

export async function cdk(place: RehearsalPlace, ...args: readonly string[]): Promise<CdkRun> {
  const out = join(place.folder, 'cdk.out');
  const [verb] = args;
  const from =
    verb === 'destroy'
      ? ['--app', out]
      : [
          ...[...SETTINGS, `gitlab.descriptors=${place.descriptors}`].flatMap((setting) => ['-c', setting]),
          '--output',
          out,
        ];
  return runCdk([...args, ...from], { env: place.awsEnv, timeoutMs: CDK_MS_MAX });
}

/** @throws {Error} with its output if it fails or breaks the emulator. */
export async function cdkMust(place: RehearsalPlace, ...args: readonly string[]): Promise<string> {
  const { code, text } = await cdk(place, ...args);
  const crashes = place.emulator.crashes();
  if (code !== 0 || crashes.length > 0)
    throw new Error(`cdk ${args.join(' ')} ended with ${code}\n${[...tail(text), ...crashes].join('\n')}`);
  return text;
}

const tail = (text: string): readonly string[] => text.trim().split('\n').slice(-15);

const deployArgs = (place: RehearsalPlace): readonly string[] => [
  ...['deploy', '--all', '--method=direct', '--require-approval', 'never'],
  ...['--outputs-file', join(place.folder, 'outputs.json')],
];

export const deploy = (place: RehearsalPlace, ...settings: readonly string[]): Promise<string> =>
  cdkMust(place, ...deployArgs(place), ...settings);

const CLI = fileURLToPath(new URL('../../tollgate.mjs', import.meta.url));
const MS_MAX = 60_000;
const REHEARSAL_INSTANCE = 'gitlab.example.com';

/** Runs `npx tollgate …` on the deployed table with rights on the account. @throws {Error} with its output if it fails. */
export async function tollgate(place: RehearsalPlace, ...args: readonly string[]): Promise<string> {
  const env = { ...place.awsEnv, [ENV_GITLAB_INSTANCE]: REHEARSAL_INSTANCE, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args, '--ledger', tableOf(place)], {
    env,
    timeout: MS_MAX,
  });
  return stdout;
}

/** Returns the stream records of the deliveries in the inbox: the emulator's stream is not filled. */
export async function arrivals(place: RehearsalPlace): Promise<readonly unknown[]> {
  const scan = new ScanCommand({ TableName: tableOf(place), ConsistentRead: true });
  const { Items = [] } = await dynamo(place).send(scan);
  return Items.filter((item) => item[SK]?.S?.startsWith(INBOX_SK) === true).map((NewImage, index) => ({
    eventName: 'INSERT',
    eventSource: 'aws:dynamodb',
    dynamodb: { SequenceNumber: String(index + 1), StreamViewType: 'NEW_AND_OLD_IMAGES', NewImage },
  }));
}

export async function stateOfJob(place: RehearsalPlace, jobId: number): Promise<string | undefined> {
  const table = dynamoTable(dynamo(place), tableOf(place));
  const parts = { table, instance: REHEARSAL_INSTANCE, clock: systemClock, random: Math.random };
  return (await createLedger({ store: new DynamoStore(parts) }).readRecord(jobId))?.state;
}
