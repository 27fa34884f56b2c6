import { expect, test } from 'vitest';
import { NodeSha256 } from '../../../functions/core/contract/network.ts';
import type { Fetch } from '../../../relay/admit/admit-call.ts';
import { type CredentialsProvider, signedFetch } from '../../../relay/aws/signed-fetch.ts';
import { type SignedCall, signatureProblems } from '../../support/relay/check-signature.ts';

/** The pair of AWS's own examples; it opens nothing. */
const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const EXPECTED = {
  region: 'eu-central-1',
  service: 'lambda',
  accessKeyId: KEYS.accessKeyId,
  secret: KEYS.secretAccessKey,
};
const NOW_MS = Date.UTC(2026, 10, 21, 9, 30, 15);

function recorder() {
  const calls: SignedCall[] = [];
  const inits: RequestInit[] = [];
  const fetch: Fetch = async (url, init) => {
    calls.push({
      method: init.method ?? 'GET',
      url,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? init.body : '',
    });
    inits.push(init);
    return new Response('{}');
  };
  return { calls, inits, fetch };
}

const signing = (fetch: Fetch, credentials: CredentialsProvider = async () => KEYS): Fetch =>
  signedFetch({
    fetch,
    credentials,
    region: EXPECTED.region,
    service: EXPECTED.service,
    nowMs: () => NOW_MS,
  });

const POST: RequestInit = {
  method: 'POST',
  body: '{"requests":[]} é',
  headers: { 'content-type': 'application/json' },
};

test.each([
  { url: 'https://abc.lambda-url.eu-central-1.on.aws/v1/admissions', guarantee: 'a Function URL' },
  {
    url: 'https://lambda.eu-central-1.amazonaws.com/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-central-1%3A123456789012%3Afunction%3Aadmit/invocations',
    guarantee: 'a path with escapes',
  },
  { url: 'http://127.0.0.1:9001/v1/admissions?b=2&a=x%20y', guarantee: 'a port and a query' },
])('a call to $guarantee carries the signature that AWS computes', async ({ url }) => {
  const { calls, fetch } = recorder();
  await signing(fetch)(url, POST);
  const [call] = calls;
  if (call === undefined) throw new Error('not sent');
  expect(signatureProblems(call, EXPECTED)).toEqual([]);
  // The check would tell: one character of the body, the path, the key or the date makes another signature.
  expect(signatureProblems({ ...call, body: `${call.body} ` }, EXPECTED)).toEqual([
    'the signature is another',
  ]);
  expect(signatureProblems({ ...call, url: `${call.url}x` }, EXPECTED)).not.toEqual([]);
  expect(signatureProblems(call, { ...EXPECTED, secret: 'another' })).toEqual(['the signature is another']);
  expect(signatureProblems(call, { ...EXPECTED, service: 'ssm' })).not.toEqual([]);
});

test('the token of a role is sent and signed, and the date is that of the clock', async () => {
  const { calls, fetch } = recorder();
  await signing(fetch, async () => ({ ...KEYS, sessionToken: 'session-not-a-secret' }))(
    'https://a.example.com/',
    POST,
  );
  expect(calls[0]?.headers).toMatchObject({
    'x-amz-security-token': 'session-not-a-secret',
    'x-amz-date': '20261121T093015Z',
  });
  expect(calls.map((call) => signatureProblems(call, EXPECTED))).toEqual([[]]);
});

test('method, body, signal and the ban on redirects come through as they were given', async () => {
  const { inits, fetch } = recorder();
  const { signal } = new AbortController();
  await signing(fetch)('https://a.example.com/', { ...POST, signal, redirect: 'manual' });
  expect(inits).toMatchObject([{ method: 'POST', body: POST.body, redirect: 'manual' }]);
  expect(inits[0]?.signal).toBe(signal);
});

test('without credentials nothing is sent: out of reach, and the words of the provider are not repeated', async () => {
  const { calls, fetch } = recorder();
  const none = signing(fetch, () =>
    Promise.reject(Object.assign(new Error('/root/.aws/not-a-secret'), { name: 'CredentialsProviderError' })),
  );
  const error: unknown = await none('https://a.example.com/', POST).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'admit_unreachable' });
  expect(String(error)).toContain('CredentialsProviderError');
  expect(String(error)).not.toContain('not-a-secret');
  expect(calls).toEqual([]);
});

test('credentials are asked for every call: whoever provides them renews them', async () => {
  const { calls, fetch } = recorder();
  let asked = 0;
  const send = signing(fetch, async () => {
    asked += 1;
    return { ...KEYS, accessKeyId: `AKID${asked}` };
  });
  await send('https://a.example.com/', POST);
  await send('https://a.example.com/', POST);
  expect(calls.map(({ headers }) => /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1])).toEqual([
    'AKID1',
    'AKID2',
  ]);
});

test('the hash starts anew after a reset, keyed or not', async () => {
  for (const secret of [undefined, 'key', new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 3]).buffer]) {
    const hash = new NodeSha256(secret);
    hash.update('one');
    const first = await hash.digest();
    hash.reset();
    hash.update('one');
    expect(await hash.digest()).toEqual(first);
  }
});
