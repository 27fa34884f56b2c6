import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../../policies/document/reading.ts';
import type { Emulator } from './emulator.ts';
import { type HostedBundle, hostBundle } from './hosted-bundle.ts';

export const REHEARSAL_ACCOUNT = '123456789012';
export const REHEARSAL_REGION = 'us-east-1';
export const REHEARSAL_STAGE = 'prod';
export const STATE_STACK = `Tollgate-${REHEARSAL_STAGE}-State`;
export const SERVICE_STACK = `Tollgate-${REHEARSAL_STAGE}-Service`;
const CALL_MS_MAX = 15_000;

/** Where everything stands during a rehearsal. */
export interface RehearsalPlace {
  readonly emulator: Emulator;
  /** Folder of its own below the project's, so that packages are found from it. */
  readonly folder: string;
  /** Descriptors that stand in for those of a GitLab; nobody's numbers, and not the placeholder's. */
  readonly descriptors: string;
  /** The virtual environment's. */
  readonly python: string;
  /** The environment of every program that shall talk to the emulator and to nobody else. */
  readonly awsEnv: Readonly<Record<string, string>>;
}

/** Nobody's credentials; the emulator takes any. */
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

/** A call for which no SDK client is installed; the emulator reads the service from the signature and checks none. */
async function call(
  place: RehearsalPlace,
  service: string,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const scope = `${REHEARSAL_ACCOUNT}/20260101/${REHEARSAL_REGION}/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const headers = { ...Object.fromEntries(new Headers(init.headers)), authorization };
  return fetch(`${place.emulator.endpoint}${path}`, {
    ...init,
    headers,
    signal: AbortSignal.timeout(CALL_MS_MAX),
  });
}

/** Outputs by name, as the last `cdk deploy --outputs-file` wrote them. */
export function outputsOf(place: RehearsalPlace, stack: string): Readonly<Record<string, string>> {
  const all: unknown = JSON.parse(readFileSync(join(place.folder, 'outputs.json'), 'utf8'));
  const outputs = isRecord(all) ? all[stack] : undefined;
  if (!isRecord(outputs)) throw new Error(`${stack} has no outputs`);
  return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, String(value)]));
}

export async function stackExists(place: RehearsalPlace, stack: string): Promise<boolean> {
  const body = new URLSearchParams({ Action: 'DescribeStacks', Version: '2010-05-15', StackName: stack });
  const response = await call(place, 'cloudformation', '/', { method: 'POST', body });
  return response.ok && !(await response.text()).includes('DELETE_COMPLETE');
}

export async function functionExists(place: RehearsalPlace, name: string): Promise<boolean> {
  return (await call(place, 'lambda', `/2015-03-31/functions/${functionName(name)}`)).ok;
}

const functionName = (name: string): string => `tollgate-${REHEARSAL_STAGE}-${name}`;

/** What the stack's own environment says to a function. */
async function environmentOf(place: RehearsalPlace, name: string): Promise<Readonly<Record<string, string>>> {
  const response = await call(place, 'lambda', `/2015-03-31/functions/${functionName(name)}/configuration`);
  const answer: unknown = await response.json();
  const environment =
    isRecord(answer) && isRecord(answer.Environment) ? answer.Environment.Variables : undefined;
  if (!isRecord(environment))
    throw new Error(`${functionName(name)} has no environment (HTTP ${response.status})`);
  return Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)]));
}

/** Key of a function's code in the bucket of assets, as the deployed template has it. */
function codeKeyOf(place: RehearsalPlace, name: string): string {
  const file = join(place.folder, 'cdk.out', `${SERVICE_STACK}.template.json`);
  const template: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const resources =
    isRecord(template) && isRecord(template.Resources) ? Object.values(template.Resources) : [];
  for (const resource of resources) {
    const properties = isRecord(resource) && isRecord(resource.Properties) ? resource.Properties : {};
    const { FunctionName, Code } = properties;
    if (FunctionName === functionName(name) && isRecord(Code)) return String(Code.S3Key);
  }
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

/** @returns its folder; a function that is started again has one already. */
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

async function ecs(place: RehearsalPlace, action: string, input: object): Promise<Record<string, unknown>> {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `AmazonEC2ContainerServiceV20141113.${action}`,
  };
  const response = await call(place, 'ecs', '/', { method: 'POST', headers, body: JSON.stringify(input) });
  const answer: unknown = await response.json();
  return isRecord(answer) ? answer : {};
}

const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

async function relayServiceOf(place: RehearsalPlace): Promise<Record<string, unknown> | undefined> {
  const cluster = first((await ecs(place, 'ListClusters', {})).clusterArns);
  const services = [first((await ecs(place, 'ListServices', { cluster })).serviceArns)];
  const service = first((await ecs(place, 'DescribeServices', { cluster, services })).services);
  return isRecord(service) ? service : undefined;
}

/** How many relays the service wants. */
export async function relaysWanted(place: RehearsalPlace): Promise<number | undefined> {
  const service = await relayServiceOf(place);
  return service && Number(service.desiredCount);
}

/** What the service's task says to a relay. */
export async function relayEnvironmentOf(place: RehearsalPlace): Promise<Readonly<Record<string, string>>> {
  const { taskDefinition } = (await relayServiceOf(place)) ?? {};
  const described = (await ecs(place, 'DescribeTaskDefinition', { taskDefinition })).taskDefinition;
  const container = first(isRecord(described) ? described.containerDefinitions : undefined);
  const environment = isRecord(container) ? container.environment : undefined;
  if (!Array.isArray(environment)) throw new Error('the relay’s task has no environment');
  return Object.fromEntries(environment.map((each) => [String(each.name), String(each.value)]));
}
