/** The relay as a process, and a deciding service of which one verdict in two is not of the contract. */
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { AdmissionsRequest, UnmeteredRequest } from '../../functions/core/contract/admissions.ts';
import { loopbackPort } from '../../scripts/local/loopback.ts';
import { measuredOf } from '../support/emf-spec.ts';
import { listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { proveSchema } from '../support/flow/prove-schema.ts';
import { range } from '../support/relay/commit-bench.ts';
import { spawnRelay } from '../support/relay/relay-process.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test('a verdict with a subject that is a number is that job’s alone: 59 such jobs are admitted and recorded', async () => {
  const told: UnmeteredRequest['answers'][number][] = [];
  const app = new Hono();
  app.post('/v1/admissions', async (c) => {
    const { batch, requests } = await c.req.json<AdmissionsRequest>();
    return c.json({
      batch,
      decisions: requests.map(({ jobId }) => {
        const decided = { decisionId: `d-${jobId}`, jobId, shadow: [] };
        const reason = { code: 'BUDGET_EXHAUSTED', subject: 42 };
        const violations = [{ rule: 'budgets', class: 'cost', mode: 'enforce', reason }];
        return jobId % 2 === 0
          ? { ...decided, outcome: 'rejected', violations, text: 'No budget.' }
          : { ...decided, outcome: 'admitted' };
      }),
    });
  });
  app.post('/v1/unmetered', async (c) => {
    const { answers } = await c.req.json<UnmeteredRequest>();
    told.push(...answers);
    return c.json({ results: answers.map(({ request }) => ({ jobId: request.jobId, outcome: 'recorded' })) });
  });
  const server = await listen(app);
  ends.push(() => server.close());
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  ends.push(() => router.close());
  const relay = spawnRelay({
    TOLLGATE_ROUTER_URL: router.grpcUrl ?? '',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: server.url,
    TOLLGATE_DEADLINE_MS: '10000',
    TOLLGATE_HEALTH_PORT: String(await loopbackPort()),
    TOLLGATE_DEPLOYMENT: 'production',
  });
  ends.push(() => relay.child.kill('SIGKILL'));
  await router.until(() => router.waitingStreams() > 0, { timeoutMs: 30_000 });
  await proveSchema(router);

  const bad = range(1, 59).map((index) => 2 * index);
  const good = bad.map((jobId) => jobId + 1);
  const given = await Promise.all([...bad, ...good].map((jobId) => router.admit(question(jobId))));
  expect(given.filter(({ result }) => result !== 'admitted')).toEqual([]);
  relay.child.kill('SIGTERM');
  const { stdout } = await relay.closed;
  expect(told.map(({ request, cause }) => `${request.jobId} ${cause}`).sort()).toEqual(
    bad.map((jobId) => `${jobId} malformed`).sort(),
  );
  const [line = ''] = stdout.split('\n').filter((each) => each.startsWith('{"_aws"'));
  expect(measuredOf(line).values).toMatchObject({ UnreadableQuestions: [0], Rejected: [0], OwnFaults: [0] });
});
