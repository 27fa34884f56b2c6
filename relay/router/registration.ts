/** Registers this controller at the router. The router routes requests by open streams, so a failure never stops admission. */
import { randomBytes } from 'node:crypto';
import type { RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { type Router, type RouterFailure, RouterStatus } from './router.ts';

/** The router forgets a controller after 5 min. */
const REGISTER_EVERY_MS = 180_000;
const RETRY_MS = 60_000;
/** Plus or minus, so that relays that start together do not register together. */
const JITTER_MS = 10_000;
const UNREGISTER_MS_MAX = 2_000;

export type Registration = ReturnType<typeof startRegistration>;

export function startRegistration(options: {
  readonly router: Pick<Router, 'register' | 'unregister'>;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
}) {
  const { router, clock, random, observe } = options;
  const instanceId = randomInstanceId();
  let stopped = false;
  let isRegistered = false;
  let cancelNext = (): void => {};

  const register = async (): Promise<void> => {
    const failure = await router.register(instanceId).then(() => undefined, failureOf);
    isRegistered ||= failure === undefined;
    observe(failure === undefined ? { type: 'registered' } : { type: 'registration_failed', ...failure });
    if (stopped) return;
    const pauseMs = failure === undefined ? REGISTER_EVERY_MS : RETRY_MS;
    cancelNext = clock.after(pauseMs + (random() * 2 - 1) * JITTER_MS, () => void register());
  };
  void register();

  return {
    async stop(): Promise<void> {
      stopped = true;
      cancelNext();
      if (!isRegistered) return;
      let cancelWait = (): void => {};
      const waited = new Promise<void>((resolve) => {
        cancelWait = clock.after(UNREGISTER_MS_MAX, resolve);
      });
      await Promise.race([router.unregister(instanceId).catch(() => {}), waited]);
      cancelWait();
    },
  };
}

export const randomInstanceId = (): bigint => randomBytes(8).readBigUInt64BE() >> 1n || 1n;

function failureOf(error: unknown): RouterFailure {
  if (!(error instanceof RouterStatus))
    return { code: -1, details: error instanceof Error ? error.message : String(error) };
  const { code, details, remedy } = error;
  return { code, details, remedy };
}
