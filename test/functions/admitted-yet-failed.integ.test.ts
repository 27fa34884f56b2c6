/** The deployed functions on a real table: a job that they admitted and that the job router failed all the same. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMISSIONS_PATH } from '../../functions/core/contract/admissions.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import type { JobTruth } from '../../functions/core/gitlab/gitlab.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { inboxItem } from '../../functions/core/ledger/items.ts';
import { itemAt, putItem } from '../../functions/core/store/calls.ts';
import { dynamoYetFailed } from '../../functions/core/store/health-items.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { TimeLimit } from '../../functions/core/store/operation.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { hintText } from '../../functions/core/truth/webhook-hints.ts';
import * as names from '../../functions/names.ts';
import { type DynamoDbLocal, ensureTable, startDynamoDbLocal } from '../../scripts/local/dynamodb-local.ts';
import { createLocalGitLab } from '../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import { documentedUrlEvent, type HostedBundle } from '../../scripts/proof/rehearse/hosted-bundle.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import {
  aFake,
  aRig,
  bodyOf,
  type Fake,
  fakeParameters,
  fakeSns,
  GITLAB_TOKEN,
  INSTANCE,
  type Rig,
} from '../support/bundle-rig.ts';
import { patientClient } from '../support/ledger/patient-client.ts';

const TOKEN_PARAMETER = '/tollgate/test/gitlab-token';
const PROJECT = 1003;
/** Reported by a webhook. */
const BY_WEBHOOK = [501, 502, 503, 504];
const BY_SWEEP = [601, 602, 603];
const REJECTED_HERE = 701;
const FAILED_BY_ITSELF = 505;
const measured = { [names.ENV_DEPLOYMENT]: 'test' };

let database: DynamoDbLocal;
let client: ReturnType<typeof patientClient>;
let parameters: Fake;
let gitlab: Fake;
let rig: Rig;

const ledger = () =>
  createLedger({
    store: new DynamoStore({
      table: dynamoTable(client, rig.table),
      instance: INSTANCE,
      clock: systemClock,
      random: Math.random,
    }),
  });
const stateOf = async (jobId: number) => (await ledger().readRecord(jobId))?.state;

beforeAll(async () => {
  database = await startDynamoDbLocal();
  client = patientClient(database.endpoint);
  rig = aRig(database.endpoint);
  await ensureTable(client, rig.table);
  parameters = await fakeParameters({ [TOKEN_PARAMETER]: GITLAB_TOKEN });
  // Says of each job that the router failed it, and lists nothing.
  gitlab = await aFake((request, _, response) => {
    const jobId = Number(/\/jobs\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(jobId === 0 ? [] : restJob(jobId)));
  });
  const admit = await rig.start('admit');
  expect(await ask(admit, REJECTED_HERE, 'registry.elsewhere.test/x:1')).toBe('rejected');
  for (const jobId of [...BY_WEBHOOK, FAILED_BY_ITSELF, ...BY_SWEEP]) {
    expect([jobId, await ask(admit, jobId, 'golang:1.26')]).toEqual([jobId, 'admitted']);
    // Fewer run at once than the group may.
    if (jobId === FAILED_BY_ITSELF) await settleWebhooks();
  }
});

afterAll(async () => {
  await rig?.close();
  client?.destroy();
  parameters?.close();
  gitlab?.close();
  await database?.stop();
});

async function ask(admit: HostedBundle, jobId: number, image: string): Promise<unknown> {
  const requests = [
    { jobId, projectId: PROJECT, namespaceId: 102, rootNamespaceId: 100, image, timeoutSeconds: 60 },
  ];
  const body = JSON.stringify({ requests, remainingMs: 20_000 });
  const answer = bodyOf(await admit.invoke(documentedUrlEvent({ path: ADMISSIONS_PATH, body })));
  return (answer as { decisions: { outcome: string }[] }).decisions[0]?.outcome;
}

const restJob = (id: number) => ({
  id,
  name: 'unit',
  stage: 'test',
  ref: 'main',
  status: 'failed',
  failure_reason: 'job_router_failure',
  created_at: new Date(Date.now() - 400_000).toISOString(),
  started_at: new Date(Date.now() - 390_000).toISOString(),
  finished_at: new Date(Date.now() - 389_000).toISOString(),
  duration: 1,
  project: { id: PROJECT },
  pipeline: { id: 5000, project_id: PROJECT },
  runner: null,
});

let consumer: HostedBundle;
async function settleWebhooks(): Promise<void> {
  consumer = await rig.start('settle/stream', measured);
  const told = [
    ...BY_WEBHOOK.map((jobId) => arrived(jobId, 'job_router_failure')),
    // A rejection of ours, one that failed by itself, and a delivery that comes twice.
    arrived(REJECTED_HERE, 'job_router_failure'),
    arrived(FAILED_BY_ITSELF, 'script_failure'),
  ];
  expect(await consumer.invoke({ Records: told })).toEqual({ batchItemFailures: [] });
  const again = [arrived(BY_WEBHOOK[0] ?? 0, 'job_router_failure')];
  expect(await consumer.invoke({ Records: again })).toEqual({ batchItemFailures: [] });
}

