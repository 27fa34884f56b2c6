import { expect, test } from 'vitest';
import { callAdmit } from '../../../relay/admit/admit-call.ts';
import { urlRoute } from '../../../relay/admit/routes.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import { handClock } from '../../../scripts/local/clock.ts';

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
      new Response('not-a-secret', { status: 403, headers: { 'x-amzn-errortype': 'AccessDeniedException' } }),
  );
  expect(answer).toMatchObject({ kind: 'unreachable', cause: 'unreachable' });
  if (answer.kind === 'answered') throw new Error('answered');
  expect(answer.error.message).toContain('403 AccessDeniedException');
  expect(answer.error.message).not.toContain('not-a-secret');
});

test.each([
  { status: 200, kind: 'answered' },
  { status: 400, kind: 'refused' },
  { status: 429, kind: 'throttled' },
])('every other answer stays what it was: $status is $kind', async ({ status, kind }) => {
  expect((await call(() => new Response('{}', { status }))).kind).toBe(kind);
});

test('a call that cannot be signed is told as such, and is out of reach', async () => {
  const answer = await call(() =>
    Promise.reject(new RelayError('admit_unreachable', 'a call could not be signed')),
  );
  expect(answer).toMatchObject({
    kind: 'unreachable',
    error: { message: '[admit_unreachable] a call could not be signed' },
  });
});
