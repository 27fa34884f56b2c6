import { randomBytes, randomUUID } from 'node:crypto';
import type { Policy } from '../policies/policy.ts';
import type { Fetch } from './admit-call.ts';
import { createAnswering, createQuestionReader } from './answer.ts';
import { createBreaker } from './breaker.ts';
import { createGroupCommit } from './commit/group-commit.ts';
import { createLanes, eventLoopShare } from './commit/lanes.ts';
import type { RelayObserver } from './events.ts';
import type { RelayClock } from './exchange.ts';
import { createFallback } from './fallback.ts';
import { createForwarder } from './forward.ts';
import type { RelayStatus } from './health.ts';
import type { WriteJournal } from './journal.ts';
import { createLiveDirectory, groupsAbove } from './live-directory.ts';
import { NeededFields } from './needed-fields.ts';
import { type Registration, startRegistration } from './registration.ts';
import { type KeptRooms, RelayRoom } from './room.ts';
import { RoomSnapshots } from './room-snapshot.ts';
import type { Router } from './router/router.ts';
import { statelessCheck } from './stateless-check.ts';
import { createStreamPool, type PoolSizes } from './streams/pool.ts';
import { fieldsWithoutSource } from './translate/describe.ts';
import { compileReader, plausibilityJudge } from './translate/question-reader.ts';
import { createUnmetered } from './unmetered.ts';
import { WaitingQueue } from './waiting/waiting-queue.ts';
import { encodeAdmitted, encodeRejected, type WireSchema } from './wire/schema.ts';
import { createSchemaProof, type SchemaState, type SchemaTrust } from './wire/schema-proof.ts';

interface RelayOptions {
  readonly router: Router;
  readonly schema: WireSchema;
  /** Where the deciding service is, and how to call it: `fetch`, or `inlineFetch` with `INLINE_URL`. */
  readonly admitUrl: string;
  readonly fetch: Fetch;
  /** Absent: no variables but the context, no identity from variables, no security rules in the fallback. */
  readonly policy?: Policy | undefined;
  readonly deadlineMs: number;
  /** From question to answer for a job that waits for room. @default `deadlineMs` */
  readonly answerWithinMs?: number;
  readonly fallback: 'admit' | 'reject';
  /** How many relays there are: each admits its share of what is left while nobody can be asked. @default 1 */
  readonly relays?: number;
  readonly observe: RelayObserver;
  /** Takes fallback decisions while the function cannot be reached. Absent: they wait in memory alone. */
  readonly writeJournal?: WriteJournal | undefined;
  /**
   * Snapshots of headroom: what other relays left when this one started, and how it writes its own. Absent: a relay that starts
   * in an outage knows of no limits.
   */
  readonly rooms?:
    | { readonly left: readonly KeptRooms[]; readonly write: (kept: KeptRooms) => Promise<void> }
    | undefined;
  /** @default the system's */
  readonly clock?: RelayClock;
  /** @default Math.random */
  readonly random?: () => number;
  readonly poolSizes?: PoolSizes;
  /** How long a relay that stops leaves its waiting streams to the router. @default 3 s */
  readonly leaveWaitingMs?: number;
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
  /**
   * Opens no more streams, lets what is asked or about to be asked be answered, tells the ledger what it missed. Within
   * 10 s; once is enough.
   */
  stop(): Promise<void>;
  status(): RelayStatus;
}

/**
 * A container has 10 s: the router may ask for 3 s more, what it asked is decided by 6 s and else gets the fallback,
 * streams are cut at 7 s, and 2 s are for telling the ledger.
 */
const DECIDE_MS_MAX = 6_000;
const FLUSH_MS_MAX = 2_000;

