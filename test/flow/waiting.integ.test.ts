/** A relay as a process, the admit function and DynamoDB Local: a job waits for a slot and gets it. */
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { admitApp, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { proveSchema } from '../support/flow/prove-schema.ts';
import { until } from '../support/flow/until.ts';
import { localTable } from '../support/ledger/local-table.ts';
import { logOf, spawnRelay } from '../support/relay/relay-process.ts';

const SLOTS = { subject: 'group/100', limit: 'jobs-now', period: 'now' };
const local = localTable('waiting');

test('a job waits while all slots are taken, gets the next that is free, and a relay that stops leaves none unanswered', async () => {
  const store = new DynamoStore({
    table: dynamoTable(local.client, 'waiting'),
    instance: 'flow.example.com',
    clock: systemClock,
    random: Math.random,
  });
  const rules = flowRules([{ on: { group: 100 }, jobs: 2, wait: '60s' }]);
  const { app, ledger } = admitApp(store, rules);
  const server = await listen(app);
  onTestFinished(() => server.close());
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  onTestFinished(() => router.close());
  const port = await loopbackPort();
  const relay = spawnRelay({
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: server.url,
    TOLLGATE_DEADLINE_MS: '10000',
    TOLLGATE_ANSWER_WITHIN_MS: '25000',
    TOLLGATE_HEALTH_PORT: String(port),
  });
  onTestFinished(relay.kill);
  await relay.wrote('streams wait at the router');
  await proveSchema(router);
  const waitingJobs = async (): Promise<number> => {
    const status = (await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()) as {
      waitingJobs: number;
    };
    return status.waitingJobs;
  };

  const first = await Promise.all([1, 2].map((jobId) => router.admit(question(jobId))));
  expect(first).toMatchObject([{ result: 'admitted' }, { result: 'admitted' }]);
  const third = router.admit(question(3));
  await until(async () => (await waitingJobs()) === 1);
  expect(await ledger.readRecord(3)).toBeUndefined();

  await ledger.release([{ jobId: 1, cause: 'canceled' }]);
  expect(await third).toMatchObject({ result: 'admitted' });
  expect(await ledger.readRecord(3)).toMatchObject({ state: 'HELD', generation: 1 });

  const fourth = router.admit(question(4));
  await until(async () => (await waitingJobs()) === 1);
  relay.child.kill('SIGTERM');
  const { result, reason } = await fourth;
  expect(result).toBe('rejected');
  expect(reason).toMatch(/It waited \d+ s, and no slot became free/);
  expect(await ledger.readRecord(4)).toMatchObject({ state: 'REJECTED' });
  const { code, stdout } = await relay.closed;
  expect(code).toBe(0);
  const waited = logOf(stdout).filter(({ waitedMs }) => waitedMs !== undefined);
  expect(waited.map(({ jobId, outcome, via }) => [jobId, outcome, via])).toEqual([
    [3, 'admitted', 'ledger'],
    [4, 'rejected', 'ledger'],
  ]);
  expect(await ledger.readCounters([SLOTS])).toMatchObject([{ committed: 2 }]);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});
