import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileToken } from '../../../relay/token.ts';

import { handClock } from '../../../scripts/local/clock.ts';
import {
  type LocalRouter,
  type LocalRouterOptions,
  startLocalRouter,
} from '../../../scripts/local/router/local-router.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { until } from '../../support/flow/until.ts';
import { callOnce, relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

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
    expect(router.counters.violations).toEqual([]);
    await relay.until(() => relay.heard.length === 300, 'the end of every stream');
    expect(relay.heard.every(Boolean)).toBe(true);
  },
);

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

/** What a relay believes of its answers, against what a router over real sockets has read of them. */
describe('delivery', () => {
  const QUESTIONS = 24;
  test.each(['grpc', 'ws'] as const)(
    'answers on their way over %s when the router resets the connection are not believed to be heard',
    async (transport) => {
      const router = await aRouter();
      const decided = Promise.withResolvers<void>();
      const heard: boolean[] = [];
      let asked = 0;
      await using relay = relayBefore(urls(router)[transport], {
        answer: async () => {
          asked += 1;
          await decided.promise;
          return { answer: { outcome: 'admitted' }, delivered: (was) => heard.push(was) };
        },
      });
      const results = Promise.all(Array.from({ length: QUESTIONS }, (_, id) => router.admit(job(id + 1))));
      await relay.until(() => asked === QUESTIONS, 'every question');
      // The first answer that arrives costs the connection, unread, and with it all the others.
      router.faults.cutStreams('before_reading', { questions: QUESTIONS });
      decided.resolve();
      const admitted = (await results).filter(({ result }) => result === 'admitted').length;
      expect(admitted).toBe(0);
      await relay.until(() => relay.ofType('stream_ended').length >= QUESTIONS, 'the end of every stream');
      expect(heard.filter(Boolean)).toHaveLength(admitted);
      expect(heard).toHaveLength(QUESTIONS);
    },
  );
});

/** What one refusal costs: how soon jobs find a stream again, on real sockets and with the pool's time in the test's hand. */
describe('one refusal', () => {
  /** The longest of what may be drawn. */
  const random = (): number => 0.999;

  /** A job that finds no stream gives up soon: what is tested is that it finds one. */
  async function aRouter(options: { host?: string; grpcPort?: number } = {}): Promise<LocalRouter> {
    const router = await startLocalRouter({
      controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
      findTimeoutMs: 1_500,
      ...options,
    });
    onTestFinished(() => router.close());
    return router;
  }

  async function lostOf(router: LocalRouter, jobs: number): Promise<number> {
    let lost = 0;
    for (let id = 1; id <= jobs; id += 1) if ((await router.admit(job(id))).result !== 'admitted') lost += 1;
    return lost;
  }

  test.each([8, 14, 16])(
    'while other streams wait, one call refused with code %i costs no job its stream',
    async (code) => {
      const clock = handClock();
      const router = await aRouter();
      await using _relay = relayBefore(router.grpcUrl ?? '', { clock, random });
      await lostOf(router, 1);
      await router.until(() => router.waitingStreams() === 8, { what: 'eight waiting streams' });
      router.faults.refuseCalls(code, { method: 'admit' });
      expect(await lostOf(router, 12)).toBe(0);
    },
  );

  /** An ingress before a router: refuses upgrades with `status` while that is set, else lets them through. */
  async function anIngress(router: LocalRouter) {
    const behind = Number(new URL((router.wsUrl ?? '').replace('ws', 'http')).port);
    const ingress = { status: undefined as number | undefined, refused: 0, url: '' };
    const server = createServer().on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      if (ingress.status !== undefined) {
        ingress.refused += 1;
        socket.end(`HTTP/1.1 ${ingress.status} No\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      const upstream = connect(behind, '127.0.0.1', () => {
        const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`);
        upstream.write(`GET ${request.url} HTTP/1.1\r\n${headers.join('')}\r\n`);
        upstream.write(head);
        socket.pipe(upstream).pipe(socket);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    ingress.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return ingress;
  }

  test.each([401, 503])(
    'an ingress that answers upgrades with HTTP %i for 2 s leaves jobs without streams for at most 6 s',
    async (status) => {
      const clock = handClock();
      const router = await aRouter();
      const ingress = await anIngress(router);
      ingress.status = status;
      await using relay = relayBefore(ingress.url, { clock, random });
      for (let pauses = 1; clock.monotonicMs() < 60_000; pauses += 1) {
        await until(() => relay.ofType('backing_off').length === pauses || router.waitingStreams() > 0);
        if (router.waitingStreams() > 0) break;
        clock.advance(relay.ofType('backing_off').at(-1)?.delayMs ?? 0);
        if (clock.monotonicMs() >= 2_000) ingress.status = undefined;
      }
      expect(clock.monotonicMs()).toBeLessThanOrEqual(6_000);
    },
  );
});
