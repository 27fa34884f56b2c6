import { afterEach, describe, expect, test } from 'vitest';
import { loadSchema } from '../../../../relay/wire/schema.ts';
import { handClock } from '../../../../scripts/local/clock/hand-clock.ts';
import type { CutMeans, CutPoint } from '../../../../scripts/local/router/faults.ts';
import {
  type LocalRouter,
  type LocalRouterOptions,
  startLocalRouter,
} from '../../../../scripts/local/router/local-router.ts';
import { unknownFields } from '../../../support/relay/unknown-fields.ts';
import { type BareClient, type BareClientOptions, bareClient } from './bare-client.ts';

const schema = loadSchema();
const job = { id: 7 };
const closers: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aRouter(options: Partial<LocalRouterOptions> = {}): Promise<LocalRouter> {
  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: ['glrct-one'], state: 'enabled' }],
    wsPort: 'off',
    ...options,
  });
  closers.push(() => router.close());
  return router;
}

function aClient(router: LocalRouter, options: Partial<BareClientOptions> = {}): BareClient {
  const client = bareClient(router.grpcUrl ?? router.wsUrl ?? '', { schema, token: 'glrct-one', ...options });
  closers.push(() => client.close());
  return client;
}

async function aStream(router: LocalRouter, client: BareClient) {
  const before = router.waitingStreams();
  const stream = client.open();
  await router.until(() => router.waitingStreams() > before, { what: 'one more waiting stream' });
  return stream;
}

/** What follows is decided by the cut alone: whether the question is seen, and whether the answer counts. */
const cuts: readonly { point: CutPoint; means: CutMeans; seen: boolean | 'maybe'; result: string }[] = [
  { point: 'before_question', means: 'status', seen: false, result: 'failed' },
  { point: 'before_question', means: 'connection', seen: false, result: 'failed' },
  { point: 'after_question', means: 'status', seen: true, result: 'failed' },
  { point: 'after_question', means: 'connection', seen: 'maybe', result: 'failed' },
  { point: 'before_reading', means: 'status', seen: true, result: 'failed' },
  { point: 'before_reading', means: 'connection', seen: true, result: 'failed' },
  { point: 'after_answer', means: 'status', seen: true, result: 'admitted' },
  { point: 'after_answer', means: 'connection', seen: true, result: 'admitted' },
];

describe.each(['grpc', 'ws'] as const)('over %s', (transport) => {
  test.each(cuts)(
    'a stream cut $point by $means leaves the job $result',
    async ({ point, means, seen, result }) => {
      const router = await aRouter(transport === 'grpc' ? {} : { grpcPort: 'off', wsPort: 0 });
      const stream = await aStream(router, aClient(router));
      router.faults.cutStreams(point, { means });
      const admission = router.admit(job);
      stream.question.then(
        () => stream.admit(),
        () => {},
      );
      expect((await admission).result).toBe(result);
      expect((await stream.ended).code).toBe(14);
      if (seen !== 'maybe') expect(stream.questions.length).toBe(seen ? 1 : 0);
      expect(router.waitingStreams()).toBe(0);
    },
  );
});

test('only the connection under the cut stream is reset', async () => {
  const router = await aRouter({ grpcPort: 'off', wsPort: 0 });
  const one = await aStream(router, aClient(router));
  router.faults.cutStreams('before_reading', { means: 'connection' });
  const admission = router.admit(job);
  await one.question;
  const other = await aStream(router, aClient(router));
  one.admit();
  expect((await admission).result).toBe('failed');
  await one.ended;
  expect(router.waitingStreams()).toBe(1);
  expect(other.questions).toEqual([]);
});

test('a cut is used up and the next stream lives', async () => {
  const router = await aRouter();
  const client = aClient(router);
  router.faults.cutStreams('before_question');
  await aStream(router, client);
  expect((await router.admit(job)).result).toBe('failed');
  const stream = await aStream(router, client);
  const admission = router.admit(job);
  await stream.question;
  stream.admit();
  expect((await admission).result).toBe('admitted');
});

test.each([14, 8, 12, 16, 7])('the next calls are refused with status %i, and then no more', async (code) => {
  const router = await aRouter();
  const client = aClient(router);
  router.faults.refuseCalls(code, { calls: 2, method: 'admit' });
  await client.register(1n);
  expect((await client.open().ended).code).toBe(code);
  expect((await client.open().ended).code).toBe(code);
  await aStream(router, client);
});

test('registration can be refused while streams are accepted', async () => {
  const router = await aRouter();
  const client = aClient(router);
  router.faults.refuseCalls(14, { method: 'register' });
  await expect(client.register(1n)).rejects.toMatchObject({ code: 14 });
  await aStream(router, client);
  await client.register(1n);
});

test('all waiting streams can be ended cleanly', async () => {
  const router = await aRouter();
  const client = aClient(router);
  const streams = [await aStream(router, client), await aStream(router, client)];
  router.endWaitingStreams();
  for (const stream of streams) expect(await stream.ended).toMatchObject({ code: 0 });
  expect(router.waitingStreams()).toBe(0);
});

test('poison arrives byte for byte', async () => {
  const router = await aRouter();
  const stream = await aStream(router, aClient(router));
  const admission = router.admit(job, { bytes: Uint8Array.of(0xff, 0, 0x7f) });
  expect([...(await stream.question)]).toEqual([0xff, 0, 0x7f]);
  stream.admit();
  expect((await admission).result).toBe('admitted');
});

test('fields nobody knows ride along with every question', async () => {
  const router = await aRouter();
  const client = aClient(router);
  router.faults.appendToQuestions = unknownFields(Uint8Array.of(1, 2, 3), 21);
  const stream = await aStream(router, client);
  const admission = router.admit(job);
  expect([...(await stream.question)]).toEqual([...router.encode(job), 0xaa, 0x01, 3, 1, 2, 3]);
  stream.admit();
  await admission;
});

