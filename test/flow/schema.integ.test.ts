import { expect, test } from 'vitest';
import { parseSchema } from '../../relay/wire/schema.ts';
import { answers, flowRules, openFlow, question } from '../support/flow/flow.ts';
import { until } from '../support/flow/until.ts';
import { extended, renamedAndRenumbered } from '../support/relay/schema-variants.ts';
import { unknownFields } from '../support/relay/unknown-fields.ts';

const LIMITS = [{ on: { project: 1001 }, jobs: 1 }];

test('a router with renamed packages and renumbered fields needs only its descriptors', async () => {
  const schema = parseSchema(renamedAndRenumbered(), 'renamed and renumbered');
  const options = { schema, routerSchema: schema, transport: 'ws' } as const;
  const { router, events } = await openFlow(flowRules(LIMITS), options);
  await router.until(() => router.registrations.present().length > 0);

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
});

test('fields that the schema does not know are counted, and the job is decided as ever', async () => {
  const routerSchema = parseSchema(extended(), 'newer than the relay');
  const { router, events } = await openFlow(flowRules(LIMITS), { routerSchema });
  const append = unknownFields(new Uint8Array(64));
  expect((await router.admit(question(1), { append })).result).toBe('admitted');
  expect(events.filter(({ type }) => type === 'unknown_fields')).not.toEqual([]);
});
