import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { hookBench, newJob, START_MS } from '../../../support/hook-bench.ts';

const SIGNING_TOKEN = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

async function requestsOf(secrets: { signingToken?: string; secretToken?: string }) {
  const requests: { headers: Headers; body: string; url: string }[] = [];
  const { local } = hookBench({
    ...secrets,
    hookUrl: 'http://settle.localhost/v1/gitlab',
    instanceUrl: 'https://gitlab.example.com',
    receive: undefined as never,
    deliver: async (request) => {
      requests.push({ headers: request.headers, body: await request.text(), url: request.url });
      return new Response(null, { status: 200 });
    },
  });
  local.create(newJob(1));
  await local.hooksIdle();
  return requests;
}

test("a delivery has GitLab's headers", async () => {
  const [request] = await requestsOf({ secretToken: 'legacy' });
  expect(request?.url).toBe('http://settle.localhost/v1/gitlab');
  expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^GitLab\//),
    'x-gitlab-event': 'Job Hook',
    'x-gitlab-instance': 'https://gitlab.example.com',
    'x-gitlab-token': 'legacy',
    'webhook-timestamp': String(START_MS / 1000),
    'webhook-id': request?.headers.get('idempotency-key'),
  });
  expect(request?.headers.has('webhook-signature')).toBe(false);
});

test('a signed delivery is signed over its id, its time and its body', async () => {
  const [request] = await requestsOf({ signingToken: SIGNING_TOKEN });
  const id = request?.headers.get('webhook-id') ?? '';
  const expected = new Webhook(SIGNING_TOKEN).sign(id, new Date(START_MS), request?.body ?? '');
  expect(request?.headers.get('webhook-signature')).toBe(expected);
  expect(request?.headers.has('x-gitlab-token')).toBe(false);
});

test('every event has an id of its own', async () => {
  const ids = (await requestsOf({})).map(({ headers }) => headers.get('webhook-id'));
  expect(new Set(ids).size).toBe(2);
});
