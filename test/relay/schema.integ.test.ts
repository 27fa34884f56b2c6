/** The relay as a process before a router whose schema is not, or is no longer, the relay's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { AdmissionsRequest, UnmeteredRequest } from '../../functions/core/contract/admissions.ts';
import { parseSchema } from '../../relay/wire/schema.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import type { LocalRouter } from '../../scripts/local/router/local-router.ts';
import { schemaVariant } from '../../scripts/local/router/schemas.ts';
import { measuredOf } from '../support/emf-spec.ts';
import { listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { PROVING_JOBS, proveSchema } from '../support/flow/prove-schema.ts';
import { breachesOn } from '../support/relay/alarm-state.ts';
import { logOf, type RelayProcess, spawnRelay } from '../support/relay/relay-process.ts';

const REJECTED_IMAGE = 'evil/image';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Admits every job but those with the bad image, and takes what is told of fallback answers. */
async function decidingService() {
  const service = { url: '', unmetered: [] as UnmeteredRequest['answers'][number][] };
  const app = new Hono();
  app.post('/v1/admissions', async (c) => {
    const { batch, requests } = await c.req.json<AdmissionsRequest>();
    return c.json({
      batch,
      decisions: requests.map(({ jobId, image }) => {
        const decided = { decisionId: `d-${jobId}`, jobId, shadow: [] };
        const reason = { code: 'IMAGE_NOT_ALLOWED', image: REJECTED_IMAGE, allowed: [] };
        const violations = [{ rule: 'images', class: 'security', mode: 'enforce', reason }];
        return image === REJECTED_IMAGE
          ? { ...decided, outcome: 'rejected', violations, text: 'IMAGE_NOT_ALLOWED: no.' }
          : { ...decided, outcome: 'admitted' };
      }),
    });
  });
  app.post('/v1/unmetered', async (c) => {
    const { answers } = await c.req.json<UnmeteredRequest>();
    service.unmetered.push(...answers);
    return c.json({ results: answers.map(({ request }) => ({ jobId: request.jobId, outcome: 'recorded' })) });
  });
  const server = await listen(app);
  ends.push(() => server.close());
  service.url = server.url;
  return service;
}

function fileOf(descriptors: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-schema-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'gitlab.binpb'), descriptors);
  return join(folder, 'gitlab.binpb');
}

async function startRouter(descriptors: Uint8Array, port = 0, host = '127.0.0.1'): Promise<LocalRouter> {
  const router = await patientRouter({
    schema: parseSchema(descriptors, 'the router’s own'),
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    grpcPort: port,
    wsPort: 'off',
    host,
  });
  ends.push(() => router.close());
  return router;
}

async function startRelay(
  env: Readonly<Record<string, string>>,
): Promise<RelayProcess & { readonly health: string }> {
  const healthPort = String(await loopbackPort());
  const relay = spawnRelay({
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_DEADLINE_MS: '10000',
    TOLLGATE_DEPLOYMENT: 'production',
    TOLLGATE_HEALTH_PORT: healthPort,
    ...env,
  });
  ends.push(() => relay.child.kill('SIGKILL'));
  return { ...relay, health: `http://127.0.0.1:${healthPort}` };
}

/** Its log and what it told CloudWatch of the one minute it lived. */
async function stopped(relay: RelayProcess) {
  relay.child.kill('SIGTERM');
  const { code, stdout } = await relay.closed;
  expect(code).toBe(0);
  const [line = ''] = stdout.split('\n').filter((each) => each.startsWith('{"_aws"'));
  return { log: logOf(stdout), values: measuredOf(line).values };
}

const withImage = (jobId: number, image: string, projectId = 1001) => ({
  ...question(jobId, projectId),
  image: { name: image },
});
const OURS = schemaVariant({});
/** Another number where a job's ids are: what was one message is now a number, and the other way round. */
const MOVED = schemaVariant({
  renumber: (number, message) => (message === 'AdmitJobRequest' && number <= 2 ? 3 - number : number),
});
const SWAPPED_ARMS = schemaVariant({
  removed: { GitInfo: ['ref_type'] },
  renumber: (number, message) => (message === 'AdmitJobResponse' ? 3 - number : number),
});

test('after the router moved a field none of 200 jobs of many projects is rejected, and the alarms for it are on', async () => {
  const service = await decidingService();
  const before = await startRouter(OURS);
  const relay = await startRelay({
    TOLLGATE_ROUTER_URL: before.grpcUrl ?? '',
    TOLLGATE_ADMIT_URL: service.url,
    TOLLGATE_PROTO_FILE: fileOf(OURS),
  });
  await before.until(() => before.waitingStreams() > 0, { timeoutMs: 30_000 });
  await proveSchema(before);
  expect((await before.admit(withImage(1, REJECTED_IMAGE))).result, 'a proven schema rejects').toBe(
    'rejected',
  );

  const port = Number(URL.parse((before.grpcUrl ?? '').replace('grpc:', 'http:'))?.port);
  await before.close();
  const after = await startRouter(MOVED, port);
  await after.until(() => after.waitingStreams() > 0, { timeoutMs: 30_000 });
  const results: string[] = [];
  for (let jobId = 1_000; jobId < 1_200; jobId += 1)
    results.push((await after.admit(question(jobId, 5_000 + (jobId % 40)))).result);
  expect(results.filter((result) => result !== 'admitted')).toEqual([]);
  const health = await (await fetch(`${relay.health}/healthz`)).json();
  expect(health).toMatchObject({ status: 'ok', schema: { standing: 'suspect' } });
  expect(await (await fetch(`${relay.health}/metrics`)).text()).toContain('tollgate_relay_schema_proven 0');

  const { log, values } = await stopped(relay);
  expect(log.filter(({ standing }) => standing === 'suspect')).toMatchObject([{ level: 'error' }]);
  expect(values).toMatchObject({
    UnreadableQuestions: [200],
    SchemaSuspect: [1],
    Rejected: [1],
    OwnFaults: [0],
  });
  // The page says it all: no ticket about the same comes beside it.
  expect(breachesOn(values)).toContain('SchemaSuspect');
  for (const other of ['UnreadableQuestions', 'RejectionsWithheld', 'OwnFaults'])
    expect(breachesOn(values)).not.toContain(other);
});

