import { expect, test } from 'vitest';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { ensureTable } from '../../scripts/local/dynamodb-local.ts';
import { admitApp, answers, flowRelay, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { patientClient } from '../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../support/ledger/shared-dynamodb.ts';

const LIMIT = 150;
const JOBS = 256;

const endpoint = sharedDynamoDb();

test('limit 150, 256 jobs, each asked twice at once, two relays over ws tunnels: exactly 150 run', async () => {
  const client = patientClient(endpoint);
  await ensureTable(client, 'limit-150');
  const newStore = () =>
    new DynamoStore({
      table: dynamoTable(client, 'limit-150'),
      instance: 'flow.example.com',
      clock: systemClock,
      random: Math.random,
    });
  const rules = flowRules([{ on: { group: 100 }, jobs: LIMIT }]);
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const sides = await Promise.all(
    [1, 2].map(async () => {
      const { app, ledger } = admitApp(newStore(), rules);
      const server = await listen(app);
      return { server, ledger, ...flowRelay(router.wsUrl ?? '', server.url, rules) };
    }),
  );
  for (const { relay } of sides) relay.start();
  await router.until(() => router.waitingStreams() >= 16);

  const results = await Promise.all(
    Array.from({ length: JOBS }, (_, index) => {
      const job = question(index + 1, 1001 + (index % 2));
      return Promise.all([router.admit(job), router.admit(job)]);
    }),
  );

  const same = results.filter(([first, second]) => first.result === second.result).length;
  expect(same, 'both answers to one job agree').toBe(JOBS);
  expect(results.filter(([first]) => first.result === 'admitted')).toHaveLength(LIMIT);
  expect(results.filter(([first]) => first.result === 'rejected')).toHaveLength(JOBS - LIMIT);
  const [{ ledger }] = sides as [(typeof sides)[0], ...typeof sides];
  const [counter] = await ledger.readCounters([{ subject: 'group/100', limit: 'jobs-now', period: 'now' }]);
  expect(counter?.committed).toBe(LIMIT);
  const report = await ledger.rebuild({ repair: false });
  expect(report.drift).toEqual([]);
  for (const { events } of sides) {
    expect(answers(events).length, 'both relays answered').toBeGreaterThan(0);
    expect(answers(events).filter(({ via }) => via === 'fallback')).toEqual([]);
  }

  await Promise.all(sides.map(({ relay }) => relay.stop()));
  await router.close();
  await Promise.all(sides.map(({ server }) => server.close()));
  client.destroy();
});
