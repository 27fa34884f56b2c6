/** Registers this controller at the router. The router routes questions by open streams, so a failure never stops admission. */
import { randomBytes } from 'node:crypto';
import type { RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { type Router, type RouterFailure, RouterStatus, STATUS } from './router.ts';

/** The router forgets a controller after 5 min. */
const REGISTER_EVERY_MS = 180_000;
/** The first retry after a failure. Each further one waits twice as long. */
const RETRY_MS_MIN = 60_000;
/** A router without the method gets it by an upgrade, which takes longer than minutes. */
const RETRY_UNIMPLEMENTED_MS_MAX = 3_600_000;
/** Plus or minus, so that relays that start together do not register together. */
const JITTER_MS = 10_000;
/** Unregistering is optional, so it must not delay the stop. */
const UNREGISTER_MS_MAX = 2_000;

interface RegistrationOptions {
  readonly router: Pick<Router, 'register' | 'unregister'>;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  readonly instanceId?: bigint;
}

export interface Registration {
  /** Stops registering, and unregisters if the router supports it. Resolves within 2 s, never rejects. */
  stop(): Promise<void>;
}

/** Registers now and every 3 min until stopped. Retries failures with pauses from 1 min up to 3 min (or an hour). */
export function startRegistration(options: RegistrationOptions): Registration {
  const { router, clock, random, observe } = options;
  const instanceId = options.instanceId ?? randomInstanceId();
  let stopped = false;
  let announced = false;
  let failures = 0;
  let cancelNext = (): void => {};

  const announce = async (): Promise<void> => {
    const status = await router.register(instanceId).then(() => undefined, statusOf);
    if (status === undefined) {
      announced = true;
      failures = 0;
      observe({ type: 'registered' });
    } else {
      failures += 1;
      observe({ type: 'registration_failed', ...status });
    }
    if (stopped) return;
    const pauseMs = status === undefined ? REGISTER_EVERY_MS : retryMs(status.code, failures);
    cancelNext = clock.after(pauseMs + (random() * 2 - 1) * JITTER_MS, announce);
  };
  void announce();

  return {
    async stop() {
      stopped = true;
      cancelNext();
      if (!announced) return;
      announced = false;
      await new Promise<void>((resolve) => {
        let waited = false;
        const cancel = clock.after(UNREGISTER_MS_MAX, () => {
          waited = true;
          resolve();
        });
        const done = (): void => {
          cancel();
          resolve();
        };
        router.unregister(instanceId).then(done, (error: unknown) => {
          // The relay has closed the router meanwhile.
          if (waited) return;
          const status = statusOf(error);
          observe({ type: 'registration_failed', ...status, details: `taking it back: ${status.details}` });
          done();
        });
      });
    },
  };
}

/** Returns a positive int64, new with every start, which distinguishes two relays of one token. */
export const randomInstanceId = (): bigint => randomBytes(8).readBigUInt64BE() >> 1n || 1n;

function retryMs(code: number, failures: number): number {
  const longestMs = code === STATUS.UNIMPLEMENTED ? RETRY_UNIMPLEMENTED_MS_MAX : REGISTER_EVERY_MS;
  return Math.min(longestMs, RETRY_MS_MIN * 2 ** Math.min(failures - 1, 30));
}

function statusOf(error: unknown): RouterFailure {
  if (!(error instanceof RouterStatus))
    return { code: -1, details: error instanceof Error ? error.message : String(error) };
  const { code, details, remedy } = error;
  return { code, details, ...(remedy !== undefined && { remedy }) };
}
