/** What one refusal costs: how soon jobs find a stream again, on real sockets and with the pool's time in the test's hand. */
import { createServer } from 'node:http';
import { constants, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { handClock } from '../../../scripts/local/clock.ts';
import { type LocalRouter, startLocalRouter } from '../../../scripts/local/router/local-router.ts';
import { until } from '../../support/flow/until.ts';
import { nameOnLoopback, ROUTER_NAME } from '../../support/relay/names-on-loopback.ts';
import { relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

/** The first retry comes within this. */
const FIRST_RETRY_MS = 2_000;
/** The longest of what may be drawn. */
const random = (): number => 0.999;
const job = (id: number) => ({ id, job_info: { id, project_full_path: 'acme/app' } });

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

const CODES = Array.from({ length: 16 }, (_, index) => index + 1);

test.each(CODES)('after one call refused with code %i, a job 2 s later finds a stream', async (code) => {
  const clock = handClock();
  const router = await aRouter();
  router.faults.refuseCalls(code, { method: 'admit' });
  await using relay = relayBefore(router.grpcUrl ?? '', { clock, random });
  await relay.until(() => relay.ofType('backing_off').length === 1, 'the refusal');
  clock.advance(FIRST_RETRY_MS);
  expect(await lostOf(router, 1)).toBe(0);
});

test.each(CODES)(
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

test.each(['grpc', 'ws'] as const)(
  'a router that refuses every call over %s is tried by one stream at a time',
  async (transport) => {
    const clock = handClock();
    const router = await aRouter();
    router.faults.refuseCalls(7, { method: 'admit', calls: Number.POSITIVE_INFINITY });
    await using relay = relayBefore((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '', {
      clock,
      random,
      sizes: { start: 256, max: 256, openMax: 1_024 },
    });
    for (let tries = 1; tries <= 6; tries += 1) {
      await relay.until(() => relay.ofType('backing_off').length === tries, `refusal ${tries}`);
      expect(router.counters.streams.refused).toBe(tries);
      clock.advance(relay.ofType('backing_off').at(-1)?.delayMs ?? 0);
    }
    const pauses = relay.ofType('backing_off').map(({ delayMs }) => delayMs);
    expect(pauses[0]).toBeLessThanOrEqual(FIRST_RETRY_MS);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  },
);

test('of three routers behind one name one refuses every call, and jobs at the other two find streams', async () => {
  const healthy = await aRouter({ host: '127.0.0.1' });
  const grpcPort = Number(new URL((healthy.grpcUrl ?? '').replace('grpc', 'http')).port);
  const refusing = await aRouter({ host: '127.0.0.2', grpcPort });
  const other = await aRouter({ host: '127.0.0.3', grpcPort });
  refusing.faults.refuseCalls(7, { method: 'admit', calls: Number.POSITIVE_INFINITY });
  nameOnLoopback('127.0.0.1', '127.0.0.2', '127.0.0.3');
  await using _relay = relayBefore(`grpc://${ROUTER_NAME}:${grpcPort}`);
  await until(() => healthy.waitingStreams() + other.waitingStreams() > 0);
  let lost = 0;
  for (let round = 0; round < 20; round += 1) lost += (await lostOf(healthy, 1)) + (await lostOf(other, 1));
  expect(lost).toBe(0);
});

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

const HTTP = [400, 401, 403, 404, 429, 500, 502, 503, 504];

test.each(HTTP)('after one upgrade refused with HTTP %i, a job 2 s later finds a stream', async (status) => {
  const clock = handClock();
  const router = await aRouter();
  const ingress = await anIngress(router);
  ingress.status = status;
  await using relay = relayBefore(ingress.url, { clock, random });
  await relay.until(() => relay.ofType('backing_off').length === 1, 'the refusal');
  ingress.status = undefined;
  clock.advance(FIRST_RETRY_MS);
  expect(await lostOf(router, 1)).toBe(0);
});

test.each(HTTP)(
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

test.each(['stream', 'connection'] as const)(
  'a server that ends a %s with ENHANCE_YOUR_CALM is tried again within 2 s',
  async (what) => {
    const clock = handClock();
    const streams: ServerHttp2Stream[] = [];
    const server = createHttp2Server().on('stream', (stream) => {
      streams.push(stream);
      stream.on('error', () => {});
      if (streams.length > 1) return;
      if (what === 'stream') stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      else stream.session?.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await using relay = relayBefore(`grpc://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      clock,
      random,
    });
    onTestFinished(() => void server.close());
    await relay.until(() => relay.ofType('backing_off').length === 1, 'the refusal');
    clock.advance(FIRST_RETRY_MS);
    await until(() => streams.length > 1 || relay.ofType('backing_off').length > 1);
    expect(relay.ofType('backing_off')[0]?.delayMs).toBeLessThanOrEqual(FIRST_RETRY_MS);
    expect(streams).toHaveLength(2);
  },
);
