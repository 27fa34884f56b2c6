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
import { plausibilityJudge } from './plausibility.ts';
import { createQuestionReader } from './read-question.ts';
import { type Registration, startRegistration } from './registration.ts';
import { type Router, STATUS } from './router/router.ts';
import { statelessCheck } from './stateless-check.ts';
import { createStreamPool } from './streams/pool.ts';
import type { PoolSizes } from './streams/pool-size.ts';
import { PROJECT_ID_PATHS } from './translate/aliases.ts';
import { compileTranslator } from './translate/translator.ts';
import { createUnmetered } from './unmetered.ts';
import { AS_DESCRIBED, answerEnded } from './wire/arm-choice.ts';
import { decodeQuestion } from './wire/decode.ts';
import { projectFinder } from './wire/find-project.ts';
import { encodeAdmitted, encodeRejected, type WireSchema } from './wire/schema.ts';
import { createSchemaProof, type SchemaStanding, type SchemaTrust } from './wire/schema-proof.ts';

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
  /** @default 20 */
  readonly unreadablePerHour?: number;
  /**
   * How far the schema is trusted before the first question. `given`: by whoever started the router of this repository
   * with the same schema, nobody else can know. `placeholder`: never, see {@link trustIn}.
   *
   * @default 'earned'
   */
  readonly schemaTrust?: SchemaTrust;
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
    if (event.type === 'stream_ended' && event.asked) noteAnswerEnd(event.code);
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
  const { source, hash, placeholder } = schema;
  const tellSchema = (standing: SchemaStanding): void =>
    observe({ type: 'schema', standing, source, hash, placeholder });
  const proof = createSchemaProof(options.schemaTrust ?? 'earned', tellSchema);
  const unmetered = createUnmetered({ post: forwarder.postUnmetered, clock, random, observe });
  const answer = createAnswering({
    read: createQuestionReader({
      decode: (bytes) => decodeQuestion(schema, bytes),
      findProject: projectFinder(schema.question, PROJECT_ID_PATHS),
      translate: compileTranslator(schema.question, {
        variables: policy?.variables ?? { names: [], prefixes: [] },
        trustVariables: policy?.trustVariables ?? false,
      }),
      judge: plausibilityJudge(options.directory),
      proof,
      observe,
    }),
    proof,
    commit,
    fallback: createFallback({
      clock,
      stateless: statelessCheck(policy, clock, options.directory),
      costAndCapacity: options.fallback,
      schemaProven: () => proof.standing === 'proven',
      newDecisionId: () => `f-${randomUUID()}`,
      ...(options.unreadablePerHour !== undefined && { unreadablePerHour: options.unreadablePerHour }),
    }),
    unmetered,
    clock,
    observe,
    deadlineMs: options.deadlineMs,
  });
  const admitted = encodeAdmitted(schema);
  const admittedByOtherArm = encodeRejected(schema, '');
  let arms = AS_DESCRIBED;
  function noteAnswerEnd(code: number): void {
    if (code !== STATUS.OK && code !== STATUS.INVALID_ARGUMENT) return;
    const before = arms.swapped;
    arms = answerEnded(arms, code === STATUS.OK ? 'taken' : 'refused');
    // Told and remembered at each change: the first one fails a job that nothing could have saved.
    if (arms.swapped !== before) {
      observe({ type: 'answer_refused', swapped: arms.swapped });
      proof.note({ kind: 'answer_refused' });
    }
  }
  const pool = createStreamPool({
    router,
    answer,
    encode: {
      admitted: () => (arms.swapped ? admittedByOtherArm : admitted),
      rejected: (reason) => encodeRejected(schema, reason),
    },
    clock,
    random,
    observe,
    ...(options.poolSizes !== undefined && { sizes: options.poolSizes }),
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
      tellSchema(proof.standing);
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
        schema: { source, hash, placeholder, standing: proof.standing },
        breaker: breaker.state.name,
        openJobs: commit.open,
        unmeteredQueued: unmetered.queued,
      };
    },
  };
}