function arrived(jobId: number, failureReason: string) {
  const nowMs = Date.now();
  const truth: JobTruth = {
    ...({ jobId, projectId: PROJECT, status: 'failed', failureReason, durationSeconds: 1 } as const),
    ...{ createdAtMs: nowMs - 10_000, startedAtMs: nowMs - 9_000, finishedAtMs: nowMs - 8_000 },
  };
  const body = hintText({ groupId: 100, truth });
  const item = { id: `delivery-${jobId}`, body, receivedAtMs: nowMs, untilMs: nowMs };
  return {
    eventName: 'INSERT',
    dynamodb: { SequenceNumber: String(jobId), NewImage: inboxItem(item, ledgerKeys(INSTANCE)) },
  };
}

/** The sum of the metric over the lines that a function really wrote. */
function counted(output: string): number {
  const lines = output.split('\n').filter((line) => line.includes('"_aws"'));
  return lines
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Record<string, unknown>)
    .map((document) => document[names.METRIC_ADMITTED_YET_FAILED.name])
    .flatMap((value) => (Array.isArray(value) ? value : [value ?? 0]))
    .reduce((sum, value) => sum + Number(value), 0);
}
const alarm = ALL_ALARMS.find(({ name }) => name === 'AdmittedYetFailed');
const warned = (output: string): readonly string[] =>
  output.split('\n').filter((line) => line.includes('admitted, yet failed by the job router'));

test('a webhook that reports it counts nothing and frees nothing', async () => {
  const output = consumer.output();
  expect(counted(output)).toBe(0);
  expect(warned(output)).toEqual([]);
  for (const jobId of BY_WEBHOOK) expect(await stateOf(jobId)).toBe('HELD');
  expect(await stateOf(FAILED_BY_ITSELF)).toBe('SETTLED');
  expect(await stateOf(REJECTED_HERE)).toBe('REJECTED');
});

test('the next sweep asks GitLab: each such job is counted once, named and given back', async () => {
  // Without webhooks they are due when their timeout is over.
  const dueAtMs = Date.now() - 1_000;
  await ledger().postpone(BY_SWEEP.map((jobId) => ({ jobId, dueAtMs })));
  const sweep = await rig.start('sweep', {
    ...measured,
    [names.ENV_GITLAB_URL]: gitlab.url,
    [names.ENV_GITLAB_TOKEN_PARAMETER]: TOKEN_PARAMETER,
    AWS_ENDPOINT_URL_SSM: parameters.url,
  });
  const all = [...BY_WEBHOOK, ...BY_SWEEP];
  const first = (await sweep.invoke({})) as { readonly admittedYetFailed: readonly number[] };
  expect(first).toMatchObject({ released: all.length });
  expect(first.admittedYetFailed.toSorted((a, b) => a - b)).toEqual(all);
  expect(await sweep.invoke({})).toMatchObject({ released: 0, admittedYetFailed: [] });
  expect(counted(sweep.output())).toBe(all.length);
  expect(counted(sweep.output())).toBeGreaterThan(alarm?.breach[1] ?? Number.POSITIVE_INFINITY);
  expect(warned(sweep.output())).toHaveLength(1);
  for (const jobId of all) {
    expect(warned(sweep.output())[0]).toContain(`"${jobId}"`);
    expect(await stateOf(jobId)).toBe('RELEASED');
  }
  expect((await ledger().rebuild({ repair: false })).drift).toEqual([]);
});

test('the watchdog that may disarm for one does so, and one that may not leaves the controller armed', async () => {
  const keys = ledgerKeys(INSTANCE);
  const table = dynamoTable(client, rig.table);
  const beat = itemAt(
    { pk: keys.heartbeatPk, sk: 'relay-1' },
    { [names.HEARTBEAT_AT]: { N: String(Date.now()) } },
  );
  await putItem(table, beat, new TimeLimit(10_000));
  const found = await dynamoYetFailed({ table, instance: INSTANCE }).read();
  expect([...BY_WEBHOOK, ...BY_SWEEP]).toContain(found?.jobId);
  const local = createLocalGitLab({
    ...{ random: seededRandom(1), token: GITLAB_TOKEN },
    controllers: [{ id: 7, description: 'tollgate', state: 'enabled', instanceScope: true }],
  });
  const server = await local.listen();
  const pages: URLSearchParams[] = [];
  const sns = await fakeSns(pages);
  const watchdog = (more: Readonly<Record<string, string>>) =>
    rig.start('watchdog', {
      ...more,
      [names.ENV_GITLAB_URL]: server.url,
      [names.ENV_CONTROLLER_ID]: '7',
      [names.ENV_CONTROLLER_TOKEN_PARAMETER]: TOKEN_PARAMETER,
      [names.ENV_PAGE_TOPIC]: 'arn:aws:sns:eu-central-1:123456789012:page',
      AWS_ENDPOINT_URL_SSM: parameters.url,
      AWS_ENDPOINT_URL_SNS: sns.url,
    });
  expect(await (await watchdog({})).invoke({})).toBe('relay_heard');
  expect(local.controller(7)?.state).toBe('enabled');
  const disarming = await watchdog({ [names.ENV_DISARM_AFTER_FAILED_JOB]: 'yes' });
  expect(await disarming.invoke({})).toBe('disarmed_for_job');
  expect(local.controller(7)?.state).toBe('dry_run');
  expect(disarming.output()).not.toContain(GITLAB_TOKEN);
  expect(pages.map((page) => page.get('Message'))).toEqual([
    expect.stringContaining(`Job ${found?.jobId} of`),
  ]);
  local.stop();
  sns.close();
  await server.stop();
});
