/** A relay before a router whose schema is not, or is no longer, the relay's. */
import { expect, onTestFinished, test } from 'vitest';
import { parseSchema } from '../../relay/wire/schema.ts';
import type { LocalRouter } from '../../scripts/local/router/local-router.ts';
import { flowRelay, flowRules, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { proveSchema } from '../support/flow/prove-schema.ts';
import { breachesOn } from '../support/relay/alarm-state.ts';
import { decidingService, REJECTED_IMAGE } from '../support/relay/deciding-service.ts';
import { reported } from '../support/relay/reported.ts';
import { schemaVariant } from '../support/relay/schema-variants.ts';

async function startRouter(descriptors: Uint8Array, port = 0): Promise<LocalRouter> {
  const router = await patientRouter({
    schema: parseSchema(descriptors, 'the router’s own'),
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    grpcPort: port,
    wsPort: 'off',
  });
  onTestFinished(() => router.close());
  return router;
}

async function startRelay(router: LocalRouter, descriptors: Uint8Array) {
  const service = await decidingService();
  const schema = parseSchema(descriptors, 'gitlab.binpb');
  const { relay, events } = flowRelay(router.grpcUrl ?? '', service.url, flowRules([]), {
    ...{ schema, schemaState: 'unproven', deadlineMs: 10_000 },
  });
  onTestFinished(async () => {
    await relay.stop();
    await service.close();
  });
  relay.start();
  await router.until(() => router.waitingStreams() > 0);
  const stopped = async () => {
    await relay.stop();
    return reported(events);
  };
  return { relay, service, stopped };
}

const withImage = (jobId: number, image: string) => ({ ...question(jobId), image: { name: image } });
const rejectedJob = (jobId: number) => withImage(jobId, REJECTED_IMAGE);
const OURS = schemaVariant({});
/** Another number where a job's ids are: what was one message is now a number, and the other way round. */
const MOVED = schemaVariant({
  renumber: (number, message) => (message === 'AdmitJobRequest' && number <= 2 ? 3 - number : number),
});
const SWAPPED_VARIANTS = schemaVariant({
  removed: { GitInfo: ['ref_type'] },
  renumber: (number, message) => (message === 'AdmitJobResponse' ? 3 - number : number),
});

test('after the router moved a field none of 200 jobs of many projects is rejected, and the alarms for it are on', async () => {
  const before = await startRouter(OURS);
  const { relay, stopped } = await startRelay(before, OURS);
  await proveSchema(before);
  expect((await before.admit(rejectedJob(1))).result, 'a proven schema rejects').toBe('rejected');

  const port = Number(URL.parse((before.grpcUrl ?? '').replace('grpc:', 'http:'))?.port);
  await before.close();
  const after = await startRouter(MOVED, port);
  await after.until(() => after.waitingStreams() > 0, { timeoutMs: 30_000 });
  const results: string[] = [];
  for (let jobId = 1_000; jobId < 1_200; jobId += 1)
    results.push((await after.admit(question(jobId, 5_000 + (jobId % 40)))).result);
  expect(results.filter((result) => result !== 'admitted')).toEqual([]);
  expect(relay.status().schema.state).toBe('suspect');

  const { log, values } = await stopped();
  expect(log.filter(({ schemaState }) => schemaState === 'suspect')).toMatchObject([{ level: 'error' }]);
  expect(values).toMatchObject({ UnreadableRequests: [200], SchemaSuspect: [1], Rejected: [1] });
  // One alarm pages, so no ticket about the same cause comes with it.
  expect(breachesOn(values)).toContain('SchemaSuspect');
  for (const other of ['UnreadableRequests', 'RejectionsWithheld', 'OwnFaults'])
    expect(breachesOn(values)).not.toContain(other);
});

test('before the schema is proven nothing is rejected: the job is admitted, recorded and counted, and the log says why', async () => {
  const router = await startRouter(OURS);
  const { service, stopped } = await startRelay(router, OURS);
  for (const jobId of [1, 2, 3]) expect((await router.admit(rejectedJob(jobId))).result).toBe('admitted');
  await proveSchema(router);
  expect((await router.admit(rejectedJob(4))).result).toBe('rejected');

  const { log, values } = await stopped();
  expect(service.recorded).toMatchObject(
    [1, 2, 3].map((jobId) => ({ request: { jobId }, answered: 'admitted', cause: 'schema_unproven' })),
  );
  expect(log.filter(({ message }) => String(message).startsWith('rejections withheld'))).toHaveLength(1);
  expect(values).toMatchObject({ RejectionsWithheld: [3], Rejected: [1] });
  expect(breachesOn(values)).toContain('RejectionsWithheld');
  expect(breachesOn(values)).not.toContain('SchemaSuspect');
});

test('a router with swapped variants refuses admissions: none is sent by the other variant, nothing is rejected, and alarms are on', async () => {
  const router = await startRouter(SWAPPED_VARIANTS);
  const { stopped } = await startRelay(router, OURS);
  for (let jobId = 1; jobId <= 12; jobId += 1) {
    const job = jobId % 4 === 0 ? rejectedJob(jobId) : question(jobId, 7_000 + (jobId % 5));
    expect((await router.admit(job)).result).toBe('failed');
    await router.until(() => router.waitingStreams() > 0);
  }
  const { log, values } = await stopped();
  const loud = log.filter(({ message }) => String(message).startsWith('THE ROUTER DOES NOT ACCEPT'));
  expect(loud).toHaveLength(1);
  expect(values).toMatchObject({
    ...{ Admitted: [12], RejectionsWithheld: [3], AnswersRefused: [12], SchemaSuspect: [1] },
  });
  expect(values).not.toHaveProperty('Rejected');
  for (const alarm of ['SchemaSuspect', 'AnswersRefused']) expect(breachesOn(values)).toContain(alarm);
});
