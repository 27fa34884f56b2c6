import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { AdmissionsRequest } from '../../functions/core/contract/admissions.ts';
import { PLACEHOLDER_HASH } from '../../relay/wire/schema.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import type { LocalRouter } from '../../scripts/local/router/local-router.ts';
import { emfProblems, type Measured, measuredOf } from '../support/emf-spec.ts';
import { listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { PROVING_JOBS, proveSchema } from '../support/flow/prove-schema.ts';
import { logOf, type RelayProcess, spawnRelay } from '../support/relay/relay-process.ts';

/** What the jobs of `question` carry in their variables. */
const JOB_TOKEN = 'glcbt-flow-not-a-secret';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const runRelay = (env: Readonly<Record<string, string>>): RelayProcess => {
  const relay = spawnRelay(env);
  ends.push(relay.kill);
  return relay;
};

/** A service that admits odd jobs and rejects even ones; `hold` keeps its answers back until `release`. */
async function admitServer() {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const service = { url: '', hold: false, asked: asked.promise, release: released.resolve, bodies: '' };
  const app = new Hono();
  app.post('/v1/admissions', async (c) => {
    const text = await c.req.text();
    service.bodies += text;
    const { requests, batch }: AdmissionsRequest = JSON.parse(text);
    if (service.hold) {
      asked.resolve();
      await released.promise;
    }
    return c.json({
      batch,
      decisions: requests.map(({ jobId }) => {
        const decision = { jobId, decisionId: `d-${jobId}`, shadow: [] };
        const reason = { code: 'CONTROLLER_ERROR', cause: 'even' };
        return jobId % 2 === 1
          ? { ...decision, outcome: 'admitted' }
          : {
              ...decision,
              outcome: 'rejected',
              violations: [{ rule: 'odd-only', class: 'cost', mode: 'enforce', reason }],
              text: `EVEN: job ${jobId} is even.`,
            };
      }),
    });
  });
  const server = await listen(app);
  ends.push(() => server.close());
  service.url = server.url;
  return service;
}

async function startEverything() {
  const service = await admitServer();
  const router: LocalRouter = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
  });
  ends.push(() => router.close());
  const healthPort = await loopbackPort();
  const relay = runRelay({
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: service.url,
    // Longer than any wait of these tests: no answer here may be the fallback's.
    TOLLGATE_DEADLINE_MS: '10000',
    TOLLGATE_HEALTH_PORT: String(healthPort),
    TOLLGATE_DEPLOYMENT: 'production',
  });
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 300_000 });
  await relay.wrote('"started"');
  await proveSchema(router);
  return { service, router, relay, health: `http://127.0.0.1:${healthPort}` };
}

