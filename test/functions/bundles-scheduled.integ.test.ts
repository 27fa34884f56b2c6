import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoHealthCheck } from '../../functions/answers/health/read-health.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../functions/core/gitlab/gitlab.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { inboxItem } from '../../functions/core/ledger/items.ts';
import { itemAt, putItem } from '../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { TimeLimit } from '../../functions/core/store/operation.ts';
import * as names from '../../functions/names.ts';
import { createLocalGitLab } from '../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import {
  aFake,
  aRig,
  type Fake,
  fakeParameters,
  fakeSns,
  GITLAB_TOKEN,
  INSTANCE,
  type Rig,
} from '../support/bundle-rig.ts';
import { measuredOf } from '../support/emf-spec.ts';
import { anAsk, claim, counter, someFacts } from '../support/ledger/asks.ts';
import { hintOf, ranFor } from '../support/ledger/gitlab-jobs.ts';
import { isOnAfter } from '../support/relay/alarm-state.ts';

/** Nobody listens on it. */
const NOWHERE = 'http://127.0.0.1:1';
const TOKEN_PARAMETER = '/tollgate/test/gitlab-token';

let parameters: Fake;
let gitlab: Fake;
let rig: Rig;
let asking: Readonly<Record<string, string>>;
const askedWith = new Set<unknown>();

beforeAll(async () => {
  rig = await aRig();
  parameters = await fakeParameters({ [TOKEN_PARAMETER]: GITLAB_TOKEN });
  // A GitLab in which nothing has happened yet, except that the job router failed each job that is asked about.
  gitlab = await aFake((request, _, response) => {
    askedWith.add(request.headers['private-token']);
    const jobId = /\/jobs\/(\d+)$/.exec(request.url ?? '')?.[1];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(jobId === undefined ? [] : failedByRouter(Number(jobId))));
  });
  asking = {
    [names.ENV_GITLAB_URL]: gitlab.url,
    [names.ENV_GITLAB_TOKEN_PARAMETER]: TOKEN_PARAMETER,
    [names.ENV_CONTROLLER_TOKEN_PARAMETER]: TOKEN_PARAMETER,
    AWS_ENDPOINT_URL_SSM: parameters.url,
  };
});

afterAll(async () => {
  await rig?.close();
  parameters?.close();
  gitlab?.close();
});

const failedByRouter = (id: number) => ({
  ...{ id, name: 'unit', stage: 'test', ref: 'main', status: 'failed', runner: null, duration: 1 },
  failure_reason: 'job_router_failure',
  created_at: new Date(Date.now() - 400_000).toISOString(),
  started_at: new Date(Date.now() - 390_000).toISOString(),
  finished_at: new Date(Date.now() - 389_000).toISOString(),
  ...{ project: { id: 7 }, pipeline: { id: 5000, project_id: 7 } },
});

/** A ledger on the table of the functions. */
function openLedger(clock = systemClock) {
  const { table } = rig;
  const store = new DynamoStore({ table, instance: INSTANCE, clock: systemClock, random: Math.random });
  return createLedger({ store, clock });
}

/** As the stream tells of it. */
const inserted = (sequence: string, NewImage: unknown) => ({
  eventID: `event-${sequence}`,
  eventName: 'INSERT',
  eventSource: 'aws:dynamodb',
  awsRegion: 'local',
  dynamodb: { SequenceNumber: sequence, StreamViewType: 'NEW_AND_OLD_IMAGES', NewImage },
});
const arrived = (sequence: string, jobId: number, over: Partial<GitLabJob> = {}) => {
  const [startedAtMs, finishedAtMs] = [Date.now() - 60_000, Date.now()];
  const body = hintOf(ranFor(jobId, 60, { startedAtMs, finishedAtMs, ...over }));
  const item = { id: `delivery-${jobId}`, body, receivedAtMs: Date.now(), untilMs: Date.now() };
  return inserted(sequence, inboxItem(item, ledgerKeys(INSTANCE)));
};
const foreign = inserted('2', { pk: { S: 'other.example.com#job#1' }, sk: { S: 'record' } });

