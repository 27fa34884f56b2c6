import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { groupHookKey } from '../../../functions/core/gitlab/group-hooks.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { createSettleApp, JOBS_PATH } from '../../../functions/settle/app.ts';
import { consume } from '../../../functions/settle/consume.ts';
import { ensureTable, newInTable } from '../../../scripts/local/dynamodb-local.ts';
import { anAsk, claim, someFacts } from '../../support/ledger/asks.ts';
import { patientClient } from '../../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../../support/ledger/shared-dynamodb.ts';
import { inboxContract } from './inbox-contract.ts';

const TABLE = 'settle';
const INSTANCE = 'gitlab.example.com';
const TOKEN = `whsec_${Buffer.from('a token of this test only').toString('base64')}`;

const endpoint = sharedDynamoDb();
let client: ReturnType<typeof patientClient>;
let streams: DynamoDBStreamsClient;

beforeAll(async () => {
  client = patientClient(endpoint);
  streams = new DynamoDBStreamsClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await ensureTable(client, TABLE);
});

afterAll(async () => {
  client?.destroy();
  streams?.destroy();
});

const store = (instance: string): DynamoStore =>
  new DynamoStore({ table: dynamoTable(client, TABLE), instance, clock: systemClock, random: Math.random });

inboxContract(store);

test('from webhook through the real stream to the ledger: settled, released, each once, and nothing for an unknown job', async () => {
  const table = store(INSTANCE);
  const ledger = createLedger({ store: table });
  const app = createSettleApp({
    inbox: table,
    secrets: async () => [TOKEN],
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
  await ledger.hold(
    [1, 2].map((jobId) =>
      anAsk(jobId, [claim('group/1', 600, 5_000)], { facts: someFacts({ rootId: 100 }) }),
    ),
    systemClock.monotonicMs() + 30_000,
  );

  const deliver = async (jobId: number, id: string, over: object): Promise<number> => {
    const body = JSON.stringify({
      object_kind: 'build',
      build_id: jobId,
      build_status: 'success',
      project_id: 1001,
      project: { path_with_namespace: 'acme/payments/checkout' },
      ...over,
    });
    const at = new Date();
    const response = await app.request(`${JOBS_PATH}/100`, {
      method: 'POST',
      body,
      headers: {
        'x-gitlab-event': 'Job Hook',
        'webhook-id': id,
        'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
        'webhook-signature': new Webhook(groupHookKey(TOKEN, 100)).sign(id, at, body),
      },
    });
    return response.status;
  };
  const done = new AbortController();
  const written = await newInTable({
    client: streams,
    tableName: TABLE,
    signal: done.signal,
    pause: () => systemClock.sleep(20),
  });
  const ran = { build_started_at_iso: new Date(Date.now() - 90_000).toISOString(), build_duration: 90 };
  const deliveries = [
    deliver(1, 'a', ran),
    deliver(1, 'a', ran),
    deliver(1, 'b', ran),
    deliver(2, 'c', { build_status: 'canceled' }),
    deliver(3, 'd', ran),
  ];
  expect(await Promise.all(deliveries)).toEqual([200, 200, 200, 200, 200]);

  const deps = {
    ledger,
    keys: ledgerKeys(INSTANCE),
    directoryFor: async () => undefined,
    clock: systemClock,
    log: silentLog,
  };
  const states = async (): Promise<(string | undefined)[]> =>
    (await ledger.readRecords([1, 2, 3])).map((record) => record?.state);
  for await (const Records of written) {
    expect(await consume({ Records }, deps)).toEqual({ batchItemFailures: [] });
    // What was settled comes by in the stream as well, so there is always another batch to look at.
    if (`${await states()}` === 'SETTLED,RELEASED,') done.abort();
  }

  expect(await ledger.readRecord(1)).toMatchObject({
    durationSeconds: 90,
    entries: 0,
    claims: [{ counted: 90 }],
  });
  expect(await ledger.readRecord(3)).toBeUndefined();
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});
