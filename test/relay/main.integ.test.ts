/** The relay as a process: its start, its log and metrics, its end, and its way through a private network. */
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { PLACEHOLDER_HASH } from '../../relay/wire/schema.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import type { LocalRouter } from '../../scripts/local/router/local-router.ts';
import { emfProblems, measuredOf } from '../support/emf-spec.ts';
import { question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { PROVING_JOBS, proveSchema } from '../support/flow/prove-schema.ts';
import { PROXY_CREDENTIALS, startPrivateNetwork } from '../support/private-network.ts';
import { KEYS, startAwsEmulation } from '../support/relay/aws-emulation.ts';
import { decidingService, REJECTED_IMAGE } from '../support/relay/deciding-service.ts';
import { logOf, spawnRelay } from '../support/relay/relay-process.ts';

/** The token that the jobs of `question` carry in their variables. */
const JOB_TOKEN = 'glcbt-flow-not-a-secret';

async function startRouter(): Promise<LocalRouter> {
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  onTestFinished(() => router.close());
  return router;
}

async function aService() {
  const service = await decidingService();
  onTestFinished(service.close);
  return service;
}

async function startRelay(env: Readonly<Record<string, string>>) {
  const port = String(await loopbackPort());
  const relay = spawnRelay({ TOLLGATE_HEALTH_PORT: port, TOLLGATE_DEPLOYMENT: 'production', ...env });
  onTestFinished(relay.kill);
  return { ...relay, health: `http://127.0.0.1:${port}` };
}

/** The deadline is longer than any wait of these tests, so no answer is the fallback's. */
const settings = (router: LocalRouter, admitUrl: string) => ({
  TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
  TOLLGATE_ROUTER_TOKEN: TOKEN,
  TOLLGATE_ADMIT_URL: admitUrl,
  TOLLGATE_DEADLINE_MS: '10000',
});
const rejectedJob = (jobId: number) => ({ ...question(jobId), image: { name: REJECTED_IMAGE } });

test('a relay answers what the service says, is healthy, counts, logs, tells no secret, and ends after its last question', async () => {
  const [service, router] = [await aService(), await startRouter()];
  const relay = await startRelay(settings(router, service.url));
  await router.until(() => router.waitingStreams() > 0);
  await relay.wrote('"started"');
  await proveSchema(router);
  expect(await router.admit(question(1))).toMatchObject({ result: 'admitted' });
  expect(await router.admit(rejectedJob(2))).toMatchObject({
    result: 'rejected',
    reason: expect.stringContaining('IMAGE_NOT_ALLOWED'),
  });

  const healthz = await fetch(`${relay.health}/healthz`);
  expect(healthz.status).toBe(200);
  const schema = { source: 'built-in descriptors', hash: PLACEHOLDER_HASH, placeholder: true };
  expect(await healthz.json()).toMatchObject({
    ...{ status: 'ok', schema: { ...schema, state: 'proven' }, breaker: 'closed', unmeteredQueued: 0 },
  });
  const metrics = await (await fetch(`${relay.health}/metrics`)).text();
  for (const line of [
    `tollgate_relay_decisions_total{outcome="admitted",via="ledger"} ${PROVING_JOBS + 1}`,
    'tollgate_relay_decisions_total{outcome="rejected",via="ledger"} 1',
    `tollgate_relay_schema_info{hash="${PLACEHOLDER_HASH}",source="built-in descriptors",placeholder="yes"} 1`,
  ])
    expect(metrics).toContain(line);

  service.hold = true;
  const answering = router.admit(rejectedJob(4));
  await service.asked;
  relay.child.kill('SIGTERM');
  await relay.wrote('"stopping"');
  // It opens no stream and lets the idle ones go, while the question stays.
  await router.until(() => router.waitingStreams() === 0);
  service.release();
  expect(await answering).toMatchObject({ result: 'rejected' });
  const { code, stdout, stderr } = await relay.closed;
  expect(code).toBe(0);
  expect(logOf(stdout).find(({ message }) => message === 'started')).toMatchObject({
    ...{ schema: 'built-in descriptors', schemaHash: PLACEHOLDER_HASH, placeholder: true, withoutSource: [] },
  });
  expect(stdout).toContain('"stopped"');
  const decisions = logOf(stdout)
    .filter(({ message }) => message === 'decision')
    .slice(PROVING_JOBS);
  expect(decisions).toMatchObject([
    { jobId: 1, decisionId: 'd-1', outcome: 'admitted', via: 'ledger' },
    { jobId: 2, decisionId: 'd-2', outcome: 'rejected', via: 'ledger', rules: ['images'] },
    { jobId: 4, outcome: 'rejected', via: 'ledger' },
  ]);
  for (const { batch } of decisions) expect(service.bodies).toContain(`{"batch":"${batch}",`);
  // It lived for less than a minute: it writes its counts when it leaves.
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"_aws"'));
  expect(lines.map(emfProblems)).toEqual([[]]);
  expect(measuredOf(lines[0] ?? '')).toMatchObject({
    deployment: 'production',
    values: {
      Requests: [PROVING_JOBS + 3],
      Admitted: [PROVING_JOBS + 1],
      Rejected: [2],
    },
  });
  for (const text of [stdout, stderr, metrics, service.bodies]) {
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(JOB_TOKEN);
  }
});

test('relays that are replaced one after the other while the router asks lose no question', async () => {
  const [service, router] = [await aService(), await startRouter()];
  const start = async () => {
    const relay = await startRelay(settings(router, service.url));
    await relay.wrote('streams wait at the router');
    return relay;
  };
  let relay = await start();
  const load = { isOn: true, asked: 0, lost: [] as unknown[] };
  const lanes = Array.from({ length: 64 }, async () => {
    while (load.isOn) {
      load.asked += 1;
      const result = await router.admit(question(load.asked));
      if (result.result !== 'admitted') load.lost.push(result);
    }
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
    const next = await start();
    relay.child.kill(signal);
    expect(await relay.closed).toMatchObject({ code: 0 });
    relay = next;
  }
  load.isOn = false;
  await Promise.all(lanes);
  expect(load.asked).toBeGreaterThan(3 * 64);
  expect(load.lost).toEqual([]);
});

test('a start that cannot work ends with 1 and one line that names every problem, and no token', async () => {
  const { code, stdout, stderr } = await (
    await startRelay({
      TOLLGATE_ROUTER_URL: `ws://user:${TOKEN}@kas.example.com`,
      TOLLGATE_ROUTER_TOKEN: TOKEN,
      TOLLGATE_ROUTER_TOKEN_FILE: '/run/secrets/token',
      TOLLGATE_FALLBACK: 'open',
    })
  ).closed;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^\[config_invalid\] .*ROUTER_URL.*ROUTER_TOKEN_FILE.*ADMIT_URL.*FALLBACK/);
  expect(stderr.trimEnd().split('\n'), 'one line, no stack').toHaveLength(1);
  expect(stdout + stderr).not.toContain(TOKEN);
});

test.each(['wss', 'grpcs'] as const)(
  'the relay reaches a router over %s through a proxy with a password and a private authority',
  async (scheme) => {
    const router = await startRouter();
    const plain = (scheme === 'wss' ? router.wsUrl : router.grpcUrl) ?? '';
    const network = await startPrivateNetwork(Number(new URL(plain.replace(/^\w+/, 'http')).port));
    onTestFinished(() => network.close());
    const aws = await startAwsEmulation(new Hono());
    onTestFinished(() => aws.close());
    aws.parameters.set('/t/token', TOKEN).set('/t/ca', network.ca).set('/t/proxy', PROXY_CREDENTIALS);
    const relay = await startRelay({
      TOLLGATE_ROUTER_URL: `${scheme}://${network.host}`,
      TOLLGATE_ROUTER_TOKEN_PARAMETER: '/t/token',
      TOLLGATE_CA_PARAMETER: '/t/ca',
      TOLLGATE_PROXY_PARAMETER: '/t/proxy',
      https_proxy: network.proxyUrl,
      no_proxy: '127.0.0.1',
      TOLLGATE_ADMIT_URL: aws.url,
      AWS_REGION: KEYS.region,
      AWS_ENDPOINT_URL_SSM: aws.url,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/credentials`,
    });
    await router.until(() => router.waitingStreams() > 0);
    expect(new Set(network.targets)).toEqual(new Set([network.host]));
    relay.kill();
    const { stdout, stderr } = await relay.closed;
    expect(`${stdout}${stderr}`).not.toContain('p@ss');
  },
);
