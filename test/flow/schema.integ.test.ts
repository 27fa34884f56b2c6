import { expect, test } from 'vitest';
import { MemoryStore } from '../../functions/core/ledger/memory-store.ts';
import { parseSchema } from '../../relay/wire/schema.ts';
import { admitApp, answers, flowRelay, flowRules, listen, question, TOKEN } from '../support/flow/flow.ts';
import { patientRouter } from '../support/flow/patient-router.ts';
import { until } from '../support/flow/until.ts';
import { extended, renamedAndRenumbered } from '../support/relay/schema-variants.ts';
import { unknownFields } from '../support/relay/unknown-fields.ts';

const LIMITS = [{ on: { project: 1001 }, jobs: 1 }];

test('a router with renamed packages and renumbered fields needs only its descriptors', async () => {
  const schema = parseSchema(renamedAndRenumbered(), 'renamed and renumbered');
  const router = await patientRouter({
    schema,
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
  });
  const rules = flowRules(LIMITS);
  const server = await listen(admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules).app);
  const { relay, events } = flowRelay(router.wsUrl ?? '', server.url, rules, { schema });
  relay.start();
  await router.until(() => router.waitingStreams() > 0 && router.registrations.present().length > 0);

  expect((await router.admit(question(1))).result).toBe('admitted');
  expect(await router.admit(question(2))).toMatchObject({
    result: 'rejected',
    reason: expect.stringContaining('CONCURRENCY_FULL'),
  });
  await until(() => answers(events).length === 2);
  expect(answers(events).map(({ request }) => request)).toMatchObject([
    {
      jobId: 1,
      projectId: 1001,
      namespaceId: 101,
      rootNamespaceId: 100,
      image: 'alpine:3.22',
      timeoutSeconds: 3600,
    },
    { jobId: 2 },
  ]);

  await relay.stop();
  await router.close();
  await server.close();
});

test('fields that the schema does not know are counted, and the job is decided as ever', async () => {
  const router = await patientRouter({
    schema: parseSchema(extended(), 'newer than the relay'),
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
  });
  router.faults.appendToQuestions = unknownFields(new Uint8Array(64));
  const rules = flowRules(LIMITS);
  const server = await listen(admitApp(new MemoryStore({ instance: 'flow.example.com' }), rules).app);
  const { relay, events } = flowRelay(router.grpcUrl ?? '', server.url, rules);
  relay.start();
  await router.until(() => router.waitingStreams() > 0);

  expect((await router.admit(question(1))).result).toBe('admitted');
  expect(events.filter(({ type }) => type === 'unknown_fields')).not.toEqual([]);

  await relay.stop();
  await router.close();
  await server.close();
});
