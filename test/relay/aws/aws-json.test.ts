import { expect, test } from 'vitest';
import type { Fetch } from '../../../relay/admit/admit-call.ts';
import { readParameter } from '../../../relay/aws/aws-services.ts';

const read = (fetch: Fetch) =>
  readParameter({ fetch, endpoint: 'https://ssm.eu-central-1.amazonaws.com' }, '/tollgate/prod/router-token');

test('a parameter is asked for by name, decrypted, and its text comes back', async () => {
  const calls: { url: string; init: RequestInit }[] = [];
  const text = await read(async (url, init) => {
    calls.push({ url, init });
    return Response.json({ Parameter: { Name: 'x', Value: 'glrct-one' } });
  });
  expect(text).toBe('glrct-one');
  expect(calls).toMatchObject([
    {
      url: 'https://ssm.eu-central-1.amazonaws.com/',
      init: {
        method: 'POST',
        headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AmazonSSM.GetParameter' },
        body: '{"Name":"/tollgate/prod/router-token","WithDecryption":true}',
        redirect: 'manual',
      },
    },
  ]);
  expect(calls[0]?.init.signal).toBeInstanceOf(AbortSignal);
});

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
      new Response('not-a-secret', { status: 403, headers: { 'x-amzn-errortype': 'AccessDenied:http://x' } }),
    name: 'AccessDenied',
  },
  { response: () => Response.json({ __type: 'not a name <not-a-secret>' }, { status: 500 }), name: 'Error' },
  { response: () => new Response('not-a-secret'), name: 'Error' },
  { response: () => Response.json({ Parameter: { Value: 7 } }), name: 'Error' },
  { response: () => new Response('x'.repeat(65 * 1024)), name: 'Error' },
])('what is no answer fails as $name, and is not quoted', async ({ response, name }) => {
  const error: unknown = await read(async () => response()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name });
  expect(String(error)).not.toContain('not-a-secret');
});
