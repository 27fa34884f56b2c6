import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fileToken } from '../../../relay/token.ts';
import { parseSchema } from '../../../relay/wire/schema.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import type { LocalRouter, LocalRouterOptions } from '../../../scripts/local/router/local-router.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { callOnce, relayBefore, TOKEN } from '../../support/relay/relay-before.ts';
import { renamedAndRenumbered } from '../../support/relay/schema-variants.ts';
import { unknownFields } from '../../support/relay/unknown-fields.ts';

async function aRouter(options: Partial<LocalRouterOptions> = {}): Promise<LocalRouter> {
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    ...options,
  });
  onTestFinished(() => router.close());
  return router;
}

const job = (id: number) => ({
  id,
  job_info: { id, name: 'unit', project_full_path: 'acme/app' },
  image: { name: 'node:24' },
});
const urls = (router: LocalRouter) => ({ grpc: router.grpcUrl ?? '', ws: router.wsUrl ?? '' });

test.each(['grpc', 'ws'] as const)(
  'a burst over %s is admitted, one question per stream',
  async (transport) => {
    const router = await aRouter();
    await using relay = relayBefore(urls(router)[transport]);
    const results = await Promise.all(Array.from({ length: 300 }, (_, id) => router.admit(job(id + 1))));
    expect(results.filter((result) => result.result === 'admitted')).toHaveLength(300);
    expect(router.counters.streams.asked).toBe(300);
    expect(Object.values(router.counters.violations).every((count) => count === 0)).toBe(true);
    await relay.until(() => relay.heard.length === 300, 'the end of every stream');
    expect(relay.heard.every(Boolean)).toBe(true);
  },
);

test('a router with a renamed package and other field numbers is served by its descriptors', async () => {
  const schema = parseSchema(renamedAndRenumbered(), 'theirs');
  const router = await aRouter({ schema });
  await using relay = relayBefore(urls(router).grpc, {
    schema,
    answer: () =>
      Promise.resolve({ answer: { outcome: 'rejected', reason: 'no budget' }, delivered: () => {} }),
  });
  expect(await router.admit(job(1))).toMatchObject({ result: 'rejected' });
  expect(relay.pool.status().state).toBe('open');
});

test.each(['grpc', 'ws'] as const)(
  'fault 2: connections that come of age over %s cost no exchange',
  async (transport) => {
    const clock = handClock();
    const router = await aRouter({ connectionMaxAgeMs: 300, clock });
    await using relay = relayBefore(urls(router)[transport]);
    const results: string[] = [];
    for (let opened = 1; opened < 8; opened += 1) {
      const asked = Array.from({ length: 32 }, async () => results.push((await router.admit(job(1))).result));
      // In the middle of some exchanges.
      await Promise.race(asked);
      expect(router.counters.connections.opened).toBe(opened);
      const streams = router.counters.streams.opened;
      clock.advance(300);
      await Promise.all(asked);
      // None but the next connection takes streams now. One that came of age before its first would look like a fault.
      await router.until(() => router.counters.streams.opened > streams, { what: 'another connection' });
    }
    expect(results).toEqual(Array(results.length).fill('admitted'));
    expect(relay.ofType('backing_off')).toEqual([]);
  },
);

test('streams that come of age are reopened without waiting', async () => {
  const router = await aRouter({ headers: 'at_once' });
  await using relay = relayBefore(urls(router).grpc);
  await router.until(() => router.waitingStreams() === 8, { what: 'eight waiting streams' });
  const opened = router.counters.streams.opened;
  router.endWaitingStreams();
  await router.until(() => router.counters.streams.opened === opened + 8, { what: 'eight more' });
  expect(relay.ofType('backing_off')).toEqual([]);
});

test.each(['before_question', 'after_question', 'before_reading', 'after_answer'] as const)(
  'fault 1: a connection reset %s is survived, and the job asked again is answered',
  async (point) => {
    const router = await aRouter();
    await using relay = relayBefore(urls(router).grpc);
    expect(await router.admit(job(1))).toMatchObject({ result: 'admitted' });
    router.faults.cutStreams(point, { means: 'connection' });
    const cut = await router.admit(job(2));
    expect(cut.result).toBe(point === 'after_answer' ? 'admitted' : 'failed');
    await relay.until(() => relay.ofType('backing_off').length > 0, 'the news of the reset');
    expect(await router.admit(job(2))).toMatchObject({ result: 'admitted' });
    expect(relay.ofType('backing_off')[0]).toMatchObject({ code: 14, attempt: 1 });
  },
);

test('an answer the router has no ears for any more is told as not heard', async () => {
  const router = await aRouter();
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  const heard: boolean[] = [];
  await using relay = relayBefore(urls(router).grpc, {
    answer: async () => {
      await decided;
      return { answer: { outcome: 'admitted' }, delivered: (was) => heard.push(was) };
    },
  });
  router.faults.cutStreams('after_question', { means: 'connection' });
  expect((await router.admit(job(1))).result).toBe('failed');
  await relay.until(
    () => relay.ofType('stream_ended').some((end) => end.asked),
    'the end of the asked stream',
  );
  decide();
  await relay.until(() => relay.pool.status().state === 'open', 'the way back');
  expect(heard).toEqual([false]);
});

