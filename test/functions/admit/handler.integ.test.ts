import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/limit-table.ts';
import { publishLimits } from '../../../functions/core/limits/publish-limits.ts';
import { readRulesFile } from '../../../functions/core/rules.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
} from '../../../functions/names.ts';
import { type Bundle, bundleAdmit } from '../../../scripts/build/bundle.ts';
import { packRules } from '../../../scripts/build/pack-rules.ts';
import { ensureTable } from '../../../scripts/local/dynamodb-local.ts';
import { keptEnv } from '../../support/kept-env.ts';
import { patientClient } from '../../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../../support/ledger/shared-dynamodb.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bundle-'));
const restoreEnv = keptEnv();

const endpoint = sharedDynamoDb();
let bundle: Bundle;

beforeAll(async () => {
  const client = patientClient(endpoint);
  await ensureTable(client, 'handler');
  client.destroy();
  bundle = await bundleAdmit(join(folder, 'handler.mjs'));
  writeFileSync(
    join(folder, 'rules.json'),
    JSON.stringify(packRules({ root, force: false, nowMs: Date.now() })),
  );
  Object.assign(process.env, {
    [ENV_LEDGER_TABLE]: 'handler',
    [ENV_GITLAB_INSTANCE]: 'handler.example.com',
    [ENV_RULES_FILE]: join(folder, 'rules.json'),
    [ENV_DYNAMODB_ENDPOINT]: endpoint,
  });
});

afterAll(async () => {
  restoreEnv();
  rmSync(folder, { recursive: true, force: true });
});

const event = (path: string, body: unknown) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: { 'content-type': 'application/json', host: 'admit.example.com' },
  requestContext: { http: { method: 'POST', path }, domainName: 'admit.example.com' },
  body: JSON.stringify(body),
  isBase64Encoded: false,
});

test('the deployed bundle loads no client of SSM when it starts', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
  const atOnce = files.flatMap(
    (name) => readFileSync(join(folder, name), 'utf8').match(/(?:from|import)\s*["'][^"']+["']/g) ?? [],
  );
  expect(atOnce.length).toBeGreaterThan(0);
  expect(atOnce.filter((imported) => imported.includes('client-ssm'))).toEqual([]);
});

test('the deployed bundle decides a Lambda event on a real table', async () => {
  const { handler } = (await import(pathToFileURL(bundle.file).href)) as {
    handler: (event: unknown, context: unknown) => Promise<{ statusCode: number; body: string }>;
  };
  const requests = [
    {
      jobId: 1,
      projectId: 1003,
      namespaceId: 102,
      rootNamespaceId: 100,
      image: 'golang:1.26',
      timeoutSeconds: 600,
    },
    { jobId: 2, projectId: 1003, namespaceId: 102, rootNamespaceId: 100, image: 'evil.example/x:1' },
    ...['ci-1', 'kube-system'].map((namespace, index) => ({
      jobId: 3 + index,
      projectId: 1003,
      namespaceId: 102,
      rootNamespaceId: 100,
      image: 'golang:1.26',
      timeoutSeconds: 600,
      // What judges it is read with the first pattern that is asked.
      variables: { KUBERNETES_NAMESPACE_OVERWRITE: namespace },
    })),
  ];
  const response = await handler(event('/v1/admissions', { requests, remainingMs: 5_000 }), {});
  expect(response.statusCode).toBe(200);
  const { decisions } = JSON.parse(response.body) as { decisions: { outcome: string }[] };
  expect(decisions).toMatchObject([
    { outcome: 'admitted', decisionId: 'd-1-1' },
    { outcome: 'rejected', violations: [{ reason: { code: 'IMAGE_NOT_ALLOWED' } }] },
    { outcome: 'admitted' },
    { outcome: 'rejected', violations: [{ reason: { code: 'OVERWRITE_NOT_ALLOWED' } }] },
  ]);
});

/** Where a look at the pointer takes longer than a rejection waits for it, the question after it knows. */
const QUESTIONS_MAX = 20;

test('the deployed bundle decides by the limits that are live', async () => {
  const { handler } = (await import(pathToFileURL(bundle.file).href)) as {
    handler: (event: unknown, context: unknown) => Promise<{ statusCode: number; body: string }>;
  };
  const client = patientClient(endpoint);
  const table = new DynamoLimitTable({
    table: dynamoTable(client, 'handler'),
    instance: 'handler.example.com',
    clock: systemClock,
    random: Math.random,
  });
  const { policy } = readRulesFile(join(folder, 'rules.json'));
  const ask = async (jobIds: readonly number[]): Promise<readonly unknown[]> => {
    const place = { projectId: 1003, namespaceId: 102, rootNamespaceId: 100 };
    const requests = jobIds.map((jobId) => ({
      jobId,
      ...place,
      image: 'golang:1.26',
      timeoutSeconds: 600,
    }));
    const { body } = await handler(event('/v1/admissions', { requests, remainingMs: 10_000 }), {});
    return (JSON.parse(body) as { decisions: unknown[] }).decisions;
  };
  // The packed limits give this group seven jobs at once.
  const packed = await ask([11, 12, 13, 14, 15, 16, 17, 18]);
  expect(packed.at(-1)).toMatchObject({ violations: [{ reason: { code: 'CONCURRENCY_FULL' } }] });
  const change = { actor: 'a', why: 'w', source: 's', atMs: Date.now() };
  expect((await publishLimits({ limits: [] }, change, { table, policy })).outcome).toBe('live');
  let last: readonly unknown[] = [];
  for (let question = 0; question < QUESTIONS_MAX; question += 1) {
    last = await ask([19 + question]);
    if ((last[0] as { outcome: string }).outcome === 'admitted') break;
  }
  expect(last).toMatchObject([{ outcome: 'admitted' }]);
  client.destroy();
});
