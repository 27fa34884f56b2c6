/** Calls AWS services by their JSON protocol, without an SDK client: signing by hand takes a fraction of the CPU. */
import { isRecord } from '../../policies/document/reading.ts';
import { type Fetch, type FetchAnswer, readResponseText } from '../admit/admit-call.ts';

export type AwsService = 'dynamodb' | 'lambda' | 'ssm';

/** Regions in China have a domain of their own. */
export const awsEndpoint = (service: AwsService, region: string): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

export interface AwsClient {
  /** Signs for the service. */
  readonly fetch: Fetch;
  /** `https://ssm.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
}

interface AwsCall {
  /** `AmazonSSM.GetParameter`, `DynamoDB_20120810.PutItem` */
  readonly target: string;
  /** The protocol's version: 1.0 for DynamoDB, 1.1 for SSM. */
  readonly version: '1.0' | '1.1';
  readonly input: object;
  readonly timeoutMs: number;
  /** @default RESPONSE_BYTES_MAX */
  readonly responseBytesMax?: number;
}

/** A parameter has at most 8 KB, and a write returns nothing. */
const RESPONSE_BYTES_MAX = 64 * 1024;

/**
 * Makes one call.
 *
 * @throws {Error} named like the service's error, e.g. `ParameterNotFound`. Its message never quotes request or response.
 * @see https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
 */
export async function awsJson({ fetch, endpoint }: AwsClient, call: AwsCall): Promise<unknown> {
  const response = await fetch(`${endpoint}/`, {
    method: 'POST',
    headers: { 'content-type': `application/x-amz-json-${call.version}`, 'x-amz-target': call.target },
    body: JSON.stringify(call.input),
    redirect: 'manual',
    signal: AbortSignal.timeout(call.timeoutMs),
  });
  const text = await readResponseText(response, call.responseBytesMax ?? RESPONSE_BYTES_MAX);
  const body = text === undefined ? undefined : parsed(text);
  if (response.status !== 200) throw awsError(call.target, response, body);
  if (body === undefined) throw new Error(`${call.target} answered with what is not JSON`);
  return body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote a secret.
    return undefined;
  }
}

function awsError(target: string, { status, headers }: FetchAnswer, body: unknown): Error {
  const name =
    errorName(isRecord(body) ? body.__type : undefined) ?? errorName(headers.get('x-amzn-errortype'));
  const error = new Error(
    `${target} answered with status ${status}${name === undefined ? '' : ` (${name})`}`,
  );
  if (name !== undefined) error.name = name;
  return error;
}

/** The form of error names. Any other text is not repeated: it may hold a secret. */
const ERROR_NAME = /^[A-Za-z]{3,60}$/;

/** Reads `com.amazonaws.ssm#ParameterNotFound:http://…` as `ParameterNotFound`. */
export function errorName(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const name = text.replace(/:.*$/s, '').replace(/^.*#/s, '');
  return ERROR_NAME.test(name) ? name : undefined;
}