describe('the deployed consumers of the stream', () => {
  test('settle what arrived and pass over what is not theirs', async () => {
    const ledger = openLedger();
    const facts = someFacts({ rootId: 100 });
    const asks = [21, 22].map((jobId) => anAsk(jobId, [claim('group/100', 60)], { facts }));
    await ledger.hold(asks, systemClock.monotonicMs() + 60_000);
    const consumer = await rig.start('settle/stream');
    const event = { Records: [arrived('1', 21), foreign, arrived('3', 22)] };
    expect(await consumer.invoke(event)).toEqual({ batchItemFailures: [] });
    expect(consumer.output()).toContain('"applied":2');
    expect(await ledger.readRecord(21)).toMatchObject({ state: 'SETTLED', durationSeconds: 60 });
  });

  test('report those deliveries, and no others, that the ledger could not take', async () => {
    const consumer = await rig.start('settle/stream', { [names.ENV_DYNAMODB_ENDPOINT]: NOWHERE });
    const event = { Records: [arrived('1', 23), foreign, arrived('3', 24)] };
    expect(await consumer.invoke(event)).toEqual({
      batchItemFailures: [{ itemIdentifier: '1' }, { itemIdentifier: '3' }],
    });
  });

  test('count usage, and are not stopped by items of other kinds', async () => {
    const rollup = await rig.start('rollup');
    const event = { Records: [arrived('1', 25), foreign] };
    expect(await rollup.invoke(event)).toEqual({ batchItemFailures: [] });
  });
});

