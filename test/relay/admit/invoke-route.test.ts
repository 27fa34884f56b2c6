import { handle } from 'hono/aws-lambda';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { callAdmit, type Fetch } from '../../../relay/admit/admit-call.ts';
import { INVOKE_URL, invokeRoute } from '../../../relay/admit/routes.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { admitApp, flowRules } from '../../support/flow/flow.ts';

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

/** Lambda with the real admit app behind it, by the same adapter as in the function. */
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

test.each([
  {
    path: '/v1/unmetered',
    body: '{"answers":[{}]}',
    expected: { kind: 'answered', body: { results: [{ outcome: 'invalid' }] } },
  },
  { path: '/v1/admissions', body: 'no JSON', expected: { kind: 'refused' } },
  { path: '/nowhere', body: '{}', expected: { kind: 'refused' } },
])(
  'the app sees the path and the body: $path with $body is $expected.kind',
  async ({ path, body, expected }) => {
    expect(await call(lambda().fetch, path, body)).toMatchObject(expected);
  },
);

test('a body in base64 is unpacked', async () => {
  const body = Buffer.from('{"decisions":["é"]}').toString('base64');
  const fetch: Fetch = async () => Response.json({ statusCode: 200, body, isBase64Encoded: true });
  expect(await call(fetch)).toEqual({ kind: 'answered', body: { decisions: ['é'] } });
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

test('what Lambda throttles is throttling, as by the Function URL', async () => {
  const headers = { 'x-amzn-errortype': 'TooManyRequestsException', 'retry-after': '1' };
  const answer = await call(async () => new Response(MARKER, { status: 429, headers }));
  expect(answer).toMatchObject({ kind: 'throttled', retryAfterMs: 1_000 });
});

test.each([
  { status: 403, type: 'AccessDeniedException' },
  { status: 404, type: 'ResourceNotFoundException:http://internal.amazon.com/' },
  { status: 500, type: 'ServiceException' },
])(
  'what Lambda itself refuses with $status, the function has not looked at: out of reach',
  async ({ status, type }) => {
    const answer = await call(
      async () => new Response(MARKER, { status, headers: { 'x-amzn-errortype': type } }),
    );
    expect(answer).toMatchObject({ kind: 'unreachable', cause: 'unreachable' });
    if (answer.kind === 'answered') throw new Error('answered');
    expect(answer.error.message).toContain(`${status} ${type.replace(/:.*/, '')}`);
    expect(answer.error.message).not.toContain(MARKER);
  },
);

test.each([
  'null',
  '[]',
  '"not-a-secret"',
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