test('the same job can be asked twice at once', async () => {
  const router = await aRouter();
  const client = aClient(router);
  const streams = [await aStream(router, client), await aStream(router, client)];
  const admissions = router.admitTwice(job);
  for (const stream of streams) {
    expect([...(await stream.question)]).toEqual([...router.encode(job)]);
    stream.admit();
  }
  expect((await admissions).map(({ result }) => result)).toEqual(['admitted', 'admitted']);
});

test('a router that stops listening drops its streams and comes back on the same port', async () => {
  const router = await aRouter();
  const url = router.grpcUrl;
  const client = aClient(router);
  const stream = await aStream(router, client);
  await router.stopListening();
  expect((await stream.ended).code).toBe(14);
  expect((await client.open().ended).code).toBe(14);
  expect(router.waitingStreams()).toBe(0);
  await router.startListening();
  expect(router.grpcUrl).toBe(url);
  await aStream(router, aClient(router));
});

test.each([
  { transport: 'grpc', ports: {} },
  { transport: 'ws', ports: { grpcPort: 'off', wsPort: 0 } },
] as const)(
  'over $transport a connection of age gets GOAWAY and no stream on it breaks',
  async ({ ports }) => {
    const clock = handClock();
    const router = await aRouter({ ...ports, connectionMaxAgeMs: 30_000, clock });
    const client = aClient(router);
    const old = [await aStream(router, client)];
    clock.advance(29_999);
    old.push(await aStream(router, client));
    expect(router.counters.connections.opened).toBe(1);
    clock.advance(1);
    const fresh = await aStream(router, client);
    expect(router.counters.connections.opened).toBe(2);
    const admissions = [router.admit(job), router.admit(job), router.admit(job)];
    for (const stream of [...old, fresh]) {
      await stream.question;
      stream.admit();
    }
    expect((await Promise.all(admissions)).map(({ result }) => result)).toEqual(Array(3).fill('admitted'));
    for (const stream of [...old, fresh]) expect((await stream.ended).code).toBe(0);
  },
);

test('headers go out with the question, or at once when asked to', async () => {
  for (const headers of ['with_question', 'at_once'] as const) {
    const router = await aRouter({ headers });
    const client = aClient(router);
    const stream = client.open();
    let early = false;
    const accepted = new Promise<void>((resolve) => {
      stream.call.on('metadata', () => {
        early = stream.questions.length === 0 && router.counters.streams.asked === 0;
        resolve();
      });
    });
    await router.until(() => router.waitingStreams() === 1);
    if (headers === 'at_once') await accepted;
    const admission = router.admit(job);
    await accepted;
    await stream.question;
    stream.admit();
    await admission;
    expect(early).toBe(headers === 'at_once');
  }
});

describe('a controller that breaks the rules', () => {
  test('a second answer is counted and changes nothing', async () => {
    const router = await aRouter();
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    await stream.question;
    stream.call.write(answerBytes('admitted'));
    stream.call.write(answerBytes('rejected'));
    stream.call.end();
    expect((await admission).result).toBe('admitted');
    await router.until(() => router.counters.violations.second_answer === 1, { what: 'the violation' });
    expect((await stream.ended).code).toBe(0);
  });

  test('an answer before the question ends the stream with INVALID_ARGUMENT', async () => {
    const router = await aRouter();
    const stream = await aStream(router, aClient(router));
    stream.admit();
    expect((await stream.ended).code).toBe(3);
    expect(router.counters.violations.answer_before_question).toBe(1);
    expect(router.waitingStreams()).toBe(0);
  });

  test('half-closing instead of answering fails the job', async () => {
    const router = await aRouter();
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    await stream.question;
    stream.call.end();
    expect((await admission).result).toBe('failed');
    expect((await stream.ended).code).toBe(3);
    expect(router.counters.violations.closed_unanswered).toBe(1);
  });

  test('an answer without half-close is ended by the router and counted', async () => {
    const clock = handClock();
    const router = await aRouter({ clock });
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    await stream.question;
    stream.call.write(answerBytes('admitted'));
    expect((await admission).result).toBe('admitted');
    clock.advance(1_000);
    expect((await stream.ended).code).toBe(0);
    expect(router.counters.violations.not_half_closed).toBe(1);
  });

  test.each([
    { guarantee: 'no arm', bytes: [] },
    { guarantee: 'both arms', bytes: [0x0a, 0, 0x12, 3, 0x0a, 1, 0x61] },
    { guarantee: 'an empty reason', bytes: [0x12, 0] },
    { guarantee: 'half a message', bytes: [0x12, 9, 0x0a] },
  ])('an answer with $guarantee is INVALID_ARGUMENT and fails the job', async ({ bytes }) => {
    const router = await aRouter();
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    await stream.question;
    stream.call.write(Uint8Array.from(bytes));
    expect((await admission).result).toBe('failed');
    expect((await stream.ended).code).toBe(3);
    expect(router.counters.violations.invalid_answer).toBe(1);
  });

  test('a reason of 10 000 characters is taken and one more is refused', async () => {
    const router = await aRouter();
    const client = aClient(router);
    for (const [length, result] of [
      [10_000, 'rejected'],
      [10_001, 'failed'],
    ] as const) {
      const stream = await aStream(router, client);
      const admission = router.admit(job);
      await stream.question;
      stream.reject('x'.repeat(length));
      expect((await admission).result).toBe(result);
    }
  });
});

function answerBytes(arm: 'admitted' | 'rejected'): Uint8Array {
  return arm === 'admitted' ? Uint8Array.of(0x0a, 0) : Uint8Array.of(0x12, 3, 0x0a, 1, 0x61);
}
