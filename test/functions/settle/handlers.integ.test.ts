import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { groupHookKey } from '../../../functions/core/gitlab/group-hooks.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { inboxItem } from '../../../functions/core/ledger/items.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
  ENV_WEBHOOK_SECRETS_PARAMETER,
  ENV_WEBHOOK_TOKENS_PARAMETER,
} from '../../../functions/names.ts';
import { JOBS_PATH } from '../../../functions/settle/app.ts';
import { packRules } from '../../../scripts/build/pack-rules.ts';
import { ensureTable } from '../../../scripts/local/dynamodb-local.ts';
import { importFor } from '../../support/import-for.ts';
import { keptEnv } from '../../support/kept-env.ts';
import { anAsk, claim, someFacts } from '../../support/ledger/asks.ts';
import { patientClient } from '../../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../../support/ledger/shared-dynamodb.ts';
import { hintOf, ranFor } from '../../support/ledger/truths.ts';

const INSTANCE = 'handlers.example.com';
const PARAMETER = '/tollgate/test/webhook-secrets';
const TOKENS = '/tollgate/test/webhook-tokens';
const PLAIN = 'a plain secret of this test only';
const TOKEN = `whsec_${Buffer.from('a token of this test only').toString('base64')}`;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-settle-'));
const restoreEnv = keptEnv();

const endpoint = sharedDynamoDb();
let parameters: Server;
const asked: unknown[] = [];

/** As much of SSM as one parameter needs. */
async function startParameters(): Promise<string> {
  parameters = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const question: { readonly Name: string } = JSON.parse(body);
    asked.push(question);
    const secret = question.Name === TOKENS ? PLAIN : TOKEN;
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify({ Parameter: { Name: question.Name, Value: `${secret}\n` } }));
  });
  await new Promise<void>((listening) => parameters.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(parameters.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const client = patientClient(endpoint);
  await ensureTable(client, 'handlers');
  client.destroy();
  writeFileSync(
    join(folder, 'rules.json'),
    JSON.stringify(packRules({ root, force: false, nowMs: Date.now() })),
  );
  Object.assign(process.env, {
    [ENV_LEDGER_TABLE]: 'handlers',
    [ENV_GITLAB_INSTANCE]: INSTANCE,
    [ENV_RULES_FILE]: join(folder, 'rules.json'),
    [ENV_DYNAMODB_ENDPOINT]: endpoint,
    [ENV_WEBHOOK_SECRETS_PARAMETER]: PARAMETER,
    [ENV_WEBHOOK_TOKENS_PARAMETER]: TOKENS,
    AWS_ENDPOINT_URL_SSM: await startParameters(),
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
});

afterAll(async () => {
  restoreEnv();
  rmSync(folder, { recursive: true, force: true });
  parameters?.close();
});

const tableOf = (client: ReturnType<typeof patientClient>): DynamoStore =>
  new DynamoStore({
    table: dynamoTable(client, 'handlers'),
    instance: INSTANCE,
    clock: systemClock,
    random: Math.random,
  });

test('the webhook’s handler checks a function URL event with the parameter’s secrets, read once, and writes it down', async () => {
  const { handler } = await importFor<typeof import('../../../functions/settle/handler.ts')>(
    import.meta.url,
    'functions/settle/handler.ts',
  );
  const signed = (token: string, id: string, at: Date, body: string) => ({
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(groupHookKey(token, 100)).sign(id, at, body),
  });
  const post = async (proof: typeof signed | object, token: string, id: string): Promise<number> => {
    const body = JSON.stringify({
      object_kind: 'build',
      build_id: 1,
      build_status: 'skipped',
      project_id: 2,
    });
    const at = new Date();
    const response = await handler(
      {
        version: '2.0',
        routeKey: '$default',
        rawPath: `${JOBS_PATH}/100`,
        rawQueryString: '',
        headers: {
          'x-gitlab-event': 'Job Hook',
          ...(typeof proof === 'function' ? proof(token, id, at, body) : proof),
        },
        requestContext: {
          http: { method: 'POST', path: `${JOBS_PATH}/100` },
          domainName: 'settle.example.com',
        },
        body: Buffer.from(body).toString('base64'),
        isBase64Encoded: true,
      } as unknown as Parameters<typeof handler>[0],
      undefined,
    );
    return response.statusCode;
  };
  const stranger = `whsec_${Buffer.from('what somebody made up').toString('base64')}`;
  expect([await post(signed, TOKEN, 'a'), await post(signed, stranger, 'b')]).toEqual([200, 401]);
  expect(asked).toEqual([{ Name: PARAMETER, WithDecryption: true }]);
  // GitLab before 19.0 cannot sign.
  expect(await post({ 'x-gitlab-token': groupHookKey(PLAIN, 100) }, '', '')).toBe(200);

  const client = patientClient(endpoint);
  const item = { id: 'a', body: '', receivedAtMs: Date.now(), untilMs: 0 };
  expect(await tableOf(client).receive(item, { timeoutMs: 300_000 })).toBe(false);
  client.destroy();
});

test('the stream’s handler settles what arrived', async () => {
  const { handler } = await importFor<typeof import('../../../functions/settle/stream/handler.ts')>(
    import.meta.url,
    'functions/settle/stream/handler.ts',
  );
  const client = patientClient(endpoint);
  const ledger = createLedger({ store: tableOf(client) });
  const ask = anAsk(9, [claim('group/100', 60)], { facts: someFacts({ rootId: 100 }) });
  await ledger.hold([ask], performance.now() + 60_000);
  const startedAtMs = Date.now() - 60_000;
  const truth = ranFor(9, 60, { startedAtMs, finishedAtMs: Date.now() });
  const item = { id: 'x', body: hintOf(truth), receivedAtMs: Date.now(), untilMs: Date.now() };
  const NewImage = inboxItem(item, ledgerKeys(INSTANCE));
  const event = { Records: [{ eventName: 'INSERT', dynamodb: { SequenceNumber: '1', NewImage } }] };
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  expect(await ledger.readRecord(9)).toMatchObject({ state: 'SETTLED', durationSeconds: 60 });
  client.destroy();
});