/** Wires the parts of a relay: streams → translate → group commit → the deciding service, with the fallback beside. */
export function createRelay(options: RelayOptions): Relay {
  const { router, schema, policy } = options;
  const clock = options.clock ?? systemRelayClock;
  const random = options.random ?? Math.random;
  let lastAnswerAtMs: number | undefined;
  let everConnected = false;
  const observe: RelayObserver = (event) => {
    if (event.type === 'answered') lastAnswerAtMs = clock.monotonicMs();
    if (event.type === 'connected') everConnected = true;
    options.observe(event);
  };

  const breaker = createBreaker(
    () => clock.monotonicMs(),
    (state) => observe({ type: 'breaker', state }),
  );
  const way = { baseUrl: options.admitUrl, fetch: options.fetch, clock, random, observe };
  const lanes = createLanes(clock, eventLoopShare());
  const directory = createLiveDirectory(way);
  const room = new RelayRoom({
    clock,
    policy,
    directory: directory.current,
    relays: options.relays ?? 1,
    isSettled: (sinceMs) => unmetered.isBookedSince(sinceMs),
    changed: (how) => snapshots?.changed(how),
  });
  const forwarder = createForwarder({
    ...way,
    ...{ breaker, lanes },
    roomTold: (told) => room.tell(told),
    waiting: {
      inTurn: (jobs) => waiting.inTurn(jobs),
      terms: (jobIds) => waiting.terms(jobIds),
      roomTold: (rooms) => waiting.roomTold(rooms),
    },
  });
  const commit = createGroupCommit({
    send: forwarder.send,
    clock,
    observe,
    lanes,
    defer: setImmediate,
    newBatchId: () => randomBytes(9).toString('base64url'),
  });
  const { source, hash, placeholder } = schema;
  const tellSchema = (standing: SchemaState): void =>
    observe({ type: 'schema', standing, source, hash, placeholder });
  const proof = createSchemaProof(options.schemaTrust ?? 'earned', tellSchema);
  const fields = new NeededFields({
    policy,
    withoutSource: new Set(fieldsWithoutSource(schema.question, policy)),
    nowMs: clock.nowMs(),
    changed: (missing) => observe({ type: 'fields', missing }),
  });
  const notWritten = (where: 'journal' | 'rooms') => (error: unknown) =>
    observe({ type: 'not_written', where, error: error instanceof Error ? error.name : typeof error });
  const snapshots =
    options.rooms && new RoomSnapshots({ ...options.rooms, clock, room, failed: notWritten('rooms') });
  const unmetered = createUnmetered({
    post: forwarder.postUnmetered,
    writeJournal: options.writeJournal,
    notWritten: notWritten('journal'),
    ...{ clock, random, observe },
  });
  const fallback = createFallback({
    clock,
    stateless: statelessCheck(policy, clock, directory.current),
    groupsAbove: (request) => groupsAbove(request, directory.current()),
    costAndCapacity: options.fallback,
    room,
    newDecisionId: () => `f-${randomUUID()}`,
    ...(options.unreadablePerHour !== undefined && { unreadablePerHour: options.unreadablePerHour }),
  });
  const { deadlineMs, answerWithinMs = deadlineMs } = options;
  const waiting = new WaitingQueue({
    ...{ commit, lanes, clock, observe, deadlineMs, answerWithinMs },
    weightOf: (root) => policy?.waitWeights?.get(Number(root)) ?? 1,
    isRejecting: () => proof.standing === 'proven',
    noted: fallback.noted,
  });
  const answer = createAnswering({
    read: createQuestionReader({
      read: compileReader(schema, {
        variables: policy?.variables ?? { names: [], prefixes: [] },
        trustVariables: policy?.trustVariables ?? false,
      }),
      judge: plausibilityJudge(directory.current),
      proof,
      fields,
      observe,
    }),
    proof,
    waiting,
    fallback,
    unmetered,
    clock,
    observe,
  });
  const admitted = encodeAdmitted(schema);
  const pool = createStreamPool({
    router,
    answer,
    encode: {
      admitted: () => admitted,
      rejected: (reason) => encodeRejected(schema, reason),
    },
    clock,
    random,
    observe,
    parked: () => waiting.size,
    ...(options.poolSizes !== undefined && { sizes: options.poolSizes }),
    ...(options.leaveWaitingMs !== undefined && { leaveWaitingMs: options.leaveWaitingMs }),
  });
  let registration: Registration | undefined;
  let stopped: Promise<void> | undefined;

  async function stop(): Promise<void> {
    const cancelDecide = clock.after(DECIDE_MS_MAX, commit.close);
    waiting.leave();
    unmetered.leave();
    directory.stop();
    await Promise.all([pool.drain(), registration?.stop()]);
    cancelDecide();
    commit.close();
    await Promise.all([unmetered.flush(FLUSH_MS_MAX), snapshots?.leave()]);
    router.close();
  }

  return {
    start: () => {
      tellSchema(proof.standing);
      observe({ type: 'fields', missing: fields.missing });
      directory.start();
      snapshots?.restore();
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
        waitingJobs: waiting.size,
        waitingLines: waiting.longestLines(),
        unmeteredQueued: unmetered.queued,
        directoryAgeMs: Math.round(directory.ageMs()),
        directoryKnown: directory.current() !== undefined,
      };
    },
  };
}

/** The machine's clocks. Tests pass their own. */
export const systemRelayClock: RelayClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
