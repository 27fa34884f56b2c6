import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { UnmeteredRequest } from '../../functions/core/contract/admissions.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { emfProblems, measuredOf } from '../support/emf-spec.ts';
import { flowRelay, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { until } from '../support/flow/until.ts';
import { spawnRelay } from '../support/relay/relay-process.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A service that answers no admissions, and takes fallback answers as it is told to. */
async function service() {
  const state = { unmetered: 503, refused: 0, told: new Set<number>() };
  const app = new Hono();
  app.post('/v1/admissions', (c) => c.body(null, 503));
  app.post('/v1/unmetered', async (c) => {
    if (state.unmetered !== 200) {
      state.refused += 1;
      return new Response(null, {
        status: state.unmetered,
        ...(state.unmetered === 302 && { headers: { location: 'http://elsewhere.invalid/' } }),
      });
    }
    const { answers } = (await c.req.json()) as UnmeteredRequest;
    const results = answers.map(({ request: { jobId } }) => {
      state.told.add(jobId);
      return { jobId, outcome: 'recorded' };
    });
    return c.json({ results });
  });
  const server = await listen(app);
  ends.push(() => server.close());
  return { state, url: server.url };
}

async function router() {
  const started = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  ends.push(() => started.close());
  return started;
}

test.each([404, 302, 413])(
  'a service that answers %i for a while is told all of 100 fallback answers afterwards',
  async (status) => {
    const { state, url } = await service();
    state.unmetered = status;
    const asks = await router();
    const { relay, events } = flowRelay(asks.grpcUrl ?? '', url, flowRules([]), { deadlineMs: 300 });
    relay.start();
    await asks.until(() => asks.waitingStreams() > 0);
    const jobIds = Array.from({ length: 100 }, (_, index) => index + 1);
    const answers = await Promise.all(jobIds.map((jobId) => asks.admit(question(jobId))));
    expect(answers.filter(({ result }) => result !== 'admitted')).toEqual([]);
    await until(() => state.refused > 0 && relay.status().unmeteredQueued === jobIds.length);
    const posted = () =>
      events.reduce((sum, event) => sum + (event.type === 'unmetered' ? event.posted : 0), 0);
    expect(posted()).toBe(0);
    state.unmetered = 200;
    await until(() => relay.status().unmeteredQueued === 0);
    expect(state.told.size).toBe(100);
    expect(posted()).toBe(100);
    expect(events.flatMap((event) => (event.type === 'unmetered' ? (event.lost ?? []) : []))).toEqual([]);
    await relay.stop();
  },
);

test.each([
  { back: true, guarantee: 'the service is back: all 300 are told before it ends' },
  { back: false, guarantee: 'the service stays away: all 300 are counted, logged and measured as lost' },
])('SIGTERM while the breaker is open, and $guarantee', async ({ back }) => {
  const { state, url } = await service();
  const asks = await router();
  const healthPort = await loopbackPort();
  const relay = spawnRelay({
    TOLLGATE_ROUTER_URL: asks.grpcUrl ?? '',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: url,
    TOLLGATE_DEADLINE_MS: '500',
    TOLLGATE_HEALTH_PORT: String(healthPort),
    TOLLGATE_DEPLOYMENT: 'production',
  });
  ends.push(relay.kill);
  await asks.until(() => asks.waitingStreams() > 0, { timeoutMs: 30_000 });
  await relay.wrote('"started"');
  for (let jobId = 1; jobId <= 300; jobId += 10) {
    const some = Array.from({ length: 10 }, (_, index) => ({ ...question(jobId + index) }));
    await Promise.all(some.map((one) => asks.admit(one)));
  }
  await relay.wrote('"state":"open"');
  if (back) state.unmetered = 200;
  relay.child.kill('SIGTERM');
  const { code, stdout } = await relay.closed;
  expect(code).toBe(0);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"_aws"'));
  expect(lines.flatMap(emfProblems)).toEqual([]);
  const dropped = lines.reduce((sum, line) => sum + (measuredOf(line).values.UnmeteredDropped?.[0] ?? 0), 0);
  const losses = stdout.split('\n').filter((line) => line.includes('fallback answers lost'));
  expect(state.told.size + dropped).toBe(300);
  expect(dropped).toBe(back ? 0 : 300);
  expect(losses).toHaveLength(back ? 0 : 1);
  if (!back) {
    const line = JSON.parse(losses[0] ?? '{}');
    expect(line).toMatchObject({ level: 'error', why: 'stopping', count: 300 });
    expect(line.jobIds).toHaveLength(100);
  }
});
