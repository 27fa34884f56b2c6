import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { RouterStatus } from '../../../relay/router/router.ts';
import { createRouter, type RouterOptions } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import type { LocalRouterOptions } from '../../../scripts/local/router/local-router.ts';
import { cert, key } from '../../../scripts/proof/bench/self-signed.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { callOnce, relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

const dir = mkdtempSync(join(tmpdir(), 'tunnel-'));
afterAll(() => rmSync(dir, { recursive: true }));
const caFile = join(dir, 'ca.pem');
writeFileSync(caFile, cert);

const job = { id: 1, job_info: { id: 1, project_full_path: 'acme/app' } };

async function aRouter(options: Partial<LocalRouterOptions> = {}) {
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    ...options,
  });
  onTestFinished(() => router.close());
  return router;
}

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

/** A server that answers upgrades as told and remembers their headers. */
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

test.each([
  { status: 401, code: 16 },
  { status: 403, code: 7 },
  { status: 404, code: 5 },
  { status: 426, code: 14 },
  { status: 429, code: 8 },
  { status: 503, code: 14 },
])('an upgrade refused with HTTP $status ends the call with code $code', async ({ status, code }) => {
  const server = await anUpgradeServer({ status });
  expect((await callOnce(aClient(server.url)).end).code).toBe(code);
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

test('the socket is in a private folder, which goes with the client', async () => {
  const parent = mkdtempSync(join(dir, 's-'));
  const router = await aRouter();
  const client = aClient(router.wsUrl ?? '', { socketDir: parent });
  await client.register(1n);
  const [name] = readdirSync(parent);
  expect(statSync(join(parent, name ?? '')).mode & 0o777).toBe(0o700);
  client.close();
  expect(existsSync(join(parent, name ?? ''))).toBe(false);
});

test.each([
  { socketDir: `/tmp/${'x'.repeat(90)}`, problem: 'name a shorter folder' },
  { socketDir: join(dir, 'absent'), problem: 'need a writable one' },
])('a socket folder that cannot work is refused at the start: $problem', ({ socketDir, problem }) => {
  expect(() => aClient('ws://127.0.0.1:1', { socketDir })).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(problem) }),
  );
});

test('wss with an authority of its own is trusted by its file only', async () => {
  const router = await aRouter({ tls: { key, cert } });
  const url = router.wsUrl ?? '';
  await using relay = relayBefore(url, { tls: { caFile } });
  expect(await router.admit(job)).toMatchObject({ result: 'admitted' });
  expect(relay.pool.status().state).toBe('open');
  const end = await callOnce(aClient(url)).end;
  expect(end).toMatchObject({ code: 14, remedy: expect.stringContaining('TOLLGATE_CA_FILE') });
});

test('grpcs with an authority of its own is trusted by its certificate', async () => {
  const router = await aRouter({ tls: { key, cert } });
  await using relay = relayBefore(router.grpcUrl ?? '', { tls: { caFile } });
  expect(await router.admit(job)).toMatchObject({ result: 'admitted' });
  expect(relay.pool.status().state).toBe('open');
  expect((await callOnce(aClient(router.grpcUrl ?? '')).end).code).toBe(14);
});

test.each(['ws', 'wss'] as const)('%s goes through an HTTP proxy by CONNECT', async (scheme) => {
  const router = await aRouter(scheme === 'wss' ? { tls: { key, cert } } : {});
  const proxy = await startConnectProxy();
  onTestFinished(() => proxy.close());
  const url = router.wsUrl ?? '';
  await using relay = relayBefore(url, { proxyFor: () => proxy.url, tls: { caFile } });
  expect(await router.admit(job)).toMatchObject({ result: 'admitted' });
  expect(proxy.targets).toEqual([url.replace(/^wss?:\/\//, '')]);
  expect(relay.pool.status().state).toBe('open');
});

test('HTTP_PROXY is used for ws, and NO_PROXY keeps hosts from it', async () => {
  const router = await aRouter();
  const proxy = await startConnectProxy();
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await proxy.close();
  });
  vi.stubEnv('http_proxy', proxy.url);
  vi.stubEnv('no_proxy', '');
  await aClient(router.wsUrl ?? '').register(1n);
  expect(proxy.targets).toHaveLength(1);
  vi.stubEnv('no_proxy', '127.0.0.1');
  await aClient(router.wsUrl ?? '').register(2n);
  expect(proxy.targets).toHaveLength(1);
});

test('a proxy that wants credentials says so', async () => {
  const proxy = await startConnectProxy({ credentials: 'user:secret' });
  onTestFinished(() => proxy.close());
  const end = await callOnce(aClient('ws://127.0.0.1:9', { proxyFor: () => proxy.url })).end;
  expect(end).toMatchObject({ code: 14, remedy: expect.stringContaining('HTTPS_PROXY') });
});

test.each(['grpc', 'ws'] as const)(
  'registration over %s tells our instance, and takes it back',
  async (transport) => {
    const router = await aRouter();
    const client = aClient((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '');
    await client.register(77n);
    expect(router.registrations.present().map(({ instanceId }) => instanceId)).toEqual([77n]);
    await client.unregister(77n);
    expect(router.registrations.present()).toEqual([]);
  },
);

test('a token the router refuses ends calls and registration with 16', async () => {
  const router = await aRouter();
  const client = aClient(router.grpcUrl ?? '', { token: literalToken('glrct-wrong') });
  expect((await callOnce(client).end).code).toBe(16);
  await expect(client.register(1n)).rejects.toThrow(
    expect.objectContaining({ constructor: RouterStatus, code: 16 }),
  );
});

test('a method path can be given where the router has renamed a package', async () => {
  const router = await aRouter();
  const client = aClient(router.grpcUrl ?? '', { paths: { admitJob: '/other.Service/AdmitJob' } });
  expect((await callOnce(client).end).code).toBe(12);
});

test('a large message crosses the tunnel both ways without being cut', async () => {
  const router = await aRouter();
  const reason = 'r'.repeat(3 * 1024 * 1024);
  await using relay = relayBefore(router.wsUrl ?? '', {
    answer: ({ bytes }) =>
      Promise.resolve({
        answer: { outcome: 'rejected', reason: `${bytes.length} ${reason}` },
        delivered: () => {},
      }),
  });
  const variables = [{ key: 'LARGE', value: 'v'.repeat(8 * 1024 * 1024) }];
  const result = await router.admit({ ...job, variables });
  expect(result.result).not.toBe('admitted');
  expect(relay.ofType('unreadable')).toEqual([]);
  expect(relay.ofType('question')).toHaveLength(1);
});
