import { randomUUID } from 'node:crypto';
import { isRecord } from '../../policies/document/reading.ts';
import { type Fetch, type FetchAnswer, readResponseText } from '../admit-call.ts';
import { errorName } from '../aws/aws-error.ts';
import { RelayError } from '../relay-error.ts';
import { functionUrlEvent } from './function-url-event.ts';

interface InvokeRouteDeps {
  /** Signs for `lambda`. */
  readonly fetch: Fetch;
  /** `https://lambda.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
  /** Name or ARN. */
  readonly functionName: string;
  readonly nowMs: () => number;
}

/** Stands in for the URL of the service; only the path below it is used. */
export const INVOKE_URL = 'http://admit.invoke';

/** What Lambda returns at most. */
const PAYLOAD_BYTES_MAX = 6 * 1024 * 1024 + 1024;

/**
 * Calls the admit function by Lambda's API, as if by its Function URL. Whatever is not the function's own answer is a
 * {@link RelayError} `admit_unreachable`: what AWS refuses, the function has not looked at.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export function invokeRoute({ fetch, endpoint, functionName, nowMs }: InvokeRouteDeps): Fetch {
  const url = `${endpoint}/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
  return async (asked, init) => {
    const { pathname: path } = new URL(asked);
    const { method = 'GET', body } = init;
    if (typeof body !== 'string') throw new TypeError('only text can be sent');
    const event = functionUrlEvent({ method, path, body, requestId: randomUUID(), nowMs: nowMs() });
    const response = await fetch(url, {
      ...init,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'RequestResponse' },
      body: JSON.stringify(event),
    });
    if (response.status === 429) return throttledByLambda(response);
    if (response.status !== 200) throw await refusedByLambda(response);
    const failure = response.headers.get('x-amz-function-error');
    if (failure !== null) {
      // The payload is the error with its stack, which may quote anything.
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

/** As a Function URL says it: the function is there, and too many of it run. */
async function throttledByLambda({ headers, body }: FetchAnswer): Promise<Response> {
  await body?.cancel();
  const after = headers.get('retry-after');
  return new Response(null, { status: 429, ...(after !== null && { headers: { 'retry-after': after } }) });
}

async function refusedByLambda({ status, headers, body }: FetchAnswer): Promise<RelayError> {
  await body?.cancel();
  const name = errorName(headers.get('x-amzn-errortype'));
  return unreachable(
    `Lambda refused to invoke the admit function: ${status}${name === undefined ? '' : ` ${name}`}`,
  );
}

const unreachable = (problem: string): RelayError => new RelayError('admit_unreachable', problem);

/** Bodies with these may not be made: `Response` refuses them. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** The response that a handler of Function URL events returned; undefined if it is none. */
function responseOf(text: string): Response | undefined {
  const result = parsed(text);
  if (!isRecord(result)) return undefined;
  const { statusCode, body = '', isBase64Encoded = false } = result;
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599)
    return undefined;
  if (typeof body !== 'string' || typeof isBase64Encoded !== 'boolean') return undefined;
  if (BODILESS.has(statusCode)) return new Response(null, { status: statusCode });
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  // No header is kept: the length and packing they tell are those of another message.
  return new Response(bytes, { status: statusCode, headers: { 'content-length': String(bytes.length) } });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
