import { expect, test } from 'vitest';
import {
  type AdmitAnswer,
  callAdmit,
  type Fetch,
  RESPONSE_BYTES_MAX,
} from '../../../relay/admit/admit-call.ts';
import { handClock } from '../../../scripts/local/clock.ts';

const MARKER = 'not-a-secret';
const BASE_URL = `http://127.0.0.1:8787`;

async function call(fetch: Fetch, clock = handClock(1_000), timeoutMs = 2_000): Promise<AdmitAnswer> {
  return callAdmit({ baseUrl: BASE_URL, fetch, clock }, '/v1/admissions', '{"requests":[]}', timeoutMs);
}

/** Code and message of what went wrong; nothing of an answer. */
function failure(answer: AdmitAnswer): { code: string; text: string; cause: string | undefined } {
  if (answer.kind === 'answered') throw new Error('answered');
  const { error } = answer;
  return { code: error.code, text: error.message, cause: 'cause' in answer ? answer.cause : undefined };
}

/** A body that comes in parts; `cancelled` tells whether the rest was refused. */
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

test('a call posts the body as JSON to the path below the base URL, and leaves no timer behind', async () => {
  const clock = handClock(1_000);
  const calls: { url: string; init: RequestInit }[] = [];
  const answer = await call(async (url, init) => {
    calls.push({ url, init });
    return Response.json({ decisions: [] });
  }, clock);
  expect(answer).toEqual({ kind: 'answered', body: { decisions: [] } });
  expect(calls).toMatchObject([
    {
      url: 'http://127.0.0.1:8787/v1/admissions',
      init: { method: 'POST', body: '{"requests":[]}', headers: { 'content-type': 'application/json' } },
    },
  ]);
  expect(clock.timers).toBe(0);
});

test('fault 5: 429 is throttling, with the time that it asks for', async () => {
  const headers = { 'retry-after': '3' };
  const answer = await call(async () => new Response(MARKER, { status: 429, headers }));
  expect(answer).toMatchObject({
    kind: 'throttled',
    retryAfterMs: 3_000,
    error: { code: 'admit_throttled' },
  });
});

test.each([408, 500, 502, 503, 504])('fault 5: status %i means out of reach', async (status) => {
  const answer = await call(async () => new Response(MARKER, { status }));
  expect(answer.kind).toBe('unreachable');
  expect(failure(answer)).toEqual({
    code: 'admit_unreachable',
    text: `[admit_unreachable] /v1/admissions answered with status ${status}`,
    cause: 'unreachable',
  });
});

test.each([201, 400, 401, 403, 404, 413])('fault 5: status %i is a no', async (status) => {
  const answer = await call(async () => new Response(MARKER, { status }));
  expect(answer.kind).toBe('refused');
  expect(failure(answer)).toMatchObject({ code: 'admit_refused' });
  expect(failure(answer).text).toBe(`[admit_refused] /v1/admissions answered with status ${status}`);
});

test('fault 5: a redirect is not followed: the jobs go to nobody else', async () => {
  const asked: string[] = [];
  const answer = await call(async (url, init) => {
    asked.push(url);
    expect(init.redirect).toBe('manual');
    return new Response(null, { status: 307, headers: { location: `https://${MARKER}.example.com` } });
  });
  expect(asked).toHaveLength(1);
  expect(answer.kind).toBe('refused');
  expect(failure(answer).text).not.toContain(MARKER);
});

test.each([
  { error: Object.assign(new TypeError(MARKER), { cause: { code: 'ECONNREFUSED' } }), told: 'ECONNREFUSED' },
  { error: new TypeError(MARKER), told: 'TypeError' },
  { error: MARKER, told: 'unknown failure' },
])('fault 5: a network error is told as $told, without the message', async ({ error, told }) => {
  const answer = await call(() => Promise.reject(error));
  expect(failure(answer)).toEqual({
    code: 'admit_unreachable',
    text: `[admit_unreachable] /v1/admissions could not be called: ${told}`,
    cause: 'unreachable',
  });
});

test('fault 5: a call that hangs is aborted at its deadline and told as such', async () => {
  const clock = handClock(1_000);
  let signal: AbortSignal | null | undefined;
  const answering = call((_url, init) => {
    signal = init.signal;
    return new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  }, clock);
  clock.advance(1_999);
  expect(signal?.aborted).toBe(false);
  clock.advance(1);
  expect(failure(await answering)).toMatchObject({ code: 'admit_unreachable', cause: 'deadline' });
  expect(signal?.aborted).toBe(true);
});

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
      text: '[admit_unreachable] /v1/admissions answered with what is not JSON',
      cause: 'malformed',
    });
    expect(answer.kind === 'answered' ? undefined : answer.error.cause).toBeUndefined();
  },
);

test.each([
  { headers: {}, guarantee: 'without a length' },
  { headers: { 'content-length': String(RESPONSE_BYTES_MAX + 1) }, guarantee: 'with its length' },
  // The length is that of the packed bytes; `fetch` hands out the unpacked ones.
  { headers: { 'content-length': '100', 'content-encoding': 'gzip' }, guarantee: 'packed small' },
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

test('an answer of exactly the size allowed is read, characters across parts included', async () => {
  const text = Buffer.from(`"${'é'.repeat((RESPONSE_BYTES_MAX - 2) / 2)}"`);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      // Between the two bytes of one é.
      controller.enqueue(text.subarray(0, 1_000));
      controller.enqueue(text.subarray(1_000));
      controller.close();
    },
  });
  const answer = await call(async () => new Response(stream));
  expect(answer).toEqual({ kind: 'answered', body: JSON.parse(text.toString('utf8')) });
});
