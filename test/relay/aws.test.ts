import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Fetch, FetchInit } from '../../relay/admit/admit-call.ts';
import { readParameter } from '../../relay/aws/aws-services.ts';
import { type CredentialsProvider, signedFetch } from '../../relay/aws/signed-fetch.ts';
import { parameterToken, START_MS_MAX } from '../../relay/token.ts';
import { handClock } from '../../scripts/local/clock.ts';
import { type SignedCall, signatureProblems } from '../support/relay/check-signature.ts';

describe('SSM', () => {
  const read = (fetch: Fetch) =>
    readParameter(
      { fetch, endpoint: 'https://ssm.eu-central-1.amazonaws.com' },
      '/tollgate/prod/router-token',
    );

  test.each([
    {
      response: () =>
        Response.json(
          { __type: 'com.amazonaws.ssm#ParameterNotFound', message: 'not-a-secret' },
          { status: 400 },
        ),
      name: 'ParameterNotFound',
    },
    {
      response: () =>
        new Response('not-a-secret', {
          status: 403,
          headers: { 'x-amzn-errortype': 'AccessDenied:http://x' },
        }),
      name: 'AccessDenied',
    },
    { response: () => Response.json({ Parameter: { Value: 7 } }), name: 'Error' },
    { response: () => new Response('x'.repeat(65 * 1024)), name: 'Error' },
  ])('what is no answer fails as $name, and is not quoted', async ({ response, name }) => {
    const error: unknown = await read(async () => response()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name });
    expect(String(error)).not.toContain('not-a-secret');
  });
});

describe('the token in a parameter', () => {
  /** A parameter whose every read gives the next of what is scripted; errors are thrown, the last stays. */
  function parameter(...script: readonly (string | Error)[]) {
    const clock = handClock(1_000);
    const failures: unknown[] = [];
    const parameterStore = { reads: 0 };
    const load = async (): Promise<string> => {
      const next = script[Math.min(parameterStore.reads, script.length - 1)];
      parameterStore.reads += 1;
      if (typeof next === 'string') return next;
      throw next;
    };
    const opening = parameterToken('/tollgate/prod/router-token', {
      parameter: load,
      clock,
      random: () => 1,
      failed: (error) => failures.push(error),
    });
    return { clock, failures, parameterStore, opening };
  }

  const denied = () => Object.assign(new Error('glrct-not-a-secret'), { name: 'AccessDeniedException' });

  test.each([
    { script: denied(), told: 'AccessDeniedException' },
    { script: ' ', told: 'is empty' },
    { script: 'glrct-not-a-secret\r\nx-evil: 1', told: 'characters no token has' },
  ])('two minutes without a token end the start: $told, and no text of it', async ({ script, told }) => {
    const { clock, parameterStore, opening } = parameter(script);
    const ending = opening.catch((error: unknown) => error);
    for (let passedMs = 0; passedMs <= START_MS_MAX; passedMs += 10_000) {
      await setImmediate();
      clock.advance(10_000);
    }
    const error = await ending;
    expect(error).toMatchObject({ code: 'token_unreadable' });
    expect(String(error)).toContain('/tollgate/prod/router-token');
    expect(String(error)).toContain(told);
    expect(String(error)).not.toContain('not-a-secret');
    expect(parameterStore.reads).toBeLessThan(30);
  });

  test('a refused token is read anew, once for all the streams that were refused', async () => {
    const { clock, parameterStore, opening } = parameter('glrct-one', 'glrct-two', 'glrct-three');
    const token = await opening;
    for (let stream = 0; stream < 8; stream += 1) token.refresh();
    await setImmediate();
    expect(token.read()).toBe('glrct-two');
    token.refresh();
    await setImmediate();
    expect(parameterStore.reads).toBe(2);
    clock.advance(5_000);
    token.refresh();
    await setImmediate();
    expect(token.read()).toBe('glrct-three');
  });
});

describe('signed calls', () => {
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

  const POST: FetchInit = {
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

  test('without credentials nothing is sent: out of reach, and the words of the provider are not repeated', async () => {
    const { calls, fetch } = recorder();
    const none = signing(fetch, () =>
      Promise.reject(
        Object.assign(new Error('/root/.aws/not-a-secret'), { name: 'CredentialsProviderError' }),
      ),
    );
    const error: unknown = await none('https://a.example.com/', POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'admit_unreachable' });
    expect(String(error)).toContain('CredentialsProviderError');
    expect(String(error)).not.toContain('not-a-secret');
    expect(calls).toEqual([]);
  });
});
