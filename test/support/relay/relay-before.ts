import type { RelayEvent } from '../../../relay/events.ts';
import type { AnswerRequest } from '../../../relay/exchange.ts';
import { createStreamPool, type PoolSizes } from '../../../relay/pool.ts';
import { systemRelayClock } from '../../../relay/relay.ts';
import { createRouter, type RouterOptions } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { encodeResponse, loadSchema } from '../../../relay/wire/schema.ts';
import type { HandClock } from '../../../scripts/local/clock.ts';
import { ConditionWaiters } from '../../../scripts/local/router/admission.ts';

export const TOKEN = 'glrct-test';

/** The relay's half that knows gRPC, before a real router at `url`; by default it admits everything. */
export function relayBefore(
  url: string,
  options: Partial<RouterOptions> & {
    readonly answer?: AnswerRequest;
    readonly sizes?: PoolSizes;
    /** The pool's time. @default the machine's */
    readonly clock?: HandClock;
    readonly random?: () => number;
  } = {},
) {
  const schema = options.schema ?? loadSchema();
  const conditions = new ConditionWaiters();
  const events: RelayEvent[] = [];
  const heard: boolean[] = [];
  const router = createRouter({
    target: parseTarget(url),
    schema,
    token: literalToken(TOKEN),
    userAgent: 'tollgate-test/1',
    reconnectMsMax: 200,
    ...options,
  });
  const pool = createStreamPool({
    router,
    clock: options.clock ?? systemRelayClock,
    random: options.random ?? Math.random,
    // Tests of how a relay leaves are in main.integ.test.ts.
    leaveWaitingMs: 0,
    ...(options.sizes !== undefined && { sizes: options.sizes }),
    observe(event) {
      events.push(event);
      conditions.look();
    },
    encode: (given) => encodeResponse(schema, given),
    answer:
      options.answer ??
      (() =>
        Promise.resolve({
          answer: { outcome: 'admitted' },
          delivered: (was) => {
            heard.push(was);
            conditions.look();
          },
        })),
  });
  pool.start();
  return {
    router,
    pool,
    events,
    heard,
    ofType: <T extends RelayEvent['type']>(type: T) =>
      events.filter((event): event is Extract<RelayEvent, { type: T }> => event.type === type),
    until: (holds: () => boolean, what: string) => conditions.until(holds, { what, timeoutMs: 300_000 }),
    async [Symbol.asyncDispose]() {
      const drained = pool.drain();
      options.clock?.advance(10_000);
      await drained;
      router.close();
    },
  };
}

export function callOnce(router: ReturnType<typeof createRouter>) {
  const { promise, resolve } = Promise.withResolvers<{
    readonly code: number;
    readonly details: string;
    readonly remedy: string | undefined;
  }>();
  const call = router.admitJob({
    onWaiting: () => {},
    onRequest: () => {},
    onOversized: () => {},
    onEnd: (code, details, remedy) => resolve({ code, details, remedy }),
  });
  return { end: promise, cancel: () => call.cancel() };
}
