import { randomBytes, randomUUID } from 'node:crypto';
import type { Directory } from '../policies/place/directory.ts';
import type { Policy } from '../policies/policy.ts';
import type { Fetch } from './admit-call.ts';
import { createAnswering } from './answer.ts';
import { createBreaker } from './breaker.ts';
import { systemClock } from './clock.ts';
import { createGroupCommit } from './commit/group-commit.ts';
import type { Observe } from './events.ts';
import type { RelayClock } from './exchange.ts';
import { createFallback } from './fallback.ts';
import { createForwarder } from './forward.ts';
import type { RelayStatus } from './health.ts';
import { type Registration, startRegistration } from './registration.ts';
import type { Router } from './router/router.ts';
import { statelessCheck } from './stateless-check.ts';
import { createStreamPool } from './streams/pool.ts';
import type { PoolSizes } from './streams/pool-size.ts';
import { compileTranslator } from './translate/translator.ts';
import { createUnmetered } from './unmetered.ts';
import { decodeQuestion } from './wire/decode.ts';
import { encodeAdmitted, encodeRejected, type WireSchema } from './wire/schema.ts';

export interface RelayOptions {
  readonly router: Router;
  readonly schema: WireSchema;
  /** Where the deciding service is, and how to call it: `fetch`, or `inlineFetch` with `INLINE_URL`. */
  readonly admitUrl: string;
  readonly fetch: Fetch;
  /** Without one: no variables but the context, no identity from variables, no security rules in the fallback. */
  readonly policy?: Policy | undefined;
  readonly directory?: Directory | undefined;
  readonly deadlineMs: number;
  readonly fallback: 'admit' | 'reject';
  readonly observe: Observe;
  /** @default the system's */
  readonly clock?: RelayClock;
  /** @default Math.random */
  readonly random?: () => number;
  readonly poolSizes?: PoolSizes;
  /** How long a relay that stops leaves its waiting streams to the router. @default 3 s */
  readonly attritionMs?: number;
  /** @default 20 */
  readonly unreadablePerHour?: number;
}

export interface Relay {
  start(): void;
  /**
   * Opens no more streams, lets what is asked or about to be asked be answered, tells the ledger what it missed. Within
   * 10 s; once is enough.
   */
  stop(): Promise<void>;
  status(): RelayStatus;
}

/**
 * Of the 10 s a container has: the router may ask for 3 s more, what it asked is decided by 6 s and else gets the fallback,
 * streams are cut at 7 s, and 2 s are for telling the ledger.
 */
const DECIDE_MS_MAX = 6_000;
const FLUSH_MS_MAX = 2_000;

/** Wires the parts of a relay: streams → translate → group commit → the deciding service, with the fallback beside. */
export function createRelay(options: RelayOptions): Relay {
  const { router, schema, policy } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  let lastAnswerAtMs: number | undefined;
  let everConnected = false;
  const observe: Observe = (event) => {
    if (event.type === 'answered') lastAnswerAtMs = clock.monotonicMs();
    if (event.type === 'connected') everConnected = true;
    options.observe(event);
  };

  const breaker = createBreaker(
    () => clock.monotonicMs(),
    (state) => observe({ type: 'breaker', state }),
  );
  const forwarder = createForwarder({
    baseUrl: options.admitUrl,
    fetch: options.fetch,
    clock,
    random,
    breaker,
    observe,
  });
  const commit = createGroupCommit({
    send: forwarder.send,
    clock,
    observe,
    defer: setImmediate,
    newBatchId: () => randomBytes(9).toString('base64url'),
  });
  const unmetered = createUnmetered({ post: forwarder.postUnmetered, clock, random, observe });
  const answer = createAnswering({
    decode: (bytes) => decodeQuestion(schema, bytes),
    translate: compileTranslator(schema.question, {
      variables: policy?.variables ?? { names: [], prefixes: [] },
      trustVariables: policy?.trustVariables ?? false,
    }),
    commit,
    fallback: createFallback({
      clock,
      stateless: statelessCheck(policy, clock, options.directory),
      costAndCapacity: options.fallback,
      newDecisionId: () => `f-${randomUUID()}`,
      ...(options.unreadablePerHour !== undefined && { unreadablePerHour: options.unreadablePerHour }),
    }),
    unmetered,
    clock,
    observe,
    deadlineMs: options.deadlineMs,
  });
  const admitted = encodeAdmitted(schema);
  const pool = createStreamPool({
    router,
    answer,
    encode: { admitted: () => admitted, rejected: (reason) => encodeRejected(schema, reason) },
    clock,
    random,
    observe,
    ...(options.poolSizes !== undefined && { sizes: options.poolSizes }),
    ...(options.attritionMs !== undefined && { attritionMs: options.attritionMs }),
  });
  let registration: Registration | undefined;
  let stopped: Promise<void> | undefined;

  async function stop(): Promise<void> {
    const cancelDecide = clock.after(DECIDE_MS_MAX, commit.close);
    await Promise.all([pool.drain(), registration?.stop()]);
    cancelDecide();
    commit.close();
    await unmetered.flush(FLUSH_MS_MAX);
    router.close();
  }

  return {
    start: () => {
      registration = startRegistration({ router, clock, random, observe });
      pool.start();
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
    status: () => {
      const streams = pool.status();
      const nowMs = clock.monotonicMs();
      return {
        state: streams.state,
        openStreams: streams.open,
        waitingStreams: streams.waiting,
        busyStreams: streams.busy,
        downMs: streams.downSinceMs === undefined ? undefined : Math.round(nowMs - streams.downSinceMs),
        everConnected,
        lastAnswerAgeMs: lastAnswerAtMs === undefined ? undefined : Math.round(nowMs - lastAnswerAtMs),
        breaker: breaker.state.name,
        openJobs: commit.open,
        unmeteredQueued: unmetered.queued,
      };
    },
  };
}
