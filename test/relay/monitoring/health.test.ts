import { describe, expect, test } from 'vitest';
import type { Beat } from '../../../functions/core/contract/admissions.ts';
import {
  createHealthApp,
  HEARTBEAT_EVERY_MS,
  type RelayStatus,
  serveHealth,
  startHeartbeat,
} from '../../../relay/monitoring/health.ts';
import { createMetrics } from '../../../relay/monitoring/metrics.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { loopbackPort } from '../../../scripts/local/loopback.ts';

const WELL: RelayStatus = {
  state: 'open',
  openStreams: 8,
  waitingStreams: 7,
  downMs: undefined,
  everConnected: true,
  schema: { source: 'gitlab.binpb', hash: '0123456789ab', placeholder: false, state: 'proven' },
  breaker: 'closed',
  policyVersion: 'p1',
  openJobs: 1,
  waitingJobs: 0,
  waitingLines: [],
  unmeteredQueued: 0,
  directoryAgeMs: 5_000,
};
const LOST: RelayStatus = { ...WELL, openStreams: 0, waitingStreams: 0 };

const appOf = (status: RelayStatus, renderMetrics = async () => '') =>
  createHealthApp({ status: () => status, renderMetrics });

test.each([
  { status: WELL, code: 200, guarantee: 'well while streams are open' },
  { status: { ...LOST, downMs: 30_000 }, code: 200, guarantee: 'well while a router restarts' },
  { status: { ...LOST, downMs: 30_001 }, code: 503, guarantee: 'not well after 30 s without a stream' },
  {
    status: { ...LOST, downMs: 0, everConnected: false },
    code: 503,
    guarantee: 'not well before the first stream',
  },
  { status: { ...WELL, breaker: 'open' as const }, code: 200, guarantee: 'well with an open circuit' },
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

test('GET /metrics is the page Prometheus reads, also when the relay is not well', async () => {
  const metrics = createMetrics();
  metrics.observe({ type: 'request' });
  const response = await appOf({ ...LOST, downMs: 60_000 }, metrics.render).request('/metrics');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await response.text()).toContain(`\ntollgate_relay_requests_total 1\n`);
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

describe('heartbeat', () => {
  const HERE = { everConnected: true, downMs: undefined, openStreams: 8, policyVersion: 'p1' };

  function beating(put?: (beat: Beat) => Promise<void>) {
    const clock = handClock(1_000);
    const beats: Beat[] = [];
    const failures: unknown[] = [];
    const relay: { status: ReturnType<Parameters<typeof startHeartbeat>[0]['status']> } = {
      status: HERE,
    };
    const stop = startHeartbeat({
      answerWithinMs: 20_000,
      status: () => relay.status,
      put:
        put ??
        (async (beat) => {
          beats.push(beat);
        }),
      clock,
      failed: (error) => failures.push(error),
    });
    return { clock, beats, failures, relay, stop };
  }

  test('a relay with a stream beats every 30 s, with the time and its streams', () => {
    const { clock, beats } = beating();
    clock.advance(HEARTBEAT_EVERY_MS * 2);
    expect(beats).toEqual([
      { atMs: 1_000 + HEARTBEAT_EVERY_MS, openStreams: 8, policyVersion: 'p1', answerWithinMs: 20_000 },
      { atMs: 1_000 + 2 * HEARTBEAT_EVERY_MS, openStreams: 8, policyVersion: 'p1', answerWithinMs: 20_000 },
    ]);
  });

  test('a relay that the router cannot ask does not beat, and beats again when it can', () => {
    const { clock, beats, relay } = beating();
    relay.status = { everConnected: false, downMs: undefined, openStreams: 8 };
    clock.advance(HEARTBEAT_EVERY_MS);
    relay.status = { everConnected: true, downMs: 1, openStreams: 8 };
    clock.advance(HEARTBEAT_EVERY_MS);
    expect(beats).toEqual([]);
    const known = { schema: { source: 'gitlab.binpb' }, directoryAgeMs: 60_000, breaker: 'open' as const };
    relay.status = { ...HERE, ...known };
    clock.advance(HEARTBEAT_EVERY_MS);
    expect(beats).toMatchObject([known]);
  });
});
