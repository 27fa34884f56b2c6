/** What a dashboard shows must be written by what is deployed: each handler is run as Lambda runs it, and its lines are read. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ADMISSIONS_PATH } from '../../../../functions/core/contract/admissions.ts';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../../../functions/core/gitlab/gitlab.ts';
import { hintText } from '../../../../functions/core/job-ends/webhook-hints.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { inboxItem, recordItem } from '../../../../functions/core/ledger/items.ts';
import { deployedMetrics } from '../../../../functions/core/metrics.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import type { Item } from '../../../../functions/core/store/operation.ts';
import * as names from '../../../../functions/names.ts';
import { emfProblems, measuredOf } from '../../../support/emf-spec.ts';
import { importFor } from '../../../support/import-for.ts';
import { keptEnv } from '../../../support/kept-env.ts';
import { anAsk, claim, someFacts } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { type Failure, type FakeServices, startFakeServices } from './fake-services.ts';

const INSTANCE = 'metrics.example.com';
const DEPLOYMENT = 'test/metrics.example.com';
/** Stands wherever a secret could: a token, a variable, a name. */
const MARKER = 'not-a-secret';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-metrics-'));
const restoreEnv = keptEnv();
const failOnce: Failure[] = [];
const said: string[] = [];

let services: FakeServices;

const RULES = {
  policy: {
    version: 'metrics',
    document: {
      currency: 'EUR',
      prices: {
        version: 'metrics',
        classes: [{ name: 'small', tags: [], rate_per_minute: '0.10' }],
        default_class: 'small',
      },
      estimate: { default: '10m' },
      rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }],
    },
  },
  limits: { version: 'metrics', document: { limits: [{ on: { group: 100 }, money: 5, per: 'month' }] } },
  directory: { groups: [{ id: 100, path: 'acme' }], projects: [] },
};

beforeAll(async () => {
  services = await startFakeServices(MARKER, failOnce);
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(RULES));
  Object.assign(process.env, {
    [names.ENV_DEPLOYMENT]: DEPLOYMENT,
    [names.ENV_LEDGER_TABLE]: 'metrics',
    [names.ENV_GITLAB_INSTANCE]: INSTANCE,
    [names.ENV_RULES_FILE]: join(folder, 'rules.json'),
    [names.ENV_DYNAMODB_ENDPOINT]: services.url,
    [names.ENV_GITLAB_URL]: services.url,
    [names.ENV_GITLAB_TOKEN_PARAMETER]: '/tollgate/token',
    [names.ENV_WEBHOOK_SECRETS_PARAMETER]: '/tollgate/secrets',
    AWS_ENDPOINT_URL_SSM: services.url,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
});

afterAll(() => {
  vi.restoreAllMocks();
  restoreEnv();
  rmSync(folder, { recursive: true, force: true });
  services?.close();
});

/** The metrics lines since the last look. */
function linesSaid(): readonly string[] {
  const lines = said.splice(0).flatMap((text) => text.split('\n'));
  return lines.filter((line) => line.startsWith('{"_aws"'));
}

const written = new Set<string>();

/** What an invocation wrote: one line, nothing else beside it, and nobody's words in it. */
function measuredBy(): Readonly<Record<string, readonly number[]>> {
  const lines = linesSaid();
  expect(lines).toHaveLength(1);
  const [line = ''] = lines;
  expect(emfProblems(line)).toEqual([]);
  expect(line).not.toContain(MARKER);
  const { deployment, values } = measuredOf(line);
  expect(deployment).toBe(DEPLOYMENT);
  for (const name of Object.keys(values)) written.add(name);
  return values;
}

const post = (path: string, body: string, headers: Readonly<Record<string, string>> = {}) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: { 'content-type': 'application/json', ...headers },
  requestContext: { http: { method: 'POST', path }, domainName: 'metrics.example.com' },
  body,
  isBase64Encoded: false,
});

