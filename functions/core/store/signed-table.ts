/** DynamoDB's JSON protocol. The SDK's client takes 600 to 800 µs of CPU for a transaction, this 210, and a cold start loads no client. */
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { callSigner } from '../contract/signature.ts';
import { type Environment, refuseInvalid, unset } from '../environment/settings.ts';
import { type DynamoAnswer, type DynamoCall, tableOn } from './dynamo-calls.ts';
import type { Item, ItemTable } from './operation.ts';

/** An import reads every export of `node:http`, and its `WebSocket` loads all of `fetch`: 25 ms of a cold start. */
const { Agent: HttpAgent, request: httpRequest } = process.getBuiltinModule('node:http');

const CONNECTION_TIMEOUT_MS = 500;
/** DynamoDB Local shares the processors with its caller: slow there is not dead. */
const LOCAL_CONNECTION_TIMEOUT_MS = 60_000;
/** One transaction per root group may be under way; waiting for a socket would be taken for silence. */
const SOCKETS_MAX = 256;

/** Never retries: only the ledger knows what is left of the deadline. @throws {Error} `[config_invalid]` */
export function signedTable(tableName: string, env: Environment, localEndpoint?: string): ItemTable {
  const call =
    localEndpoint === undefined
      ? signedCall(serviceAccess(env), CONNECTION_TIMEOUT_MS)
      : signedCall({ ...LOCAL_ACCESS, endpoint: localEndpoint }, LOCAL_CONNECTION_TIMEOUT_MS);
  return tableOn(call, tableName);
}

const LOCAL_ACCESS = {
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

function serviceAccess(env: Environment) {
  refuseInvalid(unset(env, ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']));
  const { AWS_REGION: region = '', AWS_SESSION_TOKEN: sessionToken } = env;
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return {
    region,
    endpoint: env.AWS_ENDPOINT_URL_DYNAMODB || env.AWS_ENDPOINT_URL || `https://dynamodb.${region}.${domain}`,
    // Those of the function's role: Lambda gives them by variables, for as long as the process lives.
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
  };
}

function signedCall(
  { endpoint, region, credentials }: ReturnType<typeof serviceAccess>,
  connectionTimeoutMs: number,
): DynamoCall {
  const sign = callSigner(region, 'dynamodb');
  const { protocol, host, hostname, port } = new URL(endpoint);
  const isSecure = protocol === 'https:';
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: SOCKETS_MAX });
  const send = isSecure ? httpsRequest : httpRequest;
  const method = 'POST';
  const path = '/';
  const to = { hostname, ...(port !== '' && { port: Number(port) }), method, path, agent };

  return async (operation, input, { leftMs }) => {
    const body = JSON.stringify(input, hasBytes(input) ? bytesAsText : undefined);
    const unsigned = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    };
    const headers = sign({ method, host, path, headers: unsigned, body }, credentials, Date.now());
    const request = send({ ...to, headers });
    const silent = setTimeout(() => request.destroy(new Error(`no answer in ${leftMs} ms`)), leftMs);
    const { status, answer } = await answerOf(request, body, connectionTimeoutMs).finally(() =>
      clearTimeout(silent),
    );
    if (status !== 200) throw failureOf(status, answer);
    return answer;
  };
}

interface RaisedAnswer extends DynamoAnswer {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
  readonly CancellationReasons?: readonly { readonly Item?: Item }[];
}

function answerOf(
  request: ClientRequest,
  body: string,
  connectionTimeoutMs: number,
): Promise<{ readonly status: number; readonly answer: RaisedAnswer }> {
  return new Promise((resolve, reject) => {
    request.on('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => {
        request.destroy(new Error(`no connection in ${connectionTimeoutMs} ms`));
      }, connectionTimeoutMs);
      const cancel = (): void => clearTimeout(timer);
      socket.once('connect', cancel).once('close', cancel);
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        try {
          const text = Buffer.concat(chunks).toString();
          const answer = JSON.parse(text) as RaisedAnswer;
          if (text.includes('"B"')) bytesFromText(answer);
          resolve({ status: response.statusCode ?? 0, answer });
        } catch {
          reject(new Error(`status ${response.statusCode}, and what is not JSON`));
        }
      });
    });
    request.end(body);
  });
}

function failureOf(status: number, answer: RaisedAnswer): Error {
  const { __type = '', message, Message, CancellationReasons, Item } = answer;
  const error = new Error(message ?? Message ?? `status ${status}`);
  error.name = __type.replace(/^.*#/, '') || 'Error';
  return Object.assign(error, { ...(CancellationReasons && { CancellationReasons }), ...(Item && { Item }) });
}

// Bytes travel as base64. Few items have any, so that most writes are spared a look at each of their values.

function hasBytes(input: object): boolean {
  const { TransactItems } = input as {
    readonly TransactItems?: readonly { readonly Put?: { readonly Item: Item } }[];
  };
  return (
    TransactItems === undefined || TransactItems.some(({ Put }) => Put !== undefined && holdsBytes(Put.Item))
  );
}

function holdsBytes(item: Item): boolean {
  for (const name in item) if (item[name]?.B !== undefined) return true;
  return false;
}

/** Buffers have a form of their own in JSON, which is made before a replacer is asked. */
function bytesAsText(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const own = this[name];
  return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value;
}

function bytesFromText({
  Item: one,
  Items = [],
  Responses = {},
  CancellationReasons = [],
}: RaisedAnswer): void {
  const shown = CancellationReasons.map((reason) => reason.Item);
  for (const item of [one, ...Items, ...Object.values(Responses).flat(), ...shown])
    for (const name in item) {
      const value = item[name] as { B?: unknown };
      if (typeof value.B === 'string') value.B = Buffer.from(value.B, 'base64');
    }
}
