/** The two routes to the admit function in AWS: its Function URL, and Lambda's Invoke API for networks that reach no such URL. */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../policies/document/reading.ts';
import { errorName } from '../aws/aws-json.ts';
import { RelayError } from '../relay-error.ts';
import { VERSION } from '../version.ts';
import { type Fetch, type FetchResponse, readResponseText } from './admit-call.ts';

/**
 * Calls the Function URL. The function itself never answers 403: AWS refused the signature or the right. The function has not
 * seen the call, so unmetered decisions in it must not be given up.
 *
 * @param fetch - signs for `lambda`.
 */
export function urlRoute(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status !== 403) return response;
    await response.body?.cancel();
    throw unreachable(
      `the Function URL refused the call: 403${errorNameIn(response)}; the role needs both lambda:InvokeFunctionUrl and lambda:InvokeFunction`,
    );
  };
}

/** The base URL for {@link invokeRoute}, which uses the path below it only. */
export const INVOKE_URL = 'http://admit.invoke';

/** Lambda returns at most 6 MB. */
const PAYLOAD_BYTES_MAX = 6 * 1024 * 1024 + 1024;

/**
 * Invokes the function with the event of a Function URL, so one handler serves both routes. Rejects with {@link RelayError}
 * `admit_unreachable` if the response is not the function's own.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export function invokeRoute(options: {
  readonly fetch: Fetch;
  readonly endpoint: string;
  readonly functionName: string;
  readonly nowMs: () => number;
}): Fetch {
  const { fetch, endpoint, functionName, nowMs } = options;
  const invocations = `${endpoint}/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
  return async (url, init) => {
    const { pathname: path } = new URL(url);
    const { method = 'GET', body } = init;
    if (typeof body !== 'string') throw new TypeError('only text can be sent');
    const response = await fetch(invocations, {
      ...init,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'RequestResponse' },
      body: JSON.stringify(functionUrlEvent(method, path, body, nowMs())),
    });
    if (response.status === 429) return response;
    if (response.status !== 200) {
      await response.body?.cancel();
      throw unreachable(
        `Lambda refused to invoke the admit function: ${response.status}${errorNameIn(response)}`,
      );
    }
    const failure = response.headers.get('x-amz-function-error');
    if (failure !== null) {
      // The payload is the error with its stack, which may quote a secret.
      await response.body?.cancel();
      throw unreachable(
        `the admit function ended with an error (${errorName(failure) ?? 'unknown'}); see its log`,
      );
    }
    const payload = await readResponseText(response, PAYLOAD_BYTES_MAX);
    const answer = payload === undefined ? undefined : responseOf(payload);
    if (answer === undefined) throw unreachable('the admit function returned what is no response');
    return answer;
  };
}

/** @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads */
function functionUrlEvent(method: string, path: string, body: string, nowMs: number): object {
  const userAgent = `tollgate/${VERSION}`;
  const { host } = new URL(INVOKE_URL);
  return {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', host, 'user-agent': userAgent },
    requestContext: {
      domainName: host,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent },
      requestId: randomUUID(),
      timeEpoch: nowMs,
    },
    body,
    isBase64Encoded: false,
  };
}

function responseOf(payload: string): Response | undefined {
  let result: unknown;
  try {
    result = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (!isRecord(result)) return undefined;
  const { statusCode: status, body = '', isBase64Encoded = false } = result;
  if (typeof status !== 'number' || status < 200 || status > 599) return undefined;
  if (typeof body !== 'string' || typeof isBase64Encoded !== 'boolean') return undefined;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  // Length and encoding in the handler's headers describe another message, so no header is kept.
  return new Response(bytes, { status, headers: { 'content-length': String(bytes.length) } });
}

function errorNameIn({ headers }: FetchResponse): string {
  const name = errorName(headers.get('x-amzn-errortype'));
  return name === undefined ? '' : ` ${name}`;
}

const unreachable = (problem: string): RelayError => new RelayError('admit_unreachable', problem);
