import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMISSIONS_PATH } from '../../functions/core/contract/admissions.ts';
import { ENV_WEBHOOK_SECRETS_PARAMETER } from '../../functions/names.ts';
import { ensureTable } from '../../scripts/local/dynamodb-local.ts';
import { documentedUrlEvent, type HostedBundle } from '../../scripts/proof/rehearse/hosted-bundle.ts';
import {
  aRig,
  bodyOf,
  delivery,
  type Fake,
  fakeParameters,
  type Rig,
  WEBHOOK_SECRET,
} from '../support/bundle-rig.ts';
import { aJobHook } from '../support/job-hook-bodies.ts';
import { patientClient } from '../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../support/ledger/shared-dynamodb.ts';

/** One more than the contract's megabyte. */
const TOO_LARGE = ' '.repeat(1024 * 1024 + 1);
const PARAMETER = '/tollgate/test/webhook-secrets';

const endpoint = sharedDynamoDb();
let parameters: Fake;
let rig: Rig;
let admit: HostedBundle;
let settle: HostedBundle;

beforeAll(async () => {
  const client = patientClient(endpoint);
  rig = aRig(endpoint);
  await ensureTable(client, rig.table);
  client.destroy();
  parameters = await fakeParameters({ [PARAMETER]: `${WEBHOOK_SECRET}\n` });
  admit = await rig.start('admit');
  settle = await rig.start('settle', {
    [ENV_WEBHOOK_SECRETS_PARAMETER]: PARAMETER,
    AWS_ENDPOINT_URL_SSM: parameters.url,
  });
});

afterAll(async () => {
  await rig?.close();
  parameters?.close();
});

describe('the deployed admit function', () => {
  const place = { projectId: 1003, namespaceId: 102, rootNamespaceId: 100 };
  const asking = (jobId: number): string =>
    JSON.stringify({
      requests: [{ jobId, ...place, image: 'golang:1.26', timeoutSeconds: 600 }],
      remainingMs: 20_000,
    });
  const ask = (body: string, base64 = false): Promise<unknown> =>
    admit.invoke(documentedUrlEvent({ path: ADMISSIONS_PATH, body, base64 }));

  test.each([
    { guarantee: 'decides a question', jobId: 1, base64: false },
    { guarantee: 'decides a question whose body Lambda has encoded', jobId: 2, base64: true },
  ])('$guarantee', async ({ jobId, base64 }) => {
    const answer = await ask(asking(jobId), base64);
    expect(answer).toMatchObject({ statusCode: 200 });
    expect(bodyOf(answer)).toMatchObject({ decisions: [{ outcome: 'admitted' }] });
  });

  test.each([
    { guarantee: 'a body that is no JSON', body: '{"requests": [', status: 400 },
    { guarantee: 'an envelope without requests', body: '{"remainingMs": 1000}', status: 400 },
    { guarantee: 'a body above the limit', body: TOO_LARGE, status: 413 },
  ])('refuses $guarantee and goes on answering', async ({ body, status }) => {
    expect(await ask(body)).toMatchObject({ statusCode: status });
    expect(await ask(asking(1))).toMatchObject({ statusCode: 200 });
  });

  test('holds nothing for one bad request among others, and decides the others', async () => {
    const { requests } = JSON.parse(asking(3)) as { requests: unknown[] };
    const mixed = JSON.stringify({ requests: [{ jobId: 'many' }, ...requests], remainingMs: 20_000 });
    expect(bodyOf(await ask(mixed))).toMatchObject({
      decisions: [{ outcome: 'undecided', cause: 'invalid' }, { outcome: 'admitted' }],
    });
  });

  test('answers what it does not know with 404', async () => {
    const event = documentedUrlEvent({ path: '/v1/unknown', body: '{}' });
    expect(await admit.invoke(event)).toMatchObject({ statusCode: 404 });
  });
});

describe('the deployed settle endpoint', () => {
  const hook = JSON.stringify(aJobHook());
  const stranger = `whsec_${Buffer.from('what somebody made up').toString('base64')}`;
  const old = new Date(Date.now() - 6 * 60_000);

  test.each([
    { guarantee: 'takes a signed delivery', event: delivery(hook, { id: 'plain' }), outcome: 'received' },
    {
      guarantee: 'takes a signed delivery whose body Lambda has encoded',
      event: delivery(hook, { id: 'encoded', base64: true }),
      outcome: 'received',
    },
    { guarantee: 'takes a delivery only once', event: delivery(hook, { id: 'plain' }), outcome: 'repeated' },
    {
      guarantee: 'drops what is signed and no JSON, without a refusal',
      event: delivery('{"object_kind":', { id: 'broken' }),
      outcome: 'dropped',
    },
  ])('$guarantee', async ({ event, outcome }) => {
    const answer = await settle.invoke(event);
    expect(answer).toMatchObject({ statusCode: 200 });
    expect(bodyOf(answer)).toEqual({ outcome });
  });

  test.each([
    {
      guarantee: 'a stranger’s signature',
      event: delivery(hook, { id: 'a', secret: stranger }),
      status: 401,
    },
    {
      guarantee: 'a signature of six minutes ago',
      event: delivery(hook, { id: 'b', sentAt: old }),
      status: 401,
    },
    { guarantee: 'a body above the limit', event: delivery(TOO_LARGE, { id: 'c' }), status: 413 },
    {
      guarantee: 'a delivery without a signature',
      event: documentedUrlEvent({ path: '/v1/gitlab/jobs/1', body: hook }),
      status: 401,
    },
  ])('refuses $guarantee', async ({ event, status }) => {
    expect(await settle.invoke(event)).toMatchObject({ statusCode: status });
  });

  test('says nothing of secrets or bodies in its log', () => {
    expect(settle.output()).not.toContain(WEBHOOK_SECRET.slice('whsec_'.length));
    expect(settle.output()).not.toContain('unit-tests');
  });
});
