import { type AwsService, awsEndpoint } from '../aws/aws-json.ts';
import * as names from '../names.ts';
import type { EnvReader } from './env-reader.ts';

/** The route to the admit function. */
export type AdmitRoute =
  | { readonly kind: 'plain' }
  | { readonly kind: 'url' }
  /** Name or ARN. */
  | { readonly kind: 'invoke'; readonly functionName: string };

interface TablePlace {
  readonly table: string;
  /** The GitLab host. */
  readonly instance: string;
}

/** Settings of a relay in an AWS account. All are absent on a laptop. */
export interface AwsConfig {
  /** Present if one of the others needs it. */
  readonly region: string | undefined;
  readonly endpoints: Readonly<Record<AwsService, string>>;
  readonly tokenParameter: string | undefined;
  readonly caParameter: string | undefined;
  readonly proxyParameter: string | undefined;
  readonly heartbeat: TablePlace | undefined;
  readonly journal: TablePlace | undefined;
}

const REGION = /^[a-z]{2,}(-[a-z]+)+-\d+$/;
const FUNCTION = /^(arn:[\w-]+:lambda:[\w:-]+|[\w-]{1,140}(:[\w$-]+)?)$/;

/** Reports missing settings of the route to `read`. */
export function readAdmitRoute(read: EnvReader): AdmitRoute {
  const kind = read.choice(names.ENV_ADMIT_ROUTE, ['plain', 'url', 'invoke'], 'plain');
  if (kind !== 'invoke') return { kind };
  const functionName = read.required(names.ENV_ADMIT_FUNCTION, 'tollgate-prod-admit');
  if (functionName !== '' && !FUNCTION.test(functionName)) {
    read.problem(
      `${names.ENV_ADMIT_FUNCTION} is "${functionName}"; expected a Lambda function's name or ARN`,
    );
  }
  return { kind, functionName };
}

export function readAwsConfig(read: EnvReader, route: AdmitRoute): AwsConfig {
  const tokenParameter = read.optional(names.ENV_ROUTER_TOKEN_PARAMETER);
  const caParameter = read.optional(names.ENV_CA_PARAMETER);
  const proxyParameter = read.optional(names.ENV_PROXY_PARAMETER);
  const table = read.optional(names.ENV_HEARTBEAT_TABLE);
  const journal = read.optional(names.ENV_JOURNAL_TABLE);
  const needed =
    route.kind !== 'plain' ||
    [tokenParameter, caParameter, proxyParameter, table, journal].some((set) => set !== undefined);
  const region = needed ? readRegion(read) : undefined;
  const instance = table === undefined && journal === undefined ? undefined : readInstance(read);
  const endpoint = (service: AwsService, name: string): string =>
    readEndpoint(read, name) ?? (region === undefined ? '' : awsEndpoint(service, region));
  return {
    region,
    endpoints: {
      dynamodb: endpoint('dynamodb', names.ENV_AWS_DYNAMODB_ENDPOINT),
      lambda: endpoint('lambda', names.ENV_LAMBDA_ENDPOINT),
      ssm: endpoint('ssm', names.ENV_AWS_SSM_ENDPOINT),
    },
    tokenParameter,
    caParameter,
    proxyParameter,
    heartbeat: table === undefined ? undefined : { table, instance: instance ?? '' },
    journal: journal === undefined ? undefined : { table: journal, instance: instance ?? '' },
  };
}

function readRegion(read: EnvReader): string {
  const region = read.required(names.ENV_AWS_REGION, 'eu-central-1');
  if (region !== '' && !REGION.test(region)) {
    read.problem(`${names.ENV_AWS_REGION} is "${region}"; expected a region such as eu-central-1`);
  }
  return region;
}

function readInstance(read: EnvReader): string {
  const instance = read.required(names.ENV_RELAY_GITLAB_INSTANCE, 'gitlab.example.com');
  if (instance.includes('#')) {
    read.problem(`${names.ENV_RELAY_GITLAB_INSTANCE} is "${instance}"; expected a host name without "#"`);
  }
  return instance;
}

/** Secrets travel to these endpoints, so without TLS only inside this machine. */
function readEndpoint(read: EnvReader, name: string): string | undefined {
  const text = read.optional(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname)))
    return url.origin;
  read.problem(`${name}: expected https:// and a host, or http:// and this machine`);
  return '';
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
