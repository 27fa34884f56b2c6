import { fromBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { afterEach, describe, expect, test } from 'vitest';
import { loadSchema } from '../../../../relay/wire/schema.ts';
import {
  type LocalRouter,
  type LocalRouterOptions,
  startLocalRouter,
} from '../../../../scripts/local/router/local-router.ts';
import { type BareClient, type BareClientOptions, bareClient } from './bare-client.ts';

const schema = loadSchema();
const job = { id: 7, job_info: { id: 7, name: 'unit tests', project_id: 12 }, image: { name: 'alpine:3' } };
const closers: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aRouter(options: Partial<LocalRouterOptions> = {}): Promise<LocalRouter> {
  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: ['glrct-one'], state: 'enabled' }],
    wsPort: 'off',
    ...options,
  });
  closers.push(() => router.close());
  return router;
}

function aClient(router: LocalRouter, options: Partial<BareClientOptions> = {}): BareClient {
  const url = router.grpcUrl ?? router.wsUrl ?? '';
  const client = bareClient(url, { schema: router.schema, token: 'glrct-one', ...options });
  closers.push(() => client.close());
  return client;
}

/** Opens a stream and waits until the router has it. */
async function aStream(router: LocalRouter, client: BareClient) {
  const before = router.waitingStreams();
  const stream = client.open();
  await router.until(() => router.waitingStreams() > before, { what: 'one more waiting stream' });
  return stream;
}

describe.each([
  { transport: 'grpc', ports: { wsPort: 'off' } },
  { transport: 'ws', ports: { grpcPort: 'off', wsPort: 0 } },
] as const)('over $transport', ({ transport, ports }) => {
  test('a job is admitted when the controller says so, and the stream ends cleanly', async () => {
    const router = await aRouter(ports);
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    const question = fromBinary(schema.question, await stream.question);
    stream.admit();
    expect(await admission).toMatchObject({
      result: 'admitted',
      perController: [{ controllerId: 1, result: 'admitted' }],
    });
    expect(await stream.ended).toMatchObject({ code: 0 });
    expect(reflect(schema.question, question).get(schema.question.field.id as never)).toBe(7n);
    expect(router.counters.job_router_admission_control_total.admitted).toBe(1);
    if (transport === 'ws')
      expect(router.counters.connections).toMatchObject({ upgrades: 1, upgradesWithToken: 1 });
  });

  test('a job is rejected with the reason of the controller', async () => {
    const router = await aRouter(ports);
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    await stream.question;
    stream.reject('budget used up');
    expect(await admission).toMatchObject({ result: 'rejected', reason: 'budget used up', controllerId: 1 });
  });

  test('a reset connection fails the jobs on it and a new one is taken', async () => {
    const router = await aRouter(ports);
    const client = aClient(router);
    const stream = await aStream(router, client);
    const admission = router.admit(job);
    await stream.question;
    expect(router.resetConnections()).toBe(1);
    expect(await admission).toMatchObject({ result: 'failed' });
    expect((await stream.ended).code).toBe(14);
    expect((await aStream(router, client)).questions).toEqual([]);
  });
});

test.each([
  { guarantee: 'an unknown token', client: { token: 'glrct-other' } },
  { guarantee: 'another agent type', client: { agentType: 'runner' } },
])('refuses $guarantee with UNAUTHENTICATED, on streams and on registration', async ({ client: options }) => {
  const router = await aRouter();
  const client = aClient(router, options);
  expect((await client.open().ended).code).toBe(16);
  await expect(client.register(1n)).rejects.toMatchObject({ code: 16 });
  expect(router.counters.streams).toMatchObject({ opened: 0, refused: 1 });
});

test('a replaced token is refused while streams opened with the old one live on', async () => {
  const router = await aRouter();
  const client = aClient(router);
  const stream = await aStream(router, client);
  router.changeController(1, { tokens: ['glrct-two'] });
  expect((await client.open().ended).code).toBe(16);
  await aStream(router, aClient(router, { token: 'glrct-two' }));
  expect(stream.questions).toEqual([]);
  expect(router.waitingStreams(1)).toBe(2);
});

test('no stream is asked twice', async () => {
  const router = await aRouter();
  const client = aClient(router);
  const streams = [
    await aStream(router, client),
    await aStream(router, client),
    await aStream(router, client),
  ];
  const admissions = streams.map(() => router.admit(job));
  for (const stream of streams) {
    await stream.question;
    stream.admit();
  }
  await Promise.all(admissions);
  expect(streams.map(({ questions }) => questions.length)).toEqual([1, 1, 1]);
  expect(router.waitingStreams()).toBe(0);
});

test('a job without a stream waits for the next one, and the oldest job gets it', async () => {
  const router = await aRouter();
  const first = router.admit({ ...job, id: 1 });
  const second = router.admit({ ...job, id: 2 });
  expect(router.waitingJobs()).toBe(2);
  const client = aClient(router);
  for (const id of [1n, 2n]) {
    const stream = client.open();
    const message = fromBinary(schema.question, await stream.question);
    expect(reflect(schema.question, message).get(schema.question.field.id as never)).toBe(id);
    stream.admit();
    await stream.ended;
  }
  expect((await Promise.all([first, second])).map(({ result }) => result)).toEqual(['admitted', 'admitted']);
});

describe('several controllers', () => {
  const controllers = [
    { id: 1, tokens: ['glrct-one'], state: 'enabled' },
    { id: 2, tokens: ['glrct-two'], state: 'enabled' },
  ] as const;

  test('all must admit, one after another', async () => {
    const router = await aRouter({ controllers });
    const one = await aStream(router, aClient(router));
    const two = await aStream(router, aClient(router, { token: 'glrct-two' }));
    const admission = router.admit(job);
    await one.question;
    expect(two.questions).toEqual([]);
    one.admit();
    await two.question;
    two.reject('not on my fleet');
    expect(await admission).toMatchObject({
      result: 'rejected',
      controllerId: 2,
      perController: [
        { controllerId: 1, result: 'admitted' },
        { controllerId: 2, result: 'rejected' },
      ],
    });
  });

  test('the first rejection stops the job and the next controller is not asked', async () => {
    const router = await aRouter({ controllers });
    const one = await aStream(router, aClient(router));
    await aStream(router, aClient(router, { token: 'glrct-two' }));
    const admission = router.admit(job);
    await one.question;
    one.reject('no');
    expect((await admission).perController).toHaveLength(1);
    expect(router.waitingStreams(2)).toBe(1);
  });

  test('a dry-run rejection is recorded and not followed', async () => {
    const router = await aRouter({ controllers: [{ ...controllers[0], state: 'dry_run' }] });
    const stream = await aStream(router, aClient(router));
    const admission = router.admit(job);
    await stream.question;
    stream.reject('would not pass');
    expect(await admission).toMatchObject({
      result: 'admitted',
      perController: [{ controllerId: 1, dryRun: true, result: 'rejected', reason: 'would not pass' }],
    });
    expect(router.counters.job_router_admission_control_requests_total.rejected).toEqual({
      true: 1,
      false: 0,
    });
  });

  test('a job goes through unasked when no controller applies', async () => {
    const router = await aRouter({ controllers: [] });
    expect(await router.admit(job)).toMatchObject({ result: 'disabled', perController: [] });
  });
});
