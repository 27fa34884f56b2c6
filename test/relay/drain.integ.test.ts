/** Relays that are replaced one after the other while the router asks: what a rolling deployment does. */
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { AdmissionsRequest } from '../../functions/core/contract/admissions.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import type { LocalRouter } from '../../scripts/local/router/local-router.ts';
import { listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { type RelayProcess, spawnRelay } from '../support/relay/relay-process.ts';

const DRAINS = 10;
/** Jobs that are being asked about at any time. */
const IN_FLIGHT = 64;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A service that admits everything. */
async function admitServer(): Promise<string> {
  const app = new Hono();
  app.post('/v1/admissions', async (c) => {
    const { batch, requests }: AdmissionsRequest = await c.req.json();
    const decisions = requests.map(({ jobId }) => ({
      jobId,
      decisionId: `d-${jobId}`,
      shadow: [],
      outcome: 'admitted',
    }));
    return c.json({ batch, decisions });
  });
  const server = await listen(app);
  ends.push(() => server.close());
  return server.url;
}

async function startRelay(routerUrl: string, admitUrl: string): Promise<RelayProcess> {
  const relay = spawnRelay({
    TOLLGATE_ROUTER_URL: routerUrl,
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: admitUrl,
    TOLLGATE_DEADLINE_MS: '10000',
    TOLLGATE_HEALTH_PORT: String(await loopbackPort()),
  });
  ends.push(() => relay.child.kill('SIGKILL'));
  await relay.wrote('streams wait at the router');
  return relay;
}

/** Asks about one job after the other in each of so many lanes, until stopped; resolves with what was not admitted. */
function keepAsking(router: LocalRouter) {
  let asking = true;
  let asked = 0;
  const lost: unknown[] = [];
  const lanes = Array.from({ length: IN_FLIGHT }, async () => {
    while (asking) {
      asked += 1;
      const result = await router.admit(question(asked));
      if (result.result !== 'admitted') lost.push(result);
    }
  });
  return {
    async stop() {
      asking = false;
      await Promise.all(lanes);
      return { asked, lost };
    },
  };
}

test('ten relays that are told to stop while the router asks lose no question', async () => {
  const admitUrl = await admitServer();
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  ends.push(() => router.close());
  let relay = await startRelay(router.grpcUrl ?? '', admitUrl);
  const load = keepAsking(router);
  for (let drain = 0; drain < DRAINS; drain += 1) {
    const next = await startRelay(router.grpcUrl ?? '', admitUrl);
    relay.child.kill('SIGTERM');
    expect(await relay.closed).toMatchObject({ code: 0 });
    relay = next;
  }
  const { asked, lost } = await load.stop();
  expect(asked).toBeGreaterThan(DRAINS * IN_FLIGHT);
  expect(lost).toEqual([]);
});
