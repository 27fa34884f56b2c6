import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import type { UnmeteredRequest } from '../../functions/core/contract/admissions.ts';
import { headroomTable } from '../../relay/fallback/headroom-snapshot.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { admitApp, FLOW_POLICY, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { proveSchema } from '../support/flow/prove-schema.ts';
import { until } from '../support/flow/until.ts';
import { localTable } from '../support/ledger/local-table.ts';
import { MemoryStore } from '../support/ledger/memory-store.ts';
import { logOf, spawnRelay } from '../support/relay/relay-process.ts';
import { signedLocalFetch } from '../support/relay/signed-local-fetch.ts';

const TABLE = 'relay-replaced';
const local = localTable(TABLE);

/**
 * A router, an admit function that can be gone, and relays: a job costs one EUR, a month has five. The function reports a limit
 * once a second, so a relay knows of job 1 alone, and of four EUR.
 */
async function scene(instance: string) {
  const { app } = admitApp(
    new MemoryStore({ instance }),
    flowRules([{ on: { group: 100 }, money: 5, per: 'month' }]),
  );
  const service = { isGone: false };
  const front = new Hono();
  front.all('*', (c) => (service.isGone ? c.body(null, 503) : app.fetch(c.req.raw)));
  const server = await listen(front);
  onTestFinished(() => server.close());
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  onTestFinished(() => router.close());
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-replaced-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const policyFile = join(folder, 'rules.json');
  writeFileSync(policyFile, JSON.stringify({ policy: { version: 'flow', document: FLOW_POLICY } }));
  const start = async (endpoint = local.endpoint) => {
    const relay = spawnRelay({
      TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
      TOLLGATE_ROUTER_TOKEN: TOKEN,
      TOLLGATE_ADMIT_URL: server.url,
      TOLLGATE_DEADLINE_MS: '10000',
      TOLLGATE_POLICY_FILE: policyFile,
      TOLLGATE_HEALTH_PORT: String(await loopbackPort()),
      TOLLGATE_JOURNAL_TABLE: TABLE,
      TOLLGATE_GITLAB_INSTANCE: instance,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    });
    onTestFinished(relay.kill);
    await relay.wrote('"started"');
    await router.until(() => router.waitingStreams() > 0, { timeoutMs: 30_000 });
    // In an outage, too, nobody is rejected before.
    await proveSchema(router);
    return relay;
  };
  const asked = async (...jobIds: readonly number[]): Promise<readonly string[]> => {
    const results: string[] = [];
    for (const jobId of jobIds) results.push((await router.admit(question(jobId))).result);
    return results;
  };
  const table = headroomTable({
    ...{ table: TABLE, instance, relayId: 'test', nowMs: Date.now, endpoint: local.endpoint },
    fetch: signedLocalFetch(),
  });
  const written = () => table.read();
  /** Jobs in the journal of this instance. */
  const journaled = async (): Promise<readonly number[]> => {
    const { Items = [] } = await local.client.send(new ScanCommand({ TableName: TABLE }));
    return Items.filter(({ pk }) => pk?.S?.startsWith(`${instance}#journal#`)).flatMap(({ b }) =>
      (JSON.parse(b?.S ?? '') as UnmeteredRequest).answers.map(({ request }) => request.jobId),
    );
  };
  return { service, start, asked, written, journaled };
}

test('a relay that is killed in an outage is followed by one that goes on from its last snapshot in the table', async () => {
  const { service, start, asked, written } = await scene('killed.example.com');
  const first = await start();
  expect(await asked(1, 2)).toEqual(['admitted', 'admitted']);
  expect(await written(), 'while the function answers nothing is written').toEqual([]);
  service.isGone = true;
  expect(await asked(3, 4)).toEqual(['admitted', 'admitted']);
  await until(async () => (await written()).some(({ given }) => given.includes(4)));
  first.kill();
  await first.closed;
  const next = await start();
  expect(await asked(5, 6, 7, 3)).toEqual(['admitted', 'admitted', 'rejected', 'admitted']);
  await until(async () => (await written()).some(({ given }) => given.includes(6)));
  next.kill();
  await next.closed;
  await start();
  expect(await asked(8, 5)).toEqual(['rejected', 'admitted']);
});

test('a relay that is stopped while all is well leaves what it knows, and whoever starts in an outage goes by it', async () => {
  const { service, start, asked, written } = await scene('stopped.example.com');
  const first = await start();
  expect(await asked(1, 2)).toEqual(['admitted', 'admitted']);
  first.child.kill('SIGTERM');
  expect((await first.closed).code).toBe(0);
  expect(await written()).toMatchObject([{ rooms: [{ left: 4_000_000, spent: 0 }], given: [] }]);
  service.isGone = true;
  await start();
  expect(await asked(3, 4, 5, 6, 7)).toEqual([...Array(4).fill('admitted'), 'rejected']);
});

test('a relay that is stopped in an outage leaves its decisions in the journal, and none is lost', async () => {
  const { service, start, asked, journaled } = await scene('journal.example.com');
  service.isGone = true;
  const relay = await start();
  expect(await asked(1, 2, 3)).toEqual(['admitted', 'admitted', 'admitted']);
  relay.child.kill('SIGTERM');
  const { code, stdout } = await relay.closed;
  expect(code).toBe(0);
  expect(await journaled()).toEqual(expect.arrayContaining([1, 2, 3]));
  expect(stdout).not.toContain('fallback answers lost');
});

test('a relay that cannot read what is left starts all the same, says so, and knows of no limits', async () => {
  const { service, start, asked } = await scene('unread.example.com');
  service.isGone = true;
  const relay = await start(`http://127.0.0.1:${await loopbackPort()}`);
  expect(await asked(1, 2, 3, 4, 5, 6)).toEqual(Array.from({ length: 6 }, () => 'admitted'));
  relay.kill();
  const { stdout } = await relay.closed;
  expect(logOf(stdout).map(({ msg, message }) => msg ?? message)).toContain(
    'the headroom snapshots of other relays could not be read',
  );
});
