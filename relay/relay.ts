/** Wires the parts of a relay: streams → translate → group commit → admit function, and the fallback if that does not decide. */
import { randomUUID } from 'node:crypto';
import type { Policy } from '../policies/policy.ts';
import type { Fetch } from './admit/admit-call.ts';
import { createBreaker } from './admit/breaker.ts';
import { createForwarder } from './admit/forward.ts';
import { createAnswering } from './answer.ts';
import type { WriteJournal } from './aws/aws-json.ts';
import { createGroupCommit } from './commit/group-commit.ts';
import { createLanes, eventLoopShare } from './commit/lanes.ts';
import { nameOf, type RelayObserver } from './events.ts';
import type { RelayClock } from './exchange.ts';
import { createFallback } from './fallback/fallback.ts';
import { Headroom, type HeadroomSnapshot } from './fallback/headroom.ts';
import { createHeadroomSnapshots } from './fallback/headroom-snapshot.ts';
import { createLiveDirectory } from './fallback/live-directory.ts';
import { createUnmetered } from './fallback/unmetered.ts';
import { createLivePolicy } from './live-policy.ts';
import { createStreamPool, type PoolSizes } from './pool.ts';
import { type Registration, startRegistration } from './router/registration.ts';
import type { Router } from './router/router.ts';
import { fieldsWithoutSource } from './translate/alias-sources.ts';
import { watchNeededFields } from './translate/needed-fields.ts';
import { compileReader, plausibilityJudge } from './translate/request-reader.ts';
import { WaitQueue } from './wait-queue.ts';
import { encodeResponse, type WireSchema } from './wire/schema.ts';
import { createSchemaProof, type SchemaState } from './wire/schema-proof.ts';

export type Relay = ReturnType<typeof createRelay>;

/**
 * A container has 10 s to stop. The router may ask for 3 s more. Those requests are decided by 6 s, else by the fallback.
 * Streams are cut at 7 s, and 2 s are for delivering fallback decisions.
 */
const DECIDE_MS_MAX = 6_000;
const FLUSH_MS_MAX = 2_000;

