import { handle } from 'hono/aws-lambda';
import { describe, expect, test } from 'vitest';
import {
  type AdmitResult,
  callAdmit,
  type Fetch,
  RESPONSE_BYTES_MAX,
} from '../../../relay/admit/admit-call.ts';
import { INVOKE_URL, invokeRoute, urlRoute } from '../../../relay/admit/routes.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { admitApp, flowRules } from '../../support/flow/flow.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';

const BASE_URL = `http://127.0.0.1:8787`;

async function call(fetch: Fetch, clock = handClock(1_000), timeoutMs = 2_000): Promise<AdmitResult> {
  return callAdmit({ baseUrl: BASE_URL, fetch, clock }, '/v1/admissions', '{"requests":[]}', timeoutMs);
}

function failure(answer: AdmitResult): { code: string; text: string; cause: string | undefined } {
  if (answer.kind === 'answered') throw new Error('answered');
  const { error } = answer;
  return { code: error.code, text: error.message, cause: 'cause' in answer ? answer.cause : undefined };
}

function parts(bytesEach: number, count: number) {
  const seen = { pulled: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.pulled += 1;
      controller.enqueue(new Uint8Array(bytesEach).fill(0x20));
      if (seen.pulled === count) controller.close();
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return { seen, stream };
}

test('fault 5: headers in time and a body that never ends meet the deadline, though fetch ignores the signal', async () => {
  const clock = handClock(1_000);
  const stuck = new ReadableStream({ pull: () => new Promise(() => {}) });
  const answering = call(async () => new Response(stuck, { headers: { 'content-length': '10' } }), clock);
  clock.advance(2_000);
  expect(failure(await answering)).toMatchObject({ cause: 'deadline' });
});

test.each(['', '<html>not-a-secret</html>', '{"decisions":[not-a-secret'])(
  'fault 5: "%s" is malformed, and not quoted',
  async (body) => {
    const answer = await call(async () => new Response(body));
    expect(failure(answer)).toEqual({
      code: 'admit_unreachable',
      text: '[admit_unreachable] /v1/admissions answered with a body that is not JSON',
      cause: 'malformed',
    });
    expect(answer.kind === 'answered' ? undefined : answer.error.cause).toBeUndefined();
  },
);

test.each([
  { headers: {}, guarantee: 'without a length' },
  { headers: { 'content-length': String(RESPONSE_BYTES_MAX + 1) }, guarantee: 'with its length' },
])('fault 5: an answer too large $guarantee is malformed and not read to its end', async ({ headers }) => {
  const { seen, stream } = parts(1024 * 1024, 64);
  const answer = await call(async () => new Response(stream, { headers }));
  expect(failure(answer)).toEqual({
    code: 'admit_unreachable',
    text: `[admit_unreachable] /v1/admissions answered with more than ${RESPONSE_BYTES_MAX} bytes`,
    cause: 'malformed',
  });
  expect(seen.cancelled).toBe(true);
  expect(seen.pulled).toBeLessThan(8);
});

describe('the route by Invoke', () => {
  const MARKER = 'not-a-secret';
  const route = (fetch: Fetch): Fetch =>
    invokeRoute({
      fetch,
      endpoint: 'https://lambda.eu-central-1.amazonaws.com',
      functionName: 'arn:aws:lambda:eu-central-1:123456789012:function:admit',
      nowMs: () => 1_000,
    });
  const call = (fetch: Fetch, path = '/v1/admissions', body = '{"requests":[],"remainingMs":1000}') =>
    callAdmit({ baseUrl: INVOKE_URL, fetch: route(fetch), clock: handClock(1_000) }, path, body, 2_000);

  function lambda() {
    const rules = flowRules([{ on: { project: 1001 }, jobs: 1 }]);
    const handler = handle(admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules).app);
    const invocations: { url: string; headers: Headers }[] = [];
    const fetch: Fetch = async (url, init) => {
      invocations.push({ url, headers: new Headers(init.headers) });
      const event = JSON.parse(String(init.body));
      const result = await Reflect.apply(handler, undefined, [event, {}]);
      return new Response(JSON.stringify(result));
    };
    return { fetch, invocations };
  }

  const job = (jobId: number) => ({
    jobId,
    projectId: 1001,
    projectPath: 'acme/payments/checkout',
    namespaceId: 101,
    rootNamespaceId: 100,
    timeoutSeconds: 600,
    jobTags: [],
    runnerTags: [],
  });

  test('the real admit app decides jobs that come by Invoke as if by its Function URL', async () => {
    const { fetch, invocations } = lambda();
    const body = JSON.stringify({ requests: [job(1), job(2)], remainingMs: 5_000 });
    const answer = await call(fetch, '/v1/admissions', body);
    expect(answer).toMatchObject({
      kind: 'answered',
      body: { decisions: [{ outcome: 'admitted' }, { outcome: 'rejected' }] },
    });
    expect(invocations.map(({ url }) => url)).toEqual([
      'https://lambda.eu-central-1.amazonaws.com/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-central-1%3A123456789012%3Afunction%3Aadmit/invocations',
    ]);
    expect(invocations[0]?.headers.get('x-amz-invocation-type')).toBe('RequestResponse');
  });

  test('a function that failed is out of reach, whatever it says', async () => {
    const answer = await call(
      async () =>
        new Response(`{"errorMessage":"${MARKER}","statusCode":200,"body":"{}"}`, {
          headers: { 'x-amz-function-error': 'Unhandled' },
        }),
    );
    expect(answer).toMatchObject({ kind: 'unreachable', cause: 'unreachable' });
    if (answer.kind === 'answered') throw new Error('answered');
    expect(answer.error.message).toContain('Unhandled');
    expect(answer.error.message).not.toContain(MARKER);
  });

  test.each([
    'null',
    '{"statusCode":"200","body":"{}"}',
    '{"statusCode":99,"body":"{}"}',
    '{"statusCode":200,"body":{}}',
    '{"statusCode":200,"body":"{}","isBase64Encoded":"no"}',
    'no JSON not-a-secret',
  ])('a function that returns %s has not answered, and is not quoted', async (text) => {
    const answer = await call(async () => new Response(text));
    expect(answer).toMatchObject({ kind: 'unreachable' });
    if (answer.kind === 'answered') throw new Error('answered');
    expect(answer.error.message).toContain('returned what is no response');
    expect(answer.error.message).not.toContain(MARKER);
  });
});

describe('the route by the Function URL', () => {
  const call = (answered: () => Response | Promise<Response>) =>
    callAdmit(
      {
        baseUrl: 'https://abc.lambda-url.eu-central-1.on.aws',
        fetch: urlRoute(async () => answered()),
        clock: handClock(1_000),
      },
      '/v1/unmetered',
      '{}',
      2_000,
    );

  test('a 403 of the Function URL is AWS speaking: out of reach, so nothing that waits is given up', async () => {
    const answer = await call(
      () =>
        new Response('not-a-secret', {
          status: 403,
          headers: { 'x-amzn-errortype': 'AccessDeniedException' },
        }),
    );
    expect(answer).toMatchObject({ kind: 'unreachable', cause: 'unreachable' });
    if (answer.kind === 'answered') throw new Error('answered');
    expect(answer.error.message).toContain('403 AccessDeniedException');
    expect(answer.error.message).not.toContain('not-a-secret');
  });
});
