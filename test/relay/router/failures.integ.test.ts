/** Each way in which a router cannot be reached or refuses a relay, as one line: address, cause and remedy. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { createLogger, logEvents } from '../../../relay/monitoring/log.ts';
import { createStreamPool } from '../../../relay/pool.ts';
import { createRouter, type RouterOptions } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { cert, key } from '../../../scripts/proof/bench/self-signed.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { until } from '../../support/flow/until.ts';
import { TOKEN } from '../../support/relay/relay-before.ts';
import { expired, otherName } from '../../support/relay/wrong-certificates.ts';

const dir = mkdtempSync(join(tmpdir(), 'failures-'));
afterAll(() => rmSync(dir, { recursive: true }));

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function warningOf(url: string, options: Partial<RouterOptions> = {}) {
  const written: string[] = [];
  const clock = handClock();
  const observe = logEvents(createLogger('warn', { write: (line) => written.push(line) }), clock);
  const router = createRouter({
    target: parseTarget(url),
    schema: loadSchema(),
    token: literalToken(TOKEN),
    userAgent: 'tollgate-test/1',
    reconnectMsMax: 200,
    ...options,
  });
  const events: RelayEvent[] = [];
  const pool = createStreamPool({
    router,
    clock,
    random: () => 0,
    observe(event) {
      events.push(event);
      observe(event);
    },
    answer: async () => ({ answer: { outcome: 'admitted' }, delivered: () => {} }),
    encode: () => new Uint8Array(),
  });
  pool.start();
  await until(() => events.some(({ type }) => type === 'backing_off'));
  const drained = pool.drain();
  clock.advance(10_000);
  await drained;
  router.close();
  const line = written.map((each) => JSON.parse(each)).find(({ message }) => /^waiting/.test(message));
  expect(JSON.stringify(line)).not.toContain(TOKEN);
  return line as { readonly level: string; readonly details: string; readonly remedy: string };
}

interface Certificate {
  readonly key: string;
  readonly cert: string;
}
function trusting(name: string, { cert }: Certificate) {
  const caFile = join(dir, `${name}.pem`);
  writeFileSync(caFile, cert);
  return { tls: { caFile } };
}
const tlsServer = ({ key, cert }: Certificate) =>
  listening(createTlsServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] }));

test.each(['grpcs', 'wss'] as const)(
  'certificates that are wrong in different ways have different remedies over %s',
  async (scheme) => {
    const lines = [
      await warningOf(`${scheme}://127.0.0.1:${await tlsServer(expired)}`, trusting('expired', expired)),
      await warningOf(`${scheme}://127.0.0.1:${await tlsServer({ key, cert })}`),
      await warningOf(`${scheme}://127.0.0.1:${await tlsServer(otherName)}`, trusting('other', otherName)),
    ];
    const [old, foreign, named] = lines;
    for (const { details, level } of lines) {
      expect(level).toBe('warn');
      expect(details).toMatch(new RegExp(`^${scheme}://127\\.0\\.0\\.1:\\d+: `));
      expect(details).not.toMatch(/use-system-ca|undefined/);
    }
    expect(old).toMatchObject({
      details: expect.stringContaining('expired'),
      remedy: expect.stringMatching(/renew/i),
    });
    expect(foreign?.remedy).toMatch(/TOLLGATE_CA_FILE.*gitlab\.caParameter/);
    expect(named).toMatchObject({
      details: expect.stringContaining('altnames'),
      remedy: expect.stringMatching(/host/i),
    });
  },
);

test.each(['grpc', 'ws'] as const)(
  'a port where nothing listens, an unknown name and a closed connection are told apart over %s',
  async (scheme) => {
    const closed = createTcpServer();
    const port = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    const refused = await warningOf(`${scheme}://127.0.0.1:${port}`);
    expect(refused).toMatchObject({
      details: expect.stringContaining('ECONNREFUSED'),
      remedy: expect.stringContaining('nothing listens'),
    });
    const nowhere = await warningOf(`${scheme}://router.invalid:1`);
    expect(nowhere).toMatchObject({
      details: expect.stringContaining('router.invalid'),
      remedy: expect.stringContaining('name is unknown'),
    });
    const hangingUp = await listening(createTcpServer((socket) => socket.destroy()));
    const cut = await warningOf(`${scheme}://127.0.0.1:${hangingUp}`);
    expect(cut.remedy).toContain('speaks the scheme');
  },
);

test.each(['grpcs', 'wss'] as const)('a port that does not speak TLS is named over %s', async (scheme) => {
  const port = await listening(createHttpServer());
  expect((await warningOf(`${scheme}://127.0.0.1:${port}`)).remedy).toContain('does not speak TLS');
});

test.each(['grpc', 'ws'] as const)('a proxy that wants credentials is named over %s', async (scheme) => {
  const proxy = await startConnectProxy({ credentials: 'user:secret' });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await proxy.close();
  });
  for (const name of ['http_proxy', 'https_proxy', 'grpc_proxy']) vi.stubEnv(name, proxy.url);
  for (const name of ['no_proxy', 'no_grpc_proxy', 'NO_PROXY']) vi.stubEnv(name, '');
  const { details, remedy } = await warningOf(`${scheme}://kas.example.com:8150`);
  const answer = scheme === 'ws' ? 'HTTP 407' : 'it opened no connection';
  expect(details).toContain(
    `${scheme}://kas.example.com:8150 through the proxy ${new URL(proxy.url).host}: ${answer}`,
  );
  expect(remedy).toMatch(/credentials.*HTTPS_PROXY/);
});

test.each([
  [401, 'token'],
  [404, 'kas.externalUrl'],
  [429, 'limit'],
  [503, 'not ready'],
])('an upgrade that is answered with HTTP %i says so, with what to do', async (status, remedy) => {
  const server = createHttpServer().on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
  });
  const line = await warningOf(`ws://127.0.0.1:${await listening(server)}`);
  expect(line.details).toMatch(
    new RegExp(`^ws://127\\.0\\.0\\.1:\\d+: HTTP ${status} at the WebSocket upgrade$`),
  );
  expect(line.remedy).toContain(remedy);
});

test.each([
  [401, 'token'],
  [403, 'token'],
  [503, 'not ready'],
])('a call that an ingress answers with HTTP %i says so, with what to do', async (status, remedy) => {
  const server = createHttp2Server().on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': status }, { endStream: true });
  });
  const refresh = vi.fn();
  const line = await warningOf(`grpc://127.0.0.1:${await listening(server)}`, {
    token: { read: () => TOKEN, refresh },
  });
  expect(line.details).toMatch(new RegExp(`^grpc://127\\.0\\.0\\.1:\\d+: HTTP ${status} at the call$`));
  expect(line.remedy).toContain(remedy);
  // A token that was refused is read again.
  expect(refresh.mock.calls.length > 0).toBe(remedy === 'token');
});
