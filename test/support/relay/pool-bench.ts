import type { RelayEvent } from '../../../relay/events.ts';
import type { RouterResponse } from '../../../relay/exchange.ts';
import { createStreamPool, type StreamPoolOptions } from '../../../relay/pool.ts';
import type { AdmitCall, AdmitCallListener, Router } from '../../../relay/router/router.ts';
import { handClock } from '../../../scripts/local/clock.ts';

/** One call as the router's side sees it. */
export class FakeCall implements AdmitCall {
  readonly listener: AdmitCallListener;
  answered: string | undefined;
  ended = false;

  constructor(listener: AdmitCallListener) {
    this.listener = listener;
  }

  ask(text = 'question'): void {
    this.listener.onRequest(Buffer.from(text));
  }

  end(code = 0, details = ''): void {
    if (this.ended) return;
    this.ended = true;
    this.listener.onEnd(code, details);
  }

  answer(bytes: Uint8Array): boolean {
    if (this.ended) return false;
    this.answered = Buffer.from(bytes).toString();
    return true;
  }

  cancel(): void {
    this.end(1, 'cancelled');
  }
}

type Deliver = (answer?: RouterResponse) => Promise<void>;

/**
 * A pool before a router that does what the test says. `settle` lets deferred work and promises run; nothing here waits
 * for real time.
 */
export function poolBench(options: Partial<StreamPoolOptions> = {}) {
  const clock = handClock(1_000);
  const events: RelayEvent[] = [];
  const calls: FakeCall[] = [];
  const heard: boolean[] = [];
  const questions: { readonly text: string; readonly decide: Deliver }[] = [];
  const deferred: (() => void)[] = [];
  const router: Router = {
    admitJob(listener) {
      const call = new FakeCall(listener);
      calls.push(call);
      listener.onWaiting();
      return call;
    },
    register: () => Promise.resolve(),
    unregister: () => Promise.resolve(),
    close() {},
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) {
      for (const run of deferred.splice(0)) run();
      await Promise.resolve();
    }
  };
  const pool = createStreamPool({
    router,
    clock,
    random: () => 0.5,
    observe: (event) => events.push(event),
    defer: (run) => deferred.push(run),
    encode: (given) =>
      Buffer.from(given.outcome === 'admitted' ? given.outcome : `rejected: ${given.reason}`),
    answer: ({ bytes }) =>
      new Promise((resolve) => {
        questions.push({
          text: Buffer.from(bytes).toString(),
          decide: async (answer = { outcome: 'admitted' }) => {
            resolve({ answer, delivered: (was) => heard.push(was) });
            await settle();
          },
        });
      }),
    ...options,
  });
  return {
    pool,
    clock,
    calls,
    events,
    heard,
    questions,
    settle,
    live: () => calls.filter((call) => !call.ended),
    free: () => calls.filter((call) => !call.ended && call.answered === undefined),
    ofType: <T extends RelayEvent['type']>(type: T) =>
      events.filter((event): event is Extract<RelayEvent, { type: T }> => event.type === type),
    async open() {
      pool.start();
      clock.advance(1_000);
      await settle();
      clock.advance(100);
      await settle();
    },
  };
}