/** The values of a metric in the lines that a function wrote. */
const measuredIn = (output: string, name: string): readonly number[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{"_aws"'))
    .flatMap((line) => measuredOf(line).values[name] ?? []);

describe('the deployed functions of a schedule', () => {
  const scheduled = { source: 'aws.scheduler', 'detail-type': 'Scheduled Event', detail: {} };

  test('the sweep looks with the parameter’s token and finds nothing to end', async () => {
    const sweep = await rig.start('sweep', asking);
    expect(await sweep.invoke(scheduled)).toMatchObject({ live: 0, bypass: 0, gitlabSilent: false });
    expect([...askedWith]).toEqual([GITLAB_TOKEN]);
    expect(sweep.output()).not.toContain(GITLAB_TOKEN);
  });

  test('the recount goes through what the consumers wrote and finds no drift', async () => {
    const drift = await rig.start('drift');
    expect(await drift.invoke(scheduled)).toBe('over');
    expect(drift.output()).toMatch(/"no drift".*"records":2,.*"drifting":0,/);
    // The next round takes a day.
    expect(await drift.invoke(scheduled)).toBe('under way');
  });

  test('of what is long over the sweep closes the period, and the recount takes the user’s id', async () => {
    const thenMs = Date.now() - 110 * 86_400_000;
    const ledger = openLedger({ ...systemClock, nowMs: () => thenMs });
    const month = new Date(thenMs).toISOString().slice(0, 7);
    const claims = [claim('group/1', 100, undefined, { counter: counter('group/1', 'money-month', month) })];
    const ask = anAsk(900, claims, { facts: someFacts({ userId: 987_654_321 }) });
    await ledger.hold([ask], systemClock.monotonicMs() + 60_000);
    await ledger.settle([{ jobId: 900, durationSeconds: 60, endedAtMs: thenMs }]);

    const sweep = await rig.start('sweep', asking);
    expect(await sweep.invoke(scheduled)).toMatchObject({ closedPeriods: 1, waitingPeriods: 0 });
    const drift = await rig.start('drift');
    // As if no round had begun: the first one does not wait.
    await rig.table.send('DeleteItem', { key: ledgerKeys(INSTANCE).recountRound }, new TimeLimit(60_000));
    expect(await drift.invoke(scheduled)).toBe('over');
    expect(drift.output()).toMatch(/"no drift".*"records":3,.*"drifting":0,/);
    expect(drift.output()).not.toContain('987654321');
    const record = await ledger.readRecord(900);
    expect(record?.facts).not.toHaveProperty('userId');
    expect(record?.facts.userPseudonym).toMatch(/^~[\w-]{12}$/);
  });

  test('the directory lists an empty GitLab to its end', async () => {
    const directory = await rig.start('directory', asking);
    expect(await directory.invoke(scheduled)).toMatchObject({ groups: 0 });
  });

  test('the notices begin where they stand, and tell nobody anything', async () => {
    const notices = await rig.start('notices', {
      [names.ENV_THRESHOLDS_TOPIC]: 'arn:aws:sns:eu-central-1:123456789012:thresholds',
      AWS_ENDPOINT_URL_SNS: NOWHERE,
    });
    const nothing = { notices: 0, messages: 0, waiting: 0 };
    expect(await notices.invoke(scheduled)).toEqual(nothing);
    expect(await notices.invoke(scheduled)).toEqual(nothing);
  });

  test('the watchdog pages nobody where no relay was ever heard', async () => {
    const watchdog = await rig.start('watchdog', {
      ...asking,
      [names.ENV_CONTROLLER_ID]: '7',
      [names.ENV_PAGE_TOPIC]: 'arn:aws:sns:eu-central-1:123456789012:page',
      AWS_ENDPOINT_URL_SNS: NOWHERE,
    });
    expect(await watchdog.invoke(scheduled)).toBe('never_heard');
  });

  test('the doctor looks with the parameter’s token, counts what no other alarm tells of, and keeps its view', async () => {
    const local = createLocalGitLab({
      ...{ random: seededRandom(1), token: GITLAB_TOKEN },
      controllers: [{ id: 7, description: 'tollgate', state: 'enabled', instanceScope: true }],
      administration: { groups: [{ id: 10, path: 'acme' }] },
    });
    local.controllerTokens.make(7, 'relays', Date.now(), () => 0.5);
    const server = await local.listen();
    const doctor = await rig.start('doctor', {
      ...asking,
      [names.ENV_GITLAB_URL]: server.url,
      [names.ENV_WEBHOOK_URL]: 'https://hooks.example.com/v1/gitlab/jobs',
      [names.ENV_DESCRIPTORS_VERSION]: '18.9',
      [names.ENV_DEPLOYMENT]: 'test',
    });
    local.groupHooks.make(10, { url: 'https://hooks.example.com/v1/gitlab/jobs/10', job_events: true });
    // GitLab is newer than the descriptors; that no relay was heard is another alarm's.
    expect(await doctor.invoke(scheduled)).toMatchObject({ problems: 1, alarming: 1 });
    const alarm = ALL_ALARMS.find(({ name }) => name === 'HealthProblems');
    const written = measuredIn(doctor.output(), 'HealthProblems');
    expect(written).toEqual([1]);
    const having =
      (HealthProblems: readonly number[], Errors: readonly number[] = [0, 0]) =>
      ({ name }: { readonly name: string }) =>
        ({ HealthProblems, Errors })[name] ?? Array.from({ length: 120 }, () => 1);
    if (alarm === undefined) throw new Error('no alarm HealthProblems');
    expect(isOnAfter(alarm, 120, () => having(written))).toBe(true);
    expect(isOnAfter(alarm, 120, () => having([]))).toBe(false);
    // Two looks in a row that did not happen.
    expect(isOnAfter(alarm, 120, () => having([], []))).toBe(true);
    expect(doctor.output()).not.toContain(GITLAB_TOKEN);

    const kept = await dynamoHealthCheck({ table: rig.table, instance: INSTANCE }).read();
    expect(kept?.deployed.descriptorsVersion).toBe('18.9');
    expect(kept?.view.findings.find(({ about }) => about === 'version of GitLab')).toMatchObject({
      severity: 'warning',
      alarm: 'HealthProblems',
    });
    local.stop();
    await server.stop();
  });

  test('a job that was admitted and yet failed by the router is held until the sweep asks GitLab, and disarms if that is set', async () => {
    const ledger = openLedger();
    const measured = { [names.ENV_DEPLOYMENT]: 'test' };
    const facts = someFacts({ rootId: 100, projectId: 7 });
    await ledger.hold(
      [31, 32, 33].map((jobId) => anAsk(jobId, [claim('group/100', 60)], { facts })),
      systemClock.monotonicMs() + 60_000,
    );
    const consumer = await rig.start('settle/stream', measured);
    const over = { status: 'failed', failureReason: 'job_router_failure' } as const;
    const Records = [31, 32, 31].map((jobId, at) => arrived(`${at}`, jobId, over));
    expect(await consumer.invoke({ Records })).toEqual({ batchItemFailures: [] });
    expect(measuredIn(consumer.output(), 'AdmittedYetFailed')).toEqual([]);
    expect(await ledger.readRecord(31)).toMatchObject({ state: 'HELD' });

    // No webhook reports job 33; it is due once its timeout is over.
    await ledger.postpone([{ jobId: 33, dueAtMs: Date.now() - 1_000 }]);
    const sweep = await rig.start('sweep', { ...asking, ...measured });
    const first = (await sweep.invoke(scheduled)) as { readonly admittedYetFailed: readonly number[] };
    expect(first).toMatchObject({ released: 3 });
    expect(first.admittedYetFailed.toSorted()).toEqual([31, 32, 33]);
    expect(await sweep.invoke(scheduled)).toMatchObject({ released: 0, admittedYetFailed: [] });
    expect(measuredIn(sweep.output(), 'AdmittedYetFailed')).toEqual([3]);
    const alarm = ALL_ALARMS.find(({ name }) => name === 'AdmittedYetFailed');
    expect(3).toBeGreaterThan(alarm?.breach[1] ?? Number.POSITIVE_INFINITY);
    const warned = sweep
      .output()
      .split('\n')
      .filter((line) => line.includes('admitted, yet failed by the'));
    expect(warned).toEqual([expect.stringMatching(/^(?=.*"31")(?=.*"32")(?=.*"33")/)]);
    const records = await ledger.readRecords([31, 32, 33]);
    expect(records.map((record) => record?.state)).toEqual(Array(3).fill('RELEASED'));
    expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);

    const beat = { [names.HEARTBEAT_AT]: { N: String(Date.now()) } };
    const beatKey = { pk: ledgerKeys(INSTANCE).heartbeatPk, sk: 'relay-1' };
    await putItem(rig.table, itemAt(beatKey, beat), new TimeLimit(60_000));
    const local = createLocalGitLab({
      ...{ random: seededRandom(1), token: GITLAB_TOKEN },
      controllers: [{ id: 7, description: 'tollgate', state: 'enabled', instanceScope: true }],
    });
    const server = await local.listen();
    const pages: URLSearchParams[] = [];
    const sns = await fakeSns(pages);
    const watchdog = (more: Readonly<Record<string, string>>) =>
      rig.start('watchdog', {
        ...{ ...asking, ...more, [names.ENV_GITLAB_URL]: server.url, [names.ENV_CONTROLLER_ID]: '7' },
        [names.ENV_PAGE_TOPIC]: 'arn:aws:sns:eu-central-1:123456789012:page',
        AWS_ENDPOINT_URL_SNS: sns.url,
      });
    expect(await (await watchdog({})).invoke(scheduled)).toBe('relay_heard');
    expect(local.controller(7)?.state).toBe('enabled');
    const disarming = await watchdog({ [names.ENV_DISARM_AFTER_FAILED_JOB]: 'yes' });
    expect(await disarming.invoke(scheduled)).toBe('disarmed_for_job');
    expect(local.controller(7)?.state).toBe('dry_run');
    expect(disarming.output()).not.toContain(GITLAB_TOKEN);
    expect(pages.map((page) => page.get('Message'))).toEqual([expect.stringMatching(/Job 3[123] of/)]);
    local.stop();
    sns.close();
    await server.stop();
  });

  test('a setting that is missing is named when the function starts, not when it is needed', async () => {
    await expect(rig.start('sweep', { [names.ENV_GITLAB_URL]: '' })).rejects.toThrow(
      `${names.ENV_GITLAB_URL} is not set`,
    );
  });
});
