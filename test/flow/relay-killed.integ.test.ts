import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { admitApp, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { MemoryStore } from '../support/ledger/memory-store.ts';
import { spawnRelay } from '../support/relay/relay-process.ts';

const JOBS = [1, 2, 3, 4, 5];

async function startRelay(routerUrl: string, admitUrl: string) {
  const relay = spawnRelay({
    TOLLGATE_ROUTER_URL: routerUrl,
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: admitUrl,
    TOLLGATE_DEADLINE_MS: '10000',
    TOLLGATE_HEALTH_PORT: String(await loopbackPort()),
  });
  onTestFinished(relay.kill);
  return relay;
}

test('fault 9: a relay killed after the ledger committed charges nobody twice, and its successor answers the same', async () => {
  const store = new MemoryStore({ instance: 'flow.example.com' });
  const rules = flowRules([{ on: { group: 100 }, jobs: JOBS.length }]);
  const { app, ledger } = admitApp(store, rules);
  let committed = 0;
  let hold = true;
  const allCommitted = Promise.withResolvers<void>();
  const front = new Hono();
  front.all('*', async (c) => {
    const response = await app.fetch(c.req.raw);
    committed += ((await response.clone().json()) as { decisions?: unknown[] }).decisions?.length ?? 0;
    if (committed === JOBS.length) allCommitted.resolve();
    // The ledger has spoken, and the relay never hears it.
    return hold ? new Promise<Response>(() => {}) : response;
  });
  const server = await listen(front);
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });

  const first = await startRelay(router.grpcUrl ?? '', server.url);
  await router.until(() => router.waitingStreams() >= JOBS.length);
  const lost = Promise.all(JOBS.map((jobId) => router.admit(question(jobId))));
  await allCommitted.promise;
  first.kill();
  expect((await lost).map(({ result }) => result)).toEqual(JOBS.map(() => 'failed'));
  hold = false;

  const second = await startRelay(router.grpcUrl ?? '', server.url);
  await router.until(() => router.waitingStreams() >= 1);
  const again = await Promise.all(JOBS.map((jobId) => router.admit(question(jobId))));
  expect(again.map(({ result }) => result)).toEqual(JOBS.map(() => 'admitted'));

  const [counter] = await ledger.readCounters([{ subject: 'group/100', limit: 'jobs-now', period: 'now' }]);
  expect(counter?.committed).toBe(JOBS.length);
  expect((await ledger.readRecord(1))?.generation).toBe(1);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
  // What nobody was told would be found by its due time.
  const due = await store.due(1, Number.MAX_SAFE_INTEGER, 10, { timeoutMs: 300_000 });
  expect(due.map(({ jobId }) => jobId)).toContain(1);

  second.child.kill('SIGTERM');
  expect((await second.closed).code, 'SIGTERM ends with 0').toBe(0);
  await router.close();
  await server.close();
});
