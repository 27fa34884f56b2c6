/**
 * Tells the router that this controller is here. Presence only: questions are routed by open streams, so a failure is
 * an event and never stops admission.
 */
import { randomBytes } from 'node:crypto';
import type { RelayObserver } from './events.ts';
import type { RelayClock } from './exchange.ts';
import { type Router, RouterStatus, STATUS } from './router/router.ts';

/** The router forgets a controller after 5 min. */
const REGISTER_EVERY_MS = 180_000;
/** After a failure: twice more before it forgets, and soon enough after a new token. */
const RETRY_EVERY_MS = 60_000;
/** Either way, so that relays started together do not register together. */
const JITTER_MS = 10_000;
/** Saying goodbye is courtesy: it must not hold up the end. */
const UNREGISTER_MS_MAX = 2_000;

interface RegistrationOptions {
  readonly router: Pick<Router, 'register' | 'unregister'>;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** @default {@link randomInstanceId} */
  readonly instanceId?: bigint;
}

export interface Registration {
  /** Ends the period and takes the announcement back where the router knows how; resolves in 2 s at most, never rejects. */
  stop(): Promise<void>;
}

/** Registers now and every 3 min, or a minute after a failure, until stopped or told that there is no such method. */
export function startRegistration(options: RegistrationOptions): Registration {
  const { router, clock, random, observe } = options;
  const instanceId = options.instanceId ?? randomInstanceId();
  let stopped = false;
  let announced = false;
  let cancelNext = (): void => {};

  const announce = async (): Promise<void> => {
    const status = await router.register(instanceId).then(() => undefined, statusOf);
    if (status === undefined) {
      announced = true;
      observe({ type: 'registered' });
    } else {
      observe({ type: 'registration_failed', code: status.code, details: status.details });
    }
    if (stopped || status?.code === STATUS.UNIMPLEMENTED) return;
    const pauseMs = status === undefined ? REGISTER_EVERY_MS : RETRY_EVERY_MS;
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
          // Whoever no longer waits closes the router under the call: that is no failure of the router's.
          if (waited) return;
          const { code, details } = statusOf(error);
          observe({ type: 'registration_failed', code, details: `taking it back: ${details}` });
          done();
        });
      });
    },
  };
}

/** A positive int64, new with every start of the process: tells two relays of one token apart. */
export const randomInstanceId = (): bigint => randomBytes(8).readBigUInt64BE() >> 1n || 1n;

const statusOf = (error: unknown): { readonly code: number; readonly details: string } =>
  error instanceof RouterStatus
    ? error
    : { code: -1, details: error instanceof Error ? error.message : String(error) };
