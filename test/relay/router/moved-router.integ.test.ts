/** A router that moves to another address under its name is followed, on real sockets and in the test's own time. */
import { setTimeout as realSleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { nameOnLoopback, ROUTER_NAME } from '../../support/relay/names-on-loopback.ts';
import { relayBefore, TOKEN } from '../../support/relay/relay-before.ts';

/** So long may jobs at the new address find no stream. */
const FOLLOWED_MS = 3_000;
const STEP_MS = 100;
/** What sockets of this machine need between two steps. */
const IO_MS = 20;

const aRouter = async (options: { host: string; grpcPort?: number; wsPort?: number }) => {
  const router = await patientRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    ...options,
  });
  onTestFinished(() => router.close());
  return router;
};
const portOf = (url = ''): number => Number(new URL(url.replace(/^\w+/, 'http')).port);

test.each(['grpc', 'ws'] as const)(
  'a router that moves to another address is followed within 3 s over %s',
  async (transport) => {
    const old = await aRouter({ host: '127.0.0.1' });
    const grpcPort = portOf(old.grpcUrl);
    const wsPort = portOf(old.wsUrl);
    const moved = await aRouter({ host: '127.0.0.2', grpcPort, wsPort });
    const name = nameOnLoopback('127.0.0.1');
    const sleep = realSleep.bind(undefined);
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    });
    onTestFinished(() => void vi.useRealTimers());
    const pass = async (ms: number, until: () => boolean): Promise<number> => {
      let passedMs = 0;
      for (; passedMs < ms && !until(); passedMs += STEP_MS) {
        await vi.advanceTimersByTimeAsync(STEP_MS);
        await sleep(IO_MS);
      }
      return passedMs;
    };
    const relay = relayBefore(`${transport}://${ROUTER_NAME}:${transport === 'ws' ? wsPort : grpcPort}`);
    await pass(10_000, () => old.waitingStreams() === 8);
    expect(old.waitingStreams()).toBe(8);
    // Some of the 30 s that grpc-js waits between two resolutions by default.
    await pass(2_000, () => false);
    await old.stopListening();
    old.resetConnections();
    name.addresses = ['127.0.0.2'];
    const { lookups } = name;
    await pass(FOLLOWED_MS, () => moved.waitingStreams() > 0);
    expect(moved.waitingStreams()).toBeGreaterThan(0);
    expect(name.lookups - lookups, 'the resolver is not flooded').toBeLessThanOrEqual(
      FOLLOWED_MS / 1_000 + 3,
    );
    const drained = relay.pool.drain();
    await vi.advanceTimersByTimeAsync(10_000);
    await drained;
    relay.router.close();
  },
);
