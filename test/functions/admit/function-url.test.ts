import { expect, test } from 'vitest';
import { onFunctionUrl, type RouteCall } from '../../../functions/admit/routes.ts';
import { HEALTH_PATH } from '../../../functions/core/contract/admissions.ts';

const event = (method: string, rawPath: string, more: object = {}) => ({
  rawPath,
  requestContext: { http: { method } },
  ...more,
});

test('a body is text also where Lambda hands it over as base64', async () => {
  const seen: RouteCall[] = [];
  const note = onFunctionUrl(async (call) => {
    seen.push(call);
    return { status: 200, body: { status: 'ok' } };
  });
  const response = await note(
    event('POST', '/v1/x', { body: Buffer.from('größe').toString('base64'), isBase64Encoded: true }),
  );
  await note(event('GET', HEALTH_PATH));
  expect(seen).toEqual([
    { method: 'POST', path: '/v1/x', text: 'größe' },
    { method: 'GET', path: HEALTH_PATH, text: '' },
  ]);
  expect(response).toEqual({
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"status":"ok"}',
    isBase64Encoded: false,
  });
});