test('the admit function: a group it does not know, a lost race, limits it could not read', async () => {
  const { handler } = await importFor<typeof import('../../../../functions/admit/handler.ts')>(
    import.meta.url,
    'functions/admit/handler.ts',
  );
  const admit = async (jobId: number, namespaceId: number): Promise<number> => {
    const request = { jobId, jobName: MARKER, projectId: 1, namespaceId, rootNamespaceId: 100 };
    const body = JSON.stringify({ requests: [request], remainingMs: 5_000 });
    const event = post(ADMISSIONS_PATH, body) as unknown as Parameters<typeof handler>[0];
    return (await handler(event)).statusCode;
  };
  // What a start asks for at once, and the read that follows.
  for (const operation of ['BatchGetItem', 'GetItem'] as const)
    failOnce.push({ operation, about: `${INSTANCE}@limits`, type: 'InternalServerError' });
  expect(await admit(1, 100)).toBe(500);
  expect(measuredBy()).toEqual({ LimitsUnreadable: [1] });

  failOnce.push({
    operation: 'TransactWriteItems',
    about: '',
    type: 'TransactionCanceledException',
    reasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
  });
  expect(await admit(2, 999)).toBe(200);
  expect(measuredBy()).toEqual({ UnknownGroups: [1], LedgerRetries: [1] });

  expect(await admit(3, 100)).toBe(200);
  expect(linesSaid()).toEqual([]);
});

test('the stream: how many jobs ended, how long ago, and reports that cannot be', async () => {
  const { handler } = await importFor<typeof import('../../../../functions/settle/stream/handler.ts')>(
    import.meta.url,
    'functions/settle/stream/handler.ts',
  );
  const nowMs = Date.now();
  const report = async (jobId: number, durationSeconds: number): Promise<void> => {
    const gitlabJob: GitLabJob = {
      jobId,
      projectId: 1,
      jobName: MARKER,
      status: 'success',
      startedAtMs: nowMs - 90_000,
      finishedAtMs: nowMs - 30_000,
      durationSeconds,
    };
    const body = hintText({ groupId: 100, gitlabJob });
    const item = { id: `${jobId} ${durationSeconds}`, body, receivedAtMs: nowMs, untilMs: nowMs };
    const NewImage = inboxItem(item, ledgerKeys(INSTANCE));
    await handler({ Records: [{ eventName: 'INSERT', dynamodb: { SequenceNumber: '1', NewImage } }] });
  };
  const store = new MemoryStore({ instance: INSTANCE });
  const ledger = createLedger({ store });
  const facts = someFacts({ rootId: 100, timeoutSeconds: 60 });
  const asks = [7, 8].map((jobId) => ({
    ...anAsk(jobId, [claim('group/100', 60)], { facts }),
    // The first was admitted long ago, and can have run as long.
    decidedAtMs: jobId === 7 ? nowMs - 50 * 86_400_000 : nowMs - 90_000,
  }));
  await ledger.hold(asks, systemClock.monotonicMs() + 60_000);
  const records = (await ledger.readRecords([7, 8])).flatMap((record) => record ?? []);
  services.stored.push(...records.map((record) => recordItem(record, ledgerKeys(INSTANCE))));
  await report(8, 40 * 86_400);
  expect(measuredBy()).toEqual({ ImpossibleEnds: [1] });
  await report(7, 40 * 86_400);
  const { JobEvents: events, SettlementLagSeconds: lag, ImpossibleEnds: clamped } = measuredBy();
  expect(clamped).toEqual([1]);
  expect(events).toEqual([1]);
  expect(lag?.[0]).toBeGreaterThanOrEqual(30);
});

test('the sweep: each number but zeros', async () => {
  const { handler } = await importFor<typeof import('../../../../functions/sweep/handler.ts')>(
    import.meta.url,
    'functions/sweep/handler.ts',
  );
  await handler();
  expect(linesSaid()).toEqual([]);
  const { measureSweepReport, newTally } = await import('../../../../functions/sweep/run.ts');
  const report = { ...newTally(), live: 4, oldestDueAgeMs: 9_000, gitlabSilent: true, settled: 2 };
  measureSweepReport(
    { ...report, admittedYetFailed: [7], unadmitted: 3, outOfScope: 1, ran: 5 },
    deployedMetrics(DEPLOYMENT, { clock: systemClock }),
  );
  expect(measuredBy()).toEqual({
    ...{ LiveHolds: [4], OldestDueAgeSeconds: [9], GitLabSilent: [1], HealedBySweep: [2] },
    ...{ AdmittedYetFailed: [1], BypassJobs: [3], OutOfScopeJobs: [1], RanJobs: [5] },
  });
});

