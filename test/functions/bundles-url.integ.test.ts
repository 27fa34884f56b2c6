import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMISSIONS_PATH } from '../../functions/core/contract/admissions.ts';
import { systemClock } from '../../functions/core/environment/environment.ts';
import { groupHookKey } from '../../functions/core/gitlab/group-hooks.ts';
import { DynamoLimitTable } from '../../functions/core/limits/limit-table.ts';
import { publishLimits } from '../../functions/core/limits/publish-limits.ts';
import { readRulesFile } from '../../functions/core/rules.ts';
import { ENV_WEBHOOK_SECRETS_PARAMETER, ENV_WEBHOOK_TOKENS_PARAMETER } from '../../functions/names.ts';
import { documentedUrlEvent, type HostedBundle } from '../../scripts/proof/rehearse/hosted-bundle.ts';
import {
  aRig,
  bodyOf,
  delivery,
  type Fake,
  fakeParameters,
  INSTANCE,
  type Rig,
  throughApi,
  WEBHOOK_SECRET,
} from '../support/bundle-rig.ts';
import { aJobHook } from '../support/job-hook-bodies.ts';

/** One more than the contract's megabyte. */
const TOO_LARGE = ' '.repeat(1024 * 1024 + 1);
const PARAMETER = '/tollgate/test/webhook-secrets';
const TOKENS = '/tollgate/test/webhook-tokens';
const PLAIN = 'a plain secret of these tests only';

let parameters: Fake;
let rig: Rig;
let admit: Awaited<ReturnType<Rig['start']>>;
let settle: HostedBundle;
const readParameters: string[] = [];

beforeAll(async () => {
  rig = await aRig();
  parameters = await fakeParameters(
    { [PARAMETER]: `${WEBHOOK_SECRET}\n`, [TOKENS]: `${PLAIN}\n` },
    readParameters,
  );
  admit = await rig.start('admit');
  settle = await rig.start('settle', {
    [ENV_WEBHOOK_SECRETS_PARAMETER]: PARAMETER,
    [ENV_WEBHOOK_TOKENS_PARAMETER]: TOKENS,
    AWS_ENDPOINT_URL_SSM: parameters.url,
  });
});

afterAll(async () => {
  await rig?.close();
  parameters?.close();
});

describe('the deployed admit function', () => {
  const place = { projectId: 1003, namespaceId: 102, rootNamespaceId: 100 };
  const asking = (jobId: number, over: object = {}): string =>
    JSON.stringify({
      requests: [{ jobId, ...place, image: 'golang:1.26', timeoutSeconds: 600, ...over }],
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

  test.each([
    ['IMAGE_NOT_ALLOWED', { jobId: 4, image: 'evil.example/x:1' }],
    // Judging it loads the pattern matcher, which the bundle loads late.
    ['OVERWRITE_NOT_ALLOWED', { jobId: 5, variables: { KUBERNETES_NAMESPACE_OVERWRITE: 'kube-system' } }],
  ])('rejects with %s', async (code, { jobId, ...over }) => {
    expect(bodyOf(await ask(asking(jobId, over)))).toMatchObject({
      decisions: [{ outcome: 'rejected', violations: [{ reason: { code } }] }],
    });
  });

  test('loads no client of SSM when it starts', () => {
    const files = readdirSync(admit.folder).filter((name) => name.endsWith('.mjs'));
    const imported = files.flatMap(
      (name) =>
        readFileSync(join(admit.folder, name), 'utf8').match(/(?:from|import)\s*["'][^"']+["']/g) ?? [],
    );
    expect(imported.length).toBeGreaterThan(0);
    expect(imported.filter((each) => each.includes('client-ssm'))).toEqual([]);
  });

  test('answers what it does not know with 404', async () => {
    const event = documentedUrlEvent({ path: '/v1/unknown', body: '{}' });
    expect(await admit.invoke(event)).toMatchObject({ statusCode: 404 });
  });

  test('decides by the limits that are live', async () => {
    const outcomes = async (jobIds: readonly number[]): Promise<readonly unknown[]> => {
      const requests = jobIds.flatMap(
        (jobId) => (JSON.parse(asking(jobId)) as { requests: object[] }).requests,
      );
      const answer = bodyOf(await ask(JSON.stringify({ requests, remainingMs: 20_000 })));
      return (answer as { decisions: unknown[] }).decisions;
    };
    // The packed limits give this group seven concurrent jobs.
    const packed = await outcomes([11, 12, 13, 14, 15, 16, 17, 18]);
    expect(packed.at(-1)).toMatchObject({ violations: [{ reason: { code: 'CONCURRENCY_FULL' } }] });
    const parts = { instance: INSTANCE, clock: systemClock, random: Math.random };
    const table = new DynamoLimitTable({ table: rig.table, ...parts });
    const { policy } = readRulesFile(join(admit.folder, 'rules.json'));
    const change = { actor: 'a', why: 'w', source: 's', atMs: Date.now() };
    const published = await publishLimits({ limits: [] }, change, { table, policy });
    expect(published.outcome).toBe('live');
    // A rejection does not wait long for the pointer; the next request has it.
    let last: readonly unknown[] = [];
    for (let jobId = 19; jobId < 39; jobId += 1) {
      last = await outcomes([jobId]);
      if ((last[0] as { outcome: string }).outcome === 'admitted') break;
    }
    expect(last).toMatchObject([{ outcome: 'admitted' }]);
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
    {
      guarantee: 'takes a signed delivery to a domain of the settings',
      event: throughApi(delivery(hook, { id: 'by an API' })),
      outcome: 'received',
    },
    { guarantee: 'takes a delivery only once', event: delivery(hook, { id: 'plain' }), outcome: 'repeated' },
    {
      guarantee: 'drops what is signed and no JSON, without a refusal',
      event: delivery('{"object_kind":', { id: 'broken' }),
      outcome: 'dropped',
    },
    {
      guarantee: 'takes the plain token of a GitLab before 19.0, which cannot sign',
      event: documentedUrlEvent({
        path: '/v1/gitlab/jobs/100',
        headers: { 'x-gitlab-event': 'Job Hook', 'x-gitlab-token': groupHookKey(PLAIN, 100) },
        body: JSON.stringify({ ...aJobHook(), build_id: 2 }),
      }),
      outcome: 'received',
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

  test('reads each of its secrets once', () => {
    expect(readParameters.toSorted()).toEqual([PARAMETER, TOKENS]);
  });

  test('says nothing of secrets or bodies in its log', () => {
    expect(settle.output()).not.toContain(WEBHOOK_SECRET.slice('whsec_'.length));
    expect(settle.output()).not.toContain('unit-tests');
  });
});
