import { expect, test } from 'vitest';
import { createHealthApp, type RelayStatus, serveHealth } from '../../../relay/monitoring/health.ts';
import { createMetrics } from '../../../relay/monitoring/metrics.ts';
import { METRIC_QUESTIONS } from '../../../relay/names.ts';
import { loopbackPort } from '../../../scripts/local/loopback.ts';

const WELL: RelayStatus = {
  state: 'open',
  openStreams: 8,
  waitingStreams: 7,
  busyStreams: 1,
  downMs: undefined,
  everConnected: true,
  lastAnswerAgeMs: 40,
  schema: { source: 'gitlab.binpb', hash: '0123456789ab', placeholder: false, standing: 'proven' },
  breaker: 'closed',
  openJobs: 1,
  waitingJobs: 0,
  waitingLines: [],
  unmeteredQueued: 0,
  directoryAgeMs: 5_000,
  directoryKnown: true,
};
const LOST: RelayStatus = { ...WELL, openStreams: 0, waitingStreams: 0, busyStreams: 0 };

const appOf = (status: RelayStatus, renderMetrics = async () => '') =>
  createHealthApp({ status: () => status, renderMetrics });

test.each([
  { status: WELL, code: 200, guarantee: 'well while streams are open' },
  { status: { ...LOST, downMs: 0 }, code: 200, guarantee: 'well when the streams have just gone' },
  { status: { ...LOST, downMs: 30_000 }, code: 200, guarantee: 'well while a router restarts' },
  { status: { ...LOST, downMs: 30_001 }, code: 503, guarantee: 'not well after 30 s without a stream' },
  {
    status: { ...LOST, downMs: 0, everConnected: false },
    code: 503,
    guarantee: 'not well before the first stream',
  },
  { status: { ...WELL, breaker: 'open' as const }, code: 200, guarantee: 'well with an open circuit' },
  { status: { ...WELL, unmeteredQueued: 10_000 }, code: 200, guarantee: 'well with a full queue' },
])('fault 4: GET /healthz is $code: $guarantee', async ({ status, code }) => {
  const response = await appOf(status).request('/healthz');
  expect(response.status).toBe(code);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  const { downMs, ...shown } = status;
  expect(await response.json()).toEqual({
    status: code === 200 ? 'ok' : 'no streams',
    ...shown,
    ...(downMs !== undefined && { downMs }),
  });
});

test('the health is asked anew every time: a relay that reconnects is well again', async () => {
  let status: RelayStatus = { ...LOST, downMs: 31_000 };
  const app = createHealthApp({ status: () => status, renderMetrics: async () => '' });
  expect((await app.request('/healthz')).status).toBe(503);
  status = WELL;
  expect((await app.request('/healthz')).status).toBe(200);
});

test('GET /metrics is the page Prometheus reads, also when the relay is not well', async () => {
  const metrics = createMetrics();
  metrics.observe({ type: 'question' });
  const response = await appOf({ ...LOST, downMs: 60_000 }, metrics.render).request('/metrics');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await response.text()).toContain(`\n${METRIC_QUESTIONS} 1\n`);
});

test('there is nothing else, and nothing to be changed', async () => {
  expect((await appOf(WELL).request('/')).status).toBe(404);
  expect((await appOf(WELL).request('/healthz', { method: 'POST' })).status).toBe(404);
});

test('it listens where it is told, and says which port is taken', async () => {
  const where = { host: '127.0.0.1', port: await loopbackPort() };
  const server = await serveHealth(appOf(WELL), where);
  try {
    expect(server.port).toBe(where.port);
    expect((await fetch(`http://127.0.0.1:${where.port}/healthz`)).status).toBe(200);
    await expect(serveHealth(appOf(WELL), where)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `[config_invalid] cannot serve health on 127.0.0.1:${where.port} (EADDRINUSE); choose another port`,
    });
  } finally {
    server.close();
  }
});
