import { randomBytes, randomUUID } from 'node:crypto';
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
import { groupsAbove } from './groups-above.ts';
import type { RelayStatus } from './health.ts';
import { createLiveDirectory } from './live-directory.ts';
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
  readonly deadlineMs: number;
  readonly fallback: 'admit' | 'reject';
  readonly observe: Observe;
  /** @default the system's */
  readonly clock?: RelayClock;
  /** @default Math.random */
  readonly random?: () => number;
  readonly poolSizes?: PoolSizes;
  /** @default 20 */
  readonly unreadablePerHour?: number;
}

export interface Relay {
  start(): void;
  /** Opens no more streams, lets what is asked be answered, tells the ledger what it missed. Within 10 s; once is enough. */
  stop(): Promise<void>;
  status(): RelayStatus;
}

/** Before the pool's 7 s, after which streams are cut: a question that still waits gets the fallback, not silence. */
const DECIDE_MS_MAX = 6_000;
/** What is left of the 10 s a container has, after the pool's 7 s. */
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
  const way = { baseUrl: options.admitUrl, fetch: options.fetch, clock, random, observe };
  const forwarder = createForwarder({ ...way, breaker });
  const directory = createLiveDirectory(way);
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
      stateless: statelessCheck(policy, clock, directory.current),
      groupsAbove: (request) => groupsAbove(request, directory.current()),
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
  });
  let registration: Registration | undefined;
  let stopped: Promise<void> | undefined;

  async function stop(): Promise<void> {
    const cancelDecide = clock.after(DECIDE_MS_MAX, commit.close);
    unmetered.leave();
    directory.stop();
    await Promise.all([pool.drain(), registration?.stop()]);
    cancelDecide();
    commit.close();
    await unmetered.flush(FLUSH_MS_MAX);
    router.close();
  }

  return {
    start: () => {
      directory.start();
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
        directoryAgeMs: Math.round(directory.ageMs()),
        directoryKnown: directory.current() !== undefined,
      };
    },
  };
}