export function createRelay(options: {
  readonly router: Router;
  readonly schema: WireSchema;
  /** The admit function and how to call it: `fetch`, or `inlineFetch` with `INLINE_URL`. */
  readonly admitUrl: string;
  readonly fetch: Fetch;
  /** The image's copy. Absent: no variables except the context, no identity from variables, no security rules in the fallback. */
  readonly policy?: Policy | undefined;
  readonly deadlineMs: number;
  readonly answerWithinMs?: number;
  readonly fallback: 'admit' | 'reject';
  readonly relays?: number;
  readonly observe: RelayObserver;
  /** Takes fallback decisions while the function is out of reach. Absent: they wait in memory alone. */
  readonly writeJournal?: WriteJournal | undefined;
  /** Snapshots that other relays left, and how this one writes its own. Absent: a relay that starts knows of no limits. */
  readonly headroom?:
    | {
        readonly left: readonly HeadroomSnapshot[];
        readonly write: (kept: HeadroomSnapshot) => Promise<void>;
      }
    | undefined;
  readonly clock?: RelayClock;
  readonly random?: () => number;
  readonly poolSizes?: PoolSizes;
  readonly leaveWaitingMs?: number;
  readonly schemaState?: SchemaState;
}) {
  const { router, schema, observe, clock = systemRelayClock, random = Math.random } = options;
  const breaker = createBreaker(
    () => clock.monotonicMs(),
    (state) => observe({ type: 'breaker', state }),
  );
  const service = { baseUrl: options.admitUrl, fetch: options.fetch, clock, random, observe };
  const changed = (missing: readonly string[]): void => observe({ type: 'fields', missing });
  const live = createLivePolicy({
    ...service,
    bundled: options.policy,
    build: (policy) => {
      const read = compileReader(schema, {
        variables: policy?.variables ?? { names: [], prefixes: [] },
        trustVariables: policy?.trustVariables ?? false,
      });
      const withoutSource = new Set(fieldsWithoutSource(schema.request, policy));
      const fields = watchNeededFields({ policy, withoutSource, nowMs: clock.nowMs(), changed });
      changed(fields.missing);
      return { policy, read, fields };
    },
  });
  const policy = (): Policy | undefined => live.current().policy;
  const lanes = createLanes(clock, eventLoopShare());
  const directory = createLiveDirectory(service);
  const headroom = new Headroom({
    clock,
    policy,
    directory: directory.current,
    relays: options.relays ?? 1,
    isDelivered: () => unmetered.queued === 0,
    taken: () => snapshots?.taken(),
  });
  const forwarder = createForwarder({
    ...service,
    ...{ breaker, lanes },
    onHeadroom: (report) => headroom.report(report),
    onPolicy: live.heard,
    waiting: {
      inOrder: (jobs) => waiting.inOrder(jobs),
      terms: (jobIds) => waiting.terms(jobIds),
      onHeadroom: (reported) => waiting.onHeadroom(reported),
    },
  });
  const commit = createGroupCommit({
    send: forwarder.send,
    clock,
    observe,
    lanes,
    defer: setImmediate,
  });
  const { source, hash, placeholder } = schema;
  const observeSchema = (state: SchemaState): void =>
    observe({ type: 'schema', state, source, hash, placeholder });
  const proof = createSchemaProof(options.schemaState ?? 'unproven', observeSchema);
  const notWritten = (where: 'journal' | 'headroom') => (error: unknown) =>
    observe({ type: 'not_written', where, error: nameOf(error) });
  const snapshots =
    options.headroom &&
    createHeadroomSnapshots({ ...options.headroom, clock, headroom, failed: notWritten('headroom') });
  const unmetered = createUnmetered({
    post: forwarder.postUnmetered,
    writeJournal: options.writeJournal,
    notWritten: notWritten('journal'),
    ...{ clock, random, observe },
  });
  const fallback = createFallback({
    ...{ clock, policy, directory: directory.current, headroom },
    costAndCapacity: options.fallback,
    newDecisionId: () => `f-${randomUUID()}`,
  });
  const { deadlineMs, answerWithinMs = deadlineMs } = options;
  const waiting = new WaitQueue({
    ...{ commit, lanes, clock, observe, deadlineMs, answerWithinMs },
    weightOf: (root) => policy()?.waitWeights?.get(Number(root)) ?? 1,
    isRejecting: () => proof.state === 'proven',
    noted: fallback.noted,
  });
  const answer = createAnswering({
    read: (bytes) => live.current().read(bytes),
    fields: { note: (request) => live.current().fields.note(request) },
    judge: plausibilityJudge(directory.current),
    ...{ proof, waiting, fallback, unmetered, clock, observe },
  });
  const admitted = encodeResponse(schema, { outcome: 'admitted' });
  const pool = createStreamPool({
    router,
    answer,
    encode: (given) => (given.outcome === 'admitted' ? admitted : encodeResponse(schema, given)),
    ...{ clock, random, observe },
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
    /** Gets the policy in force, so that the first jobs are read by it. Never rejects. */
    loadPolicy: live.load,
    start: (): void => {
      observeSchema(proof.state);
      directory.start();
      snapshots?.restore();
      registration = startRegistration({ router, clock, random, observe });
      pool.start();
    },
    /** Opens no more streams, answers open requests and delivers fallback decisions. Takes at most 10 s. */
    stop: (): Promise<void> => {
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
        downMs: streams.downSinceMs === undefined ? undefined : Math.round(nowMs - streams.downSinceMs),
        everConnected: streams.everConnected,
        schema: { source, hash, placeholder, state: proof.state },
        policyVersion: policy()?.version,
        breaker: breaker.state,
        openJobs: commit.open,
        waitingJobs: waiting.size,
        waitingLines: waiting.longestLines(),
        unmeteredQueued: unmetered.queued,
        /** Since all groups of GitLab were listed. Before the first directory: since the start. */
        directoryAgeMs: Math.round(directory.ageMs()),
      };
    },
  };
}

export const systemRelayClock: RelayClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
