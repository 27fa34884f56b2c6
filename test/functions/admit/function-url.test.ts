import { expect, test } from 'vitest';
import { admitRoutes, onFunctionUrl, type RouteCall } from '../../../functions/admit/routes.ts';
import { ADMISSIONS_PATH, BODY_BYTES_MAX, HEALTH_PATH } from '../../../functions/core/contract/index.ts';
import { silentLog, systemClock } from '../../../functions/core/environment/index.ts';

const event = (method: string, rawPath: string, more: object = {}) => ({
  rawPath,
  requestContext: { http: { method } },
  ...more,
});

/** Nothing that is asked here reaches the ledger. */
const answer = onFunctionUrl(
  admitRoutes({
    ledger: {} as never,
    currentRules: () => Promise.reject(new Error('secret')),
    clock: systemClock,
    log: silentLog,
  }),
);

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

test.each([
  { guarantee: 'no such path', of: event('POST', '/v2/admissions'), status: 404 },
  { guarantee: 'another method', of: event('GET', ADMISSIONS_PATH), status: 404 },
  { guarantee: 'no body', of: event('POST', ADMISSIONS_PATH), status: 400 },
  {
    guarantee: 'more bytes than are taken, in fewer characters',
    of: event('POST', ADMISSIONS_PATH, { body: 'ö'.repeat(BODY_BYTES_MAX / 2 + 1) }),
    status: 413,
  },
])('$guarantee: $status', async ({ of, status }) => {
  expect((await answer(of)).statusCode).toBe(status);
});

test('what fails inside is 500 and says nothing of the cause', async () => {
  const body = JSON.stringify({ requests: [{ jobId: 1 }], remainingMs: 1_000 });
  const response = await answer(event('POST', ADMISSIONS_PATH, { body }));
  expect(response.statusCode).toBe(500);
  expect(response.body).toBe('{"problems":["internal error"]}');
});