test.each(['grpc', 'ws'] as const)(
  'fault 3: a black hole under %s is noticed by keepalive, and healed without a restart',
  async (transport) => {
    const router = await aRouter();
    const proxy = await startFaultProxy(
      Number(new URL(urls(router)[transport].replace(/^\w+/, 'http')).port),
    );
    onTestFinished(() => proxy.close());
    await using relay = relayBefore(`${transport}://127.0.0.1:${proxy.port}`, {
      keepaliveMs: 400,
      keepaliveTimeoutMs: 200,
    });
    expect(await router.admit(job(1))).toMatchObject({ result: 'admitted' });
    proxy.blackHole();
    await relay.until(
      () => relay.ofType('backing_off').some((event) => event.code === 14),
      'the keepalive to give up',
    );
    await relay.until(() => relay.ofType('streams').at(-1)?.open === 0, 'the news that no stream is left');
    proxy.heal();
    await relay.until(() => relay.pool.status().state === 'open', 'the way back');
    expect(await router.admit(job(2))).toMatchObject({ result: 'admitted' });
  },
);

test.each(['grpc', 'ws'] as const)(
  'fault 4: a router that is down over %s and comes back on its port is found again',
  async (transport) => {
    const router = await aRouter();
    await using relay = relayBefore(urls(router)[transport]);
    expect(await router.admit(job(1))).toMatchObject({ result: 'admitted' });
    await router.stopListening();
    await relay.until(() => relay.ofType('backing_off').some((event) => event.attempt === 3), 'three tries');
    expect(relay.pool.status().downSinceMs).toBeDefined();
    await router.startListening();
    expect(await router.admit(job(2))).toMatchObject({ result: 'admitted' });
    expect(relay.ofType('connected')).toHaveLength(2);
  },
);

test('fault 4: a rotated token is used by the next stream; the waiting ones live on', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'token');
  writeFileSync(path, 'glrct-one');
  const router = await aRouter({
    controllers: [{ id: 1, tokens: ['glrct-one', 'glrct-two'], state: 'enabled' }],
  });
  let nowMs = 0;
  await using relay = relayBefore(urls(router).grpc, { token: fileToken(path, () => nowMs) });
  expect(await router.admit(job(1))).toMatchObject({ result: 'admitted' });
  await router.until(() => router.waitingStreams() === 8, { what: 'eight waiting streams' });
  writeFileSync(path, 'glrct-two-longer'.slice(0, 9));
  nowMs += 1_000;
  router.changeController(1, { tokens: ['glrct-two'] });
  for (let id = 2; id < 30; id += 1)
    expect(await router.admit(job(id))).toMatchObject({ result: 'admitted' });
  expect(router.counters.streams.refused).toBe(0);
  expect(relay.ofType('backing_off')).toEqual([]);
});

test('fault 4: a refused token is read again for the next call, without waiting for the file to be looked at', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'token');
  writeFileSync(path, 'glrct-old');
  const router = await aRouter({ controllers: [{ id: 1, tokens: ['glrct-new'], state: 'enabled' }] });
  await using relay = relayBefore(urls(router).grpc, { token: fileToken(path, () => 0) });
  await relay.until(() => relay.ofType('backing_off').length === 1, 'the refusal');
  expect(relay.ofType('backing_off')[0]).toMatchObject({
    code: 16,
    remedy: expect.stringContaining('token'),
  });
  writeFileSync(path, 'glrct-new');
  const call = callOnce(relay.router);
  await router.until(() => router.waitingStreams() === 1, { what: 'the call with the new token' });
  call.cancel();
  await call.end;
});

test('fault 15: a question larger than the limit ends its own stream, and the others are answered', async () => {
  const router = await aRouter();
  await using relay = relayBefore(urls(router).grpc, { messageBytesMax: 4 * 1024 * 1024 });
  expect(await router.admit(job(1))).toMatchObject({ result: 'admitted' });
  const [large, ...others] = await Promise.all([
    router.admit(job(2), { append: unknownFields(new Uint8Array(5 * 1024 * 1024)) }),
    ...Array.from({ length: 20 }, (_, id) => router.admit(job(id + 3))),
  ]);
  expect(large.result).toBe('failed');
  expect(others.every((result) => result.result === 'admitted')).toBe(true);
  await relay.until(
    () => relay.ofType('stream_ended').some((end) => end.code === 8 && end.asked),
    'the end of the large one',
  );
  expect(relay.ofType('unreadable')).toMatchObject([{ sizeBytes: expect.any(Number) }]);
  expect(relay.ofType('backing_off')).toEqual([]);
});

test('a drain lets the question in progress be answered and leaves no stream behind', async () => {
  const router = await aRouter();
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  const relay = relayBefore(urls(router).ws, {
    answer: async () => {
      await decided;
      return { answer: { outcome: 'admitted' }, delivered: () => {} };
    },
  });
  const asked = router.admit(job(1));
  await relay.until(() => relay.pool.status().busy === 1, 'the question');
  const drained = relay.pool.drain();
  decide();
  expect(await asked).toMatchObject({ result: 'admitted' });
  await drained;
  await router.until(() => router.waitingStreams() === 0, { what: 'no waiting stream' });
  relay.router.close();
});
