/** A router that lets a connection carry few calls at once: the streams must not crowd out what else is to be said. */
import { expect, onTestFinished, test } from 'vitest';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { until } from '../../support/flow/until.ts';
import { relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

const CALLS_MAX = 20;

test.each(['grpc', 'ws'] as const)(
  'registration over %s gets through while streams take every call that a connection may carry',
  async (transport) => {
    const router = await patientRouter({
      controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
      callsPerConnectionMax: CALLS_MAX,
    });
    onTestFinished(() => router.close());
    await using relay = relayBefore((transport === 'ws' ? router.wsUrl : router.grpcUrl) ?? '', {
      sizes: { start: 3 * CALLS_MAX, max: 3 * CALLS_MAX, openMax: 100 },
    });
    await router.until(() => router.waitingStreams() === CALLS_MAX, { what: 'a full connection' });
    await relay.until(() => relay.pool.status().waiting > 0, 'the first waiting streams');
    expect(relay.pool.status()).toMatchObject({ open: CALLS_MAX, waiting: CALLS_MAX });
    await relay.router.register(7n);
    expect(router.registrations.present().map(({ instanceId }) => instanceId)).toEqual([7n]);
    await relay.router.unregister(7n);
    expect(router.registrations.present()).toEqual([]);
    // The connection it had is gone, and the one of the streams is not.
    await until(() => router.connections() === 1);
    expect(router.waitingStreams()).toBe(CALLS_MAX);
  },
);