test('before the schema is proven nothing is rejected: the job is admitted, recorded and counted, and the log says why', async () => {
  const service = await decidingService();
  const router = await startRouter(OURS);
  const relay = await startRelay({
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ADMIT_URL: service.url,
    TOLLGATE_PROTO_FILE: fileOf(OURS),
  });
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 30_000 });
  for (const jobId of [1, 2, 3])
    expect((await router.admit(withImage(jobId, REJECTED_IMAGE))).result).toBe('admitted');
  await proveSchema(router);
  expect((await router.admit(withImage(4, REJECTED_IMAGE))).result).toBe('rejected');

  const { log, values } = await stopped(relay);
  expect(service.unmetered).toMatchObject(
    [1, 2, 3].map((jobId) => ({ request: { jobId }, answered: 'admitted', cause: 'schema_unproven' })),
  );
  expect(log.filter(({ message }) => String(message).startsWith('rejections withheld'))).toHaveLength(1);
  expect(values).toMatchObject({ RejectionsWithheld: [3], Rejected: [1], SchemaSuspect: [0] });
  expect(breachesOn(values)).toContain('RejectionsWithheld');
  expect(breachesOn(values)).not.toContain('SchemaSuspect');
});

test('a router with swapped arms refuses admissions: none is sent by the other arm, nothing is rejected, and alarms are on', async () => {
  const service = await decidingService();
  const router = await startRouter(SWAPPED_ARMS);
  const relay = await startRelay({
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ADMIT_URL: service.url,
    TOLLGATE_PROTO_FILE: fileOf(OURS),
  });
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 30_000 });
  for (let jobId = 1; jobId <= 12; jobId += 1) {
    const job = jobId % 4 === 0 ? withImage(jobId, REJECTED_IMAGE) : question(jobId, 7_000 + (jobId % 5));
    expect((await router.admit(job)).result).toBe('failed');
    await router.until(() => router.waitingStreams() > 0);
  }
  const { log, values } = await stopped(relay);
  expect(log.filter(({ message }) => String(message).startsWith('THE ROUTER DOES NOT ACCEPT'))).toHaveLength(
    1,
  );
  expect(values).toMatchObject({
    ...{ Admitted: [12], Rejected: [0], RejectionsWithheld: [3], AnswersRefused: [12], SchemaSuspect: [1] },
  });
  for (const alarm of ['SchemaSuspect', 'AnswersRefused']) expect(breachesOn(values)).toContain(alarm);
});

test('swapped arms are no matter where the relay has the router’s own descriptors', async () => {
  const service = await decidingService();
  const router = await startRouter(SWAPPED_ARMS);
  const relay = await startRelay({
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ADMIT_URL: service.url,
    TOLLGATE_PROTO_FILE: fileOf(SWAPPED_ARMS),
  });
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 30_000 });
  await proveSchema(router);
  expect((await router.admit(withImage(1, 'good/image'))).result).toBe('admitted');
  expect((await router.admit(withImage(2, REJECTED_IMAGE))).result).toBe('rejected');
  const { log, values } = await stopped(relay);
  expect(log.find(({ message }) => message === 'started')).toMatchObject({ withoutSource: ['refType'] });
  expect(values).toMatchObject({ Admitted: [PROVING_JOBS + 1], Rejected: [1], SchemaSuspect: [0] });
});

const LAN = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

test.runIf(LAN !== undefined)(
  'the placeholder rejects nobody at a router of another machine, whatever it explains, and says so loudly',
  async () => {
    const service = await decidingService();
    const router = await startRouter(OURS, 0, LAN);
    const relay = await startRelay({
      TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
      TOLLGATE_ALLOW_PLAINTEXT_ROUTER: 'yes',
      TOLLGATE_ADMIT_URL: service.url,
    });
    await router.until(() => router.waitingStreams() > 0, { timeoutMs: 30_000 });
    await proveSchema(router);
    expect((await router.admit(withImage(1, REJECTED_IMAGE))).result).toBe('admitted');
    const health = await (await fetch(`${relay.health}/healthz`)).json();
    expect(health).toMatchObject({ schema: { standing: 'placeholder', placeholder: true } });
    const { log, values } = await stopped(relay);
    expect(log.find(({ standing }) => standing === 'placeholder')).toMatchObject({
      level: 'error',
      placeholder: true,
      message: expect.stringContaining('NOTHING IS EVER REJECTED'),
    });
    expect(values).toMatchObject({ Rejected: [0], RejectionsWithheld: [1], SchemaSuspect: [1] });
    expect(breachesOn(values)).toContain('SchemaSuspect');
  },
);

test('descriptors whose rejection has no reason are refused at the start, with message, field and remedy', async () => {
  const relay = await startRelay({
    TOLLGATE_ROUTER_URL: 'grpc://127.0.0.1:1',
    TOLLGATE_ADMIT_URL: 'http://127.0.0.1:1',
    TOLLGATE_PROTO_FILE: fileOf(schemaVariant({ removed: { Rejected: ['reason'] } })),
  });
  const { code, stderr } = await relay.closed;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /\[schema_invalid\].*no string field "reason" in [\w.]+\.Rejected.*npm run proto:sync/,
  );
});
