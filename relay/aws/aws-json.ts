/** Calls AWS services by their JSON protocol, without an SDK client: signing by hand takes a fraction of the CPU. */

import { randomUUID } from 'node:crypto';
import type { Beat } from '../../functions/core/contract/admissions.ts';
import * as names from '../../functions/names.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { type Fetch, type FetchResponse, readResponseText } from '../admit/admit-call.ts';

export type AwsService = 'dynamodb' | 'lambda' | 'ssm';

export const awsEndpoint = (service: AwsService, region: string): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

export interface AwsClient {
  readonly fetch: Fetch;
  readonly endpoint: string;
}

interface AwsCall {
  readonly target: string;
  readonly input: object;
  readonly timeoutMs: number;
}

/** A page of DynamoDB has 1 MB, a third more in base64. */
const RESPONSE_BYTES_MAX = 2 * 1024 * 1024;

/**
 * Makes one call.
 *
 * @throws {Error} named like the service's error, e.g. `ParameterNotFound`. Its message never quotes request or response.
 * @see https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
 */
export async function awsJson({ fetch, endpoint }: AwsClient, call: AwsCall): Promise<unknown> {
  const version = call.target.startsWith('DynamoDB') ? '1.0' : '1.1';
  const response = await fetch(`${endpoint}/`, {
    method: 'POST',
    headers: { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': call.target },
    body: JSON.stringify(call.input),
    redirect: 'manual',
    signal: AbortSignal.timeout(call.timeoutMs),
  });
  const text = await readResponseText(response, RESPONSE_BYTES_MAX);
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

function awsError(target: string, { status, headers }: FetchResponse, body: unknown): Error {
  const name =
    errorName(isRecord(body) ? body.__type : undefined) ?? errorName(headers.get('x-amzn-errortype'));
  const reason = name === undefined ? '' : ` (${name})`;
  const error = new Error(`${target} answered with status ${status}${reason}`);
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

// Items that a relay writes into the table itself, because the function may be down when they matter: its heartbeat, and
// fallback decisions (the journal). Every write rejects if the table does not take the item.

export interface RelayTable extends AwsClient {
  readonly table: string;
  readonly instance: string;
}

export async function putItem(table: RelayTable, item: object, timeoutMs: number): Promise<void> {
  await awsJson(table, {
    target: 'DynamoDB_20120810.PutItem',
    input: {
      TableName: table.table,
      Item: { ...item, [names.VERSION_ATTRIBUTE]: { N: names.ITEM_VERSION } },
    },
    timeoutMs,
  });
}

/** A write takes a few milliseconds. A relay that stops must ask the function within the same two seconds. */
const JOURNAL_TIMEOUT_MS = 1_000;
/** As long as the dead letters of the stream that books the items. */
const JOURNAL_KEPT_SECONDS = 14 * 24 * 3_600;

/** Writes one batch `{"answers": […]}` as one item. The stream that settles jobs books it; a repeated decision is booked once. */
export type WriteJournal = (body: string) => Promise<void>;

export function journalWriter(journal: RelayTable & { readonly nowMs: () => number }): WriteJournal {
  const { instance, nowMs } = journal;
  return async (body) => {
    const atMs = nowMs();
    const item = {
      [names.PK]: { S: `${instance}${names.JOURNAL_PK_PREFIX}${randomUUID()}` },
      [names.SK]: { S: names.INBOX_SK },
      b: { S: body },
      at: { N: String(atMs) },
      [names.TTL_ATTRIBUTE]: { N: String(Math.ceil(atMs / 1_000) + JOURNAL_KEPT_SECONDS) },
    };
    await putItem(journal, item, JOURNAL_TIMEOUT_MS);
  };
}

const HEARTBEAT_TIMEOUT_MS = 5_000;
/** Long enough to look into an incident, short enough that items of crashed relays do not pile up. */
const HEARTBEAT_KEPT_SECONDS = 3_600;

export function heartbeatWriter(heartbeat: RelayTable & { readonly relayId: string }) {
  const { instance, relayId } = heartbeat;
  return async (beat: Beat): Promise<void> => {
    const { atMs, schema, waiting } = beat;
    const values = {
      [names.PK]: `${instance}${names.HEARTBEAT_PK_SUFFIX}`,
      [names.SK]: relayId,
      [names.HEARTBEAT_AT]: atMs,
      [names.HEARTBEAT_STREAMS]: beat.openStreams,
      [names.HEARTBEAT_SCHEMA]: schema?.source,
      [names.HEARTBEAT_SCHEMA_HASH]: schema?.hash,
      [names.HEARTBEAT_SCHEMA_STATE]: schema?.state,
      [names.HEARTBEAT_SCHEMA_PLACEHOLDER]: schema?.placeholder || undefined,
      [names.HEARTBEAT_DIRECTORY_AGE]: beat.directoryAgeMs,
      [names.HEARTBEAT_BREAKER]: beat.breaker,
      [names.HEARTBEAT_POLICY]: beat.policyVersion,
      [names.HEARTBEAT_ANSWER_WITHIN]: beat.answerWithinMs,
      [names.HEARTBEAT_WAITING]: waiting && JSON.stringify(waiting),
      [names.TTL_ATTRIBUTE]: Math.floor(atMs / 1_000) + HEARTBEAT_KEPT_SECONDS,
    };
    const item = Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, attributeOf(value)] as const],
    );
    await putItem(heartbeat, Object.fromEntries(item), HEARTBEAT_TIMEOUT_MS);
  };
}

function attributeOf(value: string | number | boolean) {
  if (typeof value === 'number') return { N: String(value) };
  return typeof value === 'string' ? { S: value } : { BOOL: value };
}
