import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createRouter, type RouterOptions } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { openTunnel } from '../../../relay/router/tunnel.ts';
import { literalToken } from '../../../relay/token.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { cert } from '../../../scripts/proof/bench/self-signed.ts';

import { patientRouter } from '../../support/flow/patient-router.ts';
import { until } from '../../support/flow/until.ts';
import { callOnce, relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

const dir = mkdtempSync(join(tmpdir(), 'tunnel-'));
afterAll(() => rmSync(dir, { recursive: true }));
const caFile = join(dir, 'ca.pem');
writeFileSync(caFile, cert);

function aClient(url: string, options: Partial<RouterOptions> = {}) {
  const client = createRouter({
    target: parseTarget(url),
    schema: loadSchema(),
    token: literalToken(TOKEN),
    userAgent: 'tollgate-test/1',
    reconnectMsMax: 200,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

async function anUpgradeServer(answer: { readonly status?: number; readonly speak?: string }) {
  const seen: IncomingHttpHeaders[] = [];
  const closes: number[] = [];
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'ws-tunnel' });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  http.on('upgrade', (request, socket, head) => {
    seen.push(request.headers);
    if (answer.status !== undefined) {
      socket.end(`HTTP/1.1 ${answer.status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => {
      ws.on('close', (code) => {
        closes.push(code);
        resolve();
      });
      ws.send(answer.speak ?? '');
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        http.close(() => done());
        http.closeAllConnections();
        for (const ws of sockets.clients) ws.terminate();
      }),
  );
  const address = http.address();
  return {
    url: `ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    seen,
    closes,
    closed,
  };
}

test('the upgrade carries the token, our name and the one subprotocol, and offers no compression', async () => {
  const server = await anUpgradeServer({ status: 401 });
  await callOnce(aClient(server.url)).end;
  expect(server.seen[0]).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'user-agent': 'tollgate-test/1',
    'sec-websocket-protocol': 'ws-tunnel',
  });
  expect(server.seen[0]?.['sec-websocket-extensions']).toBeUndefined();
});

test('a router that refuses an upgrade is dialled once for each call, and not by grpc-js in between', async () => {
  const server = await anUpgradeServer({ status: 401 });
  const client = aClient(server.url, { reconnectMsMax: 1 });
  for (let calls = 1; calls <= 5; calls += 1) {
    expect((await callOnce(client).end).code).toBe(16);
    expect(server.seen).toHaveLength(calls);
  }
});

test('a text frame closes the tunnel with 1003', async () => {
  const server = await anUpgradeServer({ speak: 'hello' });
  const end = await callOnce(aClient(server.url)).end;
  expect(end).toMatchObject({ code: 14, details: expect.stringContaining('text frame') });
  await server.closed;
  expect(server.closes).toEqual([1003]);
});

test('a temporary folder that is not there is refused at the start', () => {
  vi.stubEnv('TMPDIR', join(dir, 'absent'));
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => aClient('ws://127.0.0.1:1')).toThrow(
    expect.objectContaining({
      code: 'config_invalid',
      message: expect.stringContaining('need a writable one'),
    }),
  );
});

/** What one end of the tunnel was given reaches the other, also when the giver closes right afterwards. */
describe('flushing', () => {
  /** More than the buffers of the sockets between the two ends. */
  const FRAMES = 64;
  const FRAME = Buffer.alloc(128 * 1024, 7);

  async function aTunnel(): Promise<{ readonly near: Socket; readonly far: WebSocket }> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'ws-tunnel' });
    await new Promise<void>((resolve) => server.once('listening', () => resolve()));
    const tunnel = openTunnel({
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: literalToken('glrct-test'),
      userAgent: 'tollgate-test/1',
      tls: {},
      messageBytesMax: 10 * 1024 * 1024,
      failed: () => {},
    });
    const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
    const near = connect(tunnel.address.replace(/^unix:/, ''));
    near.pause();
    const far = await accepted;
    onTestFinished(() => {
      near.destroy();
      tunnel.close();
      server.close();
      far.terminate();
    });
    return { near, far };
  }

  /** Below and beyond what the kernel takes, so that some of it is still in this process when the WebSocket closes. */
  const SIZES_KB = Array.from({ length: 25 }, (_, index) => 128 + index * 16);

  test('what the router sent before it closed the WebSocket is read to the end', async () => {
    const lost: number[] = [];
    for (const sizeKb of SIZES_KB) {
      const { near, far } = await aTunnel();
      for (let kb = 0; kb < sizeKb; kb += 1) far.send(FRAME.subarray(0, 1_024));
      far.close();
      for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      let bytes = 0;
      near.on('data', (chunk) => {
        bytes += chunk.length;
      });
      near.resume();
      await new Promise((resolve) => near.once('close', resolve));
      if (bytes < sizeKb * 1_024) lost.push(sizeKb * 1_024 - bytes);
    }
    expect(lost).toEqual([]);
  });

  test('what the relay wrote before it closed its end reaches the router', async () => {
    const { near, far } = await aTunnel();
    let bytes = 0;
    far.on('message', (frame: Buffer) => {
      bytes += frame.length;
    });
    far.pause();
    for (let frame = 0; frame < FRAMES; frame += 1) near.write(FRAME);
    near.end();
    near.resume();
    far.resume();
    await new Promise((resolve) => far.once('close', resolve));
    expect(bytes).toBe(FRAMES * FRAME.length);
  });
});

/** A router that lets a connection carry few calls at once: the streams must not crowd out what else is to be said. */
describe('a router that lets a connection carry few calls', () => {
  const CALLS_MAX = 20;

  test.each(['grpc', 'ws'] as const)(
    'registration over %s gets through while streams take every call that a connection may carry',
    async (transport) => {
      const router = await patientRouter({
        controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
        callsPerConnectionMax: CALLS_MAX,
      });
      onTestFinished(() => router.close());
      await using relay = relayBefore((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '', {
        sizes: { start: 3 * CALLS_MAX, max: 3 * CALLS_MAX, openMax: 100 },
      });
      await router.until(() => router.waitingStreams() === CALLS_MAX, { what: 'a full connection' });
      await relay.router.register(7n);
      expect(router.registrations.present().map(({ instanceId }) => instanceId)).toEqual([7n]);
      await relay.router.unregister(7n);
      expect(router.registrations.present()).toEqual([]);
      // The connection it had is gone, and the one of the streams is not.
      await until(() => router.connections() === 1);
      expect(router.waitingStreams()).toBe(CALLS_MAX);
    },
  );
});
