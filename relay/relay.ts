import { randomBytes, randomUUID } from 'node:crypto';
import type { Policy } from '../policies/policy.ts';
import { QuestionAccounts } from './accounts.ts';
import type { Fetch } from './admit-call.ts';
import { createAnswering, createQuestionReader } from './answer.ts';
import { createBreaker } from './breaker.ts';
import { createGroupCommit } from './commit/group-commit.ts';
import { createLanes, eventLoopShare } from './commit/lanes.ts';
import type { RelayObserver } from './events.ts';
import type { RelayClock } from './exchange.ts';
import { createFallback } from './fallback.ts';
import { createForwarder } from './forward.ts';
import { HandedRooms } from './handed-rooms.ts';
import type { RelayStatus } from './health.ts';
import { Journal, type WriteJournal } from './journal.ts';
import { RoomFile } from './kept-rooms.ts';
import { createLiveDirectory, groupsAbove } from './live-directory.ts';
import { type Registration, startRegistration } from './registration.ts';
import { type KeptRooms, RelayRoom } from './room.ts';
import { type Router, STATUS } from './router/router.ts';
import { openSpool } from './spool.ts';
import { statelessCheck } from './stateless-check.ts';
import { createStreamPool, type PoolSizes } from './streams/pool.ts';
import { compileReader, plausibilityJudge } from './translate/question-reader.ts';
import { createUnmetered } from './unmetered.ts';
import { WaitingQueue } from './waiting/waiting-queue.ts';
import { AS_DESCRIBED, answerEnded } from './wire/answer-arms.ts';
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
  /** Where fallback answers go that the function cannot be told of. Absent: they wait in memory alone. */
  readonly writeJournal?: WriteJournal | undefined;
  /** Keeps fallback answers, and what is left of limits, over the relay's own death. Absent: both are in memory alone. */
  readonly spoolFolder?: string | undefined;
  /**
   * What other relays knew to be left of limits when this one started, and where it writes down what it knows itself. Absent: a
   * relay that starts in an outage on a new disk knows of no limits.
   */
  readonly rooms?:
    | { readonly left: readonly KeptRooms[]; readonly write: (kept: KeptRooms) => Promise<void> }
    | undefined;
  /** Where every question is. @default kept for nobody */
  readonly accounts?: QuestionAccounts;
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
  const accounts = options.accounts ?? new QuestionAccounts(clock);
  let lastAnswerAtMs: number | undefined;
  let everConnected = false;
  const observe: RelayObserver = (event) => {
    if (event.type === 'answered') lastAnswerAtMs = clock.monotonicMs();
    if (event.type === 'connected') everConnected = true;
    accounts.note(event);
    options.observe(event);
    // A rejection may be refused for its text; only how admissions end tells which arm is which.
    if (event.type === 'stream_ended' && event.answered === 'admitted') noteAnswerEnd(event.code);
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
    isSettled: (sinceMs) => unmetered.isToldSince(sinceMs) && journal?.isBooked !== false,
    changed: (how) => {
      roomFile?.changed(how);
      handed?.changed(how);
    },
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
  const { writeJournal: write } = options;
  const notWritten = (where: 'journal' | 'spool' | 'rooms') => (error: unknown) =>
    observe({ type: 'not_written', where, error: error instanceof Error ? error.name : typeof error });
  const journal =
    write && new Journal({ post: forwarder.postUnmetered, write, clock, failed: notWritten('journal') });
  const post = journal?.post ?? forwarder.postUnmetered;
  const { spoolFolder: folder } = options;
  const spool = folder === undefined ? undefined : openSpool({ folder, failed: notWritten('spool') });
  const roomFile =
    folder === undefined ? undefined : new RoomFile({ folder, clock, room, failed: notWritten('spool') });
  const handed =
    options.rooms && new HandedRooms({ ...options.rooms, clock, room, failed: notWritten('rooms') });
  const unmetered = createUnmetered({ post, clock, random, observe, spool });
  const fallback = createFallback({
    clock,
    stateless: statelessCheck(policy, clock, directory.current),
    groupsAbove: (request) => groupsAbove(request, directory.current()),
    costAndCapacity: options.fallback,
    room,
    schemaProven: () => proof.standing === 'proven',
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
    answer: accounts.watched(answer),
    encode: {
      admitted: () => (arms.swapped ? admittedByOtherArm : admitted),
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
    roomFile?.write();
    await Promise.all([unmetered.flush(FLUSH_MS_MAX), handed?.leave()]);
    router.close();
  }

  return {
    start: () => {
      tellSchema(proof.standing);
      directory.start();
      unmetered.restore();
      // Its own disk knows better than the others.
      roomFile?.restore();
      handed?.restore();
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
