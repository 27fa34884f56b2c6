/** What a relay believes of its answers, against what a router over real sockets has read of them. */
import { expect, onTestFinished, test } from 'vitest';
import { POOL_SIZES } from '../../../relay/streams/pool.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

const QUESTIONS = 24;
const job = (id: number) => ({ id, job_info: { id, project_full_path: 'acme/app' } });

async function aRouter() {
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  onTestFinished(() => router.close());
  return router;
}

test.each(['grpc', 'ws'] as const)(
  'answers on their way over %s when the router resets the connection are not believed to be heard',
  async (transport) => {
    const router = await aRouter();
    const decided = Promise.withResolvers<void>();
    const heard: boolean[] = [];
    let asked = 0;
    await using relay = relayBefore((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '', {
      answer: async () => {
        asked += 1;
        await decided.promise;
        return { answer: { outcome: 'admitted' }, delivered: (was) => heard.push(was) };
      },
    });
    const results = Promise.all(Array.from({ length: QUESTIONS }, (_, id) => router.admit(job(id + 1))));
    await relay.until(() => asked === QUESTIONS, 'every question');
    // The first answer that arrives costs the connection, unread, and with it all the others.
    router.faults.cutStreams('before_reading', { means: 'connection', questions: QUESTIONS });
    decided.resolve();
    const admitted = (await results).filter(({ result }) => result === 'admitted').length;
    expect(admitted).toBe(0);
    await relay.until(() => relay.ofType('stream_ended').length >= QUESTIONS, 'the end of every stream');
    expect(heard.filter(Boolean)).toHaveLength(admitted);
    expect(heard).toHaveLength(QUESTIONS);
  },
);

test('a router that ends no answered stream is answered on, far beyond the streams that may be open', async () => {
  const router = await aRouter();
  router.faults.keepAnsweredStreams = true;
  await using relay = relayBefore(router.grpcUrl ?? '');
  const jobs = 2 * POOL_SIZES.openMax;
  const results = await Promise.all(Array.from({ length: jobs }, (_, id) => router.admit(job(id + 1))));
  expect(results.filter(({ result }) => result === 'admitted')).toHaveLength(jobs);
  expect(relay.pool.status()).toMatchObject({ state: 'open', busy: 0 });
  router.resetConnections();
  await relay.until(() => relay.heard.length === jobs, 'the end of every stream');
});