test('the recount: nothing unless counters drift, it is late or rules are missing, and the prices it was deployed with are noted', async () => {
  const { handler } = await importFor<typeof import('../../../../functions/drift/handler.ts')>(
    import.meta.url,
    'functions/drift/handler.ts',
  );
  const { pk: rules, sk: pointer } = ledgerKeys(INSTANCE).rulesPointer;
  services.stored.push({ pk: { S: rules }, sk: { S: pointer }, ha: { S: 'missing' } });
  await handler();
  services.stored.pop();
  expect(said.join('')).toMatch(/prices noted.*"policyVersion":"metrics"/);
  expect(measuredBy()).toEqual({ RulesBehindSeconds: [1] });
  const { pk, sk } = ledgerKeys(INSTANCE).recountOutcome;
  const outcome: Item = { pk: { S: pk }, sk: { S: sk }, at: { N: '0' }, ul: { N: '0' }, re: { N: '1' } };
  services.stored.push(outcome);
  await handler();
  expect(measuredBy()).toEqual({ DriftedCounters: [0, 1] });
});

test('the doctor: what no other alarm tells of', async () => {
  process.env[names.ENV_WEBHOOK_URL] = 'https://hooks.example.com/';
  const { handler } = await importFor<typeof import('../../../../functions/doctor/handler.ts')>(
    import.meta.url,
    'functions/doctor/handler.ts',
  );
  const { alarming } = await handler();
  expect(measuredBy()).toEqual({ HealthProblems: [alarming] });
});

test('the rollup: what nobody can read', async () => {
  const { handler } = await importFor<typeof import('../../../../functions/rollup/handler.ts')>(
    import.meta.url,
    'functions/rollup/handler.ts',
  );
  const { pk, sk } = ledgerKeys(INSTANCE).record(9);
  const NewImage = { pk: { S: pk }, sk: { S: sk }, jn: { S: MARKER } };
  await handler({ Records: [{ eventName: 'MODIFY', dynamodb: { SequenceNumber: '1', NewImage } }] });
  expect(measuredBy()).toEqual({ RollupLeftOut: [1] });
});

test('the directory: how old it is', async () => {
  const { handler } = await importFor<typeof import('../../../../functions/directory-sync/handler.ts')>(
    import.meta.url,
    'functions/directory-sync/handler.ts',
  );
  await handler();
  expect(measuredBy()).toEqual({ DirectoryAgeSeconds: [1] });
});

test('every metric in the names of the functions is written by one of them, and no other', () => {
  expect([...written].sort()).toEqual(names.FUNCTION_METRICS.map(({ name }) => name).sort());
});

test('under another name than the books have, no function works on the table, and each says what to do', async () => {
  vi.resetModules();
  services.known.push('gitlab.before-the-move.com');
  const before = services.written.length;
  Object.assign(process.env, {
    [names.ENV_THRESHOLDS_TOPIC]: 'arn:aws:sns:local:111122223333:owners',
    [names.ENV_LIMITS_PATH]: '/tollgate/test/limits',
  });
  const handlers = await Promise.all([
    import('../../../../functions/admit/handler.ts'),
    import('../../../../functions/settle/stream/handler.ts'),
    import('../../../../functions/rollup/handler.ts'),
    import('../../../../functions/sweep/handler.ts'),
    import('../../../../functions/directory-sync/handler.ts'),
    import('../../../../functions/drift/handler.ts'),
    import('../../../../functions/doctor/handler.ts'),
    import('../../../../functions/ssm-limits/handler.ts'),
    import('../../../../functions/notices/handler.ts'),
  ]);
  for (const { handler } of handlers) {
    const run = handler as (event: unknown, context: unknown) => Promise<unknown>;
    await expect(run({}, undefined)).rejects.toThrow(
      /\[foreign_books\].*gitlab\.before-the-move\.com, and none of metrics\.example\.com.*gitlab\.instance/,
    );
  }
  expect(services.written.slice(before)).toEqual([]);
});