/** The metrics for CloudWatch, one document after the other. */
const metricsIn = (stdout: string): readonly Measured[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{"_aws"'))
    .map((line) => {
      expect(emfProblems(line)).toEqual([]);
      return measuredOf(line);
    });

/** Lines of the decision log, without those of the questions that proved the schema. */
const decisionsIn = (stdout: string): Record<string, unknown>[] =>
  logOf(stdout)
    .filter(({ message }) => message === 'decision')
    .slice(PROVING_JOBS);

test('the relay as a process answers what the service says, is healthy, counts, logs, and tells no secret', async () => {
  const { service, router, relay, health } = await startEverything();
  expect(await router.admit(question(1))).toMatchObject({ result: 'admitted' });
  expect(await router.admit(question(2))).toMatchObject({
    result: 'rejected',
    reason: expect.stringContaining('EVEN: job 2 is even.'),
  });

  const healthz = await fetch(`${health}/healthz`);
  expect(healthz.status).toBe(200);
  const schema = { source: 'built-in descriptors', hash: PLACEHOLDER_HASH, placeholder: true };
  expect(await healthz.json()).toMatchObject({
    status: 'ok',
    schema: { ...schema, standing: 'proven' },
    breaker: 'closed',
    unmeteredQueued: 0,
  });
  const metrics = await (await fetch(`${health}/metrics`)).text();
  expect(metrics).toContain(
    `tollgate_relay_decisions_total{outcome="admitted",via="ledger"} ${PROVING_JOBS + 1}`,
  );
  expect(metrics).toContain('tollgate_relay_decisions_total{outcome="rejected",via="ledger"} 1');

  expect(metrics).toContain(
    `tollgate_relay_schema_info{hash="${PLACEHOLDER_HASH}",source="built-in descriptors",placeholder="yes"} 1`,
  );

  relay.child.kill('SIGTERM');
  const { code, stdout, stderr } = await relay.closed;
  expect(code).toBe(0);
  expect(logOf(stdout).find(({ message }) => message === 'started')).toMatchObject({
    schema: 'built-in descriptors',
    schemaHash: PLACEHOLDER_HASH,
    placeholder: true,
  });
  expect(decisionsIn(stdout)).toMatchObject([
    { jobId: 1, decisionId: 'd-1', outcome: 'admitted', via: 'ledger' },
    { jobId: 2, decisionId: 'd-2', outcome: 'rejected', via: 'ledger', rules: ['odd-only'] },
  ]);
  for (const { batch } of decisionsIn(stdout)) expect(service.bodies).toContain(`{"batch":"${batch}",`);
  // It lived for less than a minute: what it counted is written when it leaves.
  expect(metricsIn(stdout)).toMatchObject([
    {
      deployment: 'production',
      values: {
        Questions: [PROVING_JOBS + 2],
        Admitted: [PROVING_JOBS + 1],
        Rejected: [1],
        FallbackAnswers: [0],
      },
    },
  ]);
  for (const told of [stdout, stderr, metrics, service.bodies]) {
    expect(told).not.toContain(TOKEN);
    expect(told).not.toContain(JOB_TOKEN);
  }
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  'fault 9: %s while a question is in progress: it is answered by the service, then the relay ends with 0',
  async (signal) => {
    const { service, router, relay } = await startEverything();
    service.hold = true;
    const answering = router.admit(question(4));
    await service.asked;
    relay.child.kill(signal);
    await relay.wrote('"stopping"');
    // It opens no stream and lets the idle ones go, while the question stays.
    await router.until(() => router.waitingStreams() === 0);
    service.release();
    expect(await answering).toMatchObject({ result: 'rejected', reason: expect.stringContaining('EVEN') });
    const { code, stdout } = await relay.closed;
    expect(code).toBe(0);
    expect(decisionsIn(stdout)).toMatchObject([{ jobId: 4, via: 'ledger', outcome: 'rejected' }]);
    expect(stdout).toContain('"stopped"');
  },
);

test('wrong settings: exit 1 with every problem on stderr, and no token anywhere', async () => {
  const { code, stdout, stderr } = await runRelay({
    TOLLGATE_ROUTER_URL: `ws://user:${TOKEN}@kas.example.com`,
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ROUTER_TOKEN_FILE: '/run/secrets/token',
    TOLLGATE_DEADLINE_MS: 'soon',
    TOLLGATE_FALLBACK: 'open',
  }).closed;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^\[config_invalid\] /);
  for (const name of ['ROUTER_URL', 'ROUTER_TOKEN_FILE', 'ADMIT_URL', 'DEADLINE_MS', 'FALLBACK'])
    expect(stderr).toContain(`TOLLGATE_${name}`);
  expect(stderr.trimEnd().split('\n'), 'one line, no stack').toHaveLength(1);
  expect(stdout + stderr).not.toContain(TOKEN);
});

test.each([
  { name: 'TOLLGATE_POLICY_FILE', problem: 'cannot be read as JSON' },
  { name: 'TOLLGATE_PROTO_FILE', problem: 'no-such-file' },
])('a file of $name that is not there: exit 1, named on stderr, no token', async ({ name, problem }) => {
  const { code, stdout, stderr } = await runRelay({
    TOLLGATE_ROUTER_URL: 'wss://kas.example.com',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: 'https://admit.example.com',
    [name]: '/no-such-file',
  }).closed;
  expect(code).toBe(1);
  expect(stderr).toContain(problem);
  expect(stderr).toContain('/no-such-file');
  expect(stdout + stderr).not.toContain(TOKEN);
});
