/**
 * A stand-in for GitLab's job router: the other end of AdmitJob, for `npm start` and for tests. It behaves as the
 * real one is known to (one question per stream, random choice of stream, all controllers must pass) and can be told
 * to misbehave in every way the real one might (`faults`, and the methods that break connections).
 *
 * Unknown of the real router and chosen here: the decision timeout, the order of controllers (as listed), that a job
 * is not asked again on another stream when its stream is lost.
 */
import { loadSchema, type WireSchema } from '../../../relay/wire/schema.ts';
import { machineClock } from '../clock/clock.ts';
import { type AdmissionResult, admitJob } from './admission.ts';
import { admitService } from './admit-service.ts';
import type { AdmitStream, StreamSurroundings } from './admit-stream.ts';
import { answerReader } from './answer.ts';
import { type AwaitedCondition, ConditionWaiters } from './conditions.ts';
import { Controllers, type RegisteredController } from './controllers.ts';
import { newCounters, type RouterCounters } from './counters.ts';
import { Faults } from './faults.ts';
import { grpcListener, type Listener, wsListener } from './listeners.ts';
import type { LocalRouterOptions } from './options.ts';
import { type JobQuestion, questionEncoder } from './question.ts';
import { Registrations } from './registrations.ts';
import { answerGetJob } from './router-gitlab.ts';
import { WaitingStreams } from './waiting-streams.ts';

export type { LocalRouterOptions } from './options.ts';

interface AskOptions {
  /** Sent instead of the encoded job: poison, or a question encoded before. */
  readonly bytes?: Uint8Array;
  /** Appended to this question: unknown or oversized fields. */
  readonly append?: Uint8Array;
  /** Whose job it is. @default a runner in everybody's scope */
  readonly runnerId?: number;
}

export interface LocalRouter {
  /** `grpc://127.0.0.1:…`; undefined when switched off. */
  readonly grpcUrl: string | undefined;
  readonly wsUrl: string | undefined;
  readonly schema: WireSchema;
  readonly counters: RouterCounters;
  readonly registrations: Registrations;
  readonly faults: Faults;

  /** Brings one job before every applicable controller. Always resolves; throws only for a job it cannot encode. */
  admit(job: JobQuestion, ask?: AskOptions): Promise<AdmissionResult>;
  /** The same job from two routers at once. */
  admitTwice(job: JobQuestion): Promise<readonly [AdmissionResult, AdmissionResult]>;
  /** The bytes `admit` would send, to pay for encoding before a measurement. */
  encode(job: JobQuestion): Uint8Array;

  /** Idle streams, of one controller or of all. */
  waitingStreams(controllerId?: number): number;
  /** Jobs that wait for an idle stream. */
  waitingJobs(): number;
  connections(): number;
  /** Resolves when `holds` is true, looked at after every change; rejects in plain words after `timeoutMs`. */
  until(holds: () => boolean, condition?: AwaitedCondition): Promise<void>;

  changeController(id: number, change: Partial<Omit<RegisteredController, 'id'>>): void;
  /** Ends every waiting stream with OK, as a drain does. */
  endWaitingStreams(): void;
  /** TCP RST on every connection; the number of them. */
  resetConnections(): number;
  goAway(graceMs?: number): void;
  /** Swallows all traffic (a black hole) or lets it flow again. Needs `stallable`. */
  stall(on: boolean): void;
  stopListening(): Promise<void>;
  /** Listens again, on the same ports. */
  startListening(): Promise<void>;
  close(): Promise<void>;
}

const FIND_TIMEOUT_MS = 20_000;
const DECISION_TIMEOUT_MS = 10_000;
const GOAWAY_GRACE_MS = 60_000;

export async function startLocalRouter(options: LocalRouterOptions): Promise<LocalRouter> {
  const schema = options.schema ?? loadSchema();
  const clock = options.clock ?? machineClock;
  const counters = newCounters();
  const faults = new Faults();
  const registrations = new Registrations();
  const { gitlab } = options;
  const controllers = new Controllers(options.controllers, () => gitlab?.controllers() ?? []);
  const conditions = new ConditionWaiters();
  const pools = new Map<number, WaitingStreams<AdmitStream>>();
  const streamsOf = (id: number): WaitingStreams<AdmitStream> => {
    const known = pools.get(id);
    if (known !== undefined) return known;
    if (!controllers.ids().includes(id)) throw new Error(`no controller ${id}`);
    const pool = new WaitingStreams<AdmitStream>(clock, options.random ?? Math.random);
    pools.set(id, pool);
    return pool;
  };
  const listeners: Listener[] = [];
  const surroundings: StreamSurroundings = {
    clock,
    faults,
    decisionTimeoutMs: options.decisionTimeoutMs ?? DECISION_TIMEOUT_MS,
    streamMaxAgeMs: options.streamMaxAgeMs,
    readAnswer: answerReader(schema),
    resetConnectionOf(peer) {
      for (const listener of listeners) listener.connections.reset(peer);
    },
    onViolation(violation) {
      counters.violations[violation] += 1;
      conditions.look();
    },
    onAged() {
      counters.streams.aged += 1;
    },
    onGone(stream) {
      for (const pool of pools.values()) pool.remove(stream);
      conditions.look();
    },
  };
  const server = admitService({
    schema,
    controllers,
    registrations,
    counters,
    surroundings,
    headersAtOnce: options.headers === 'at_once',
    serverOptions: {
      ...(options.callsPerConnectionMax !== undefined && {
        'grpc.max_concurrent_streams': options.callsPerConnectionMax,
      }),
    },
    getJob:
      gitlab &&
      ((runnerToken) =>
        answerGetJob(runnerToken, gitlab, (question, runnerId) => admit(question, { runnerId }))),
    onStream(controller, stream, token) {
      gitlab?.tokenUsed(token);
      streamsOf(controller.id).add(stream);
      conditions.look();
    },
    onRegistered: () => conditions.look(),
  });
  const listenerOptions = (port: number) => ({
    host: options.host ?? '127.0.0.1',
    port,
    tls: options.tls,
    stallable: options.stallable ?? false,
    maxAgeMs: options.connectionMaxAgeMs,
    clock,
    counters,
    onConnection: () => conditions.look(),
  });
  const { grpcPort = 0, wsPort = 0 } = options;
  const grpc = grpcPort === 'off' ? undefined : await grpcListener(server, listenerOptions(grpcPort));
  if (grpc !== undefined) listeners.push(grpc);
  const ws = wsPort === 'off' ? undefined : await wsListener(server, listenerOptions(wsPort));
  if (ws !== undefined) listeners.push(ws);

  const encode = questionEncoder(schema.question, options.strict ?? false);
  const parts = {
    controllers,
    streamsOf,
    counters,
    clock,
    findTimeoutMs: options.findTimeoutMs ?? FIND_TIMEOUT_MS,
  };
  const admit = async (job: JobQuestion, ask: AskOptions = {}): Promise<AdmissionResult> => {
    const question = join(ask.bytes ?? encode(job), ask.append, faults.appendToQuestions);
    const result = await admitJob(question, { ...parts, runnerId: ask.runnerId });
    conditions.look();
    return result;
  };

  return {
    grpcUrl: grpc?.url,
    wsUrl: ws?.url,
    schema,
    counters,
    registrations,
    faults,
    admit,
    admitTwice: (job) => Promise.all([admit(job), admit(job)]),
    encode,
    waitingStreams: (id) =>
      id === undefined ? sum([...pools.values()].map((pool) => pool.size)) : streamsOf(id).size,
    waitingJobs: () => sum([...pools.values()].map((pool) => pool.finders)),
    connections: () => sum(listeners.map((listener) => listener.connections.size)),
    until: (holds, condition) => conditions.until(holds, condition),
    changeController: (id, change) => controllers.change(id, change),
    endWaitingStreams() {
      for (const pool of pools.values()) for (const stream of pool.all()) stream.endCleanly();
    },
    resetConnections: () => sum(listeners.map((listener) => listener.connections.reset())),
    goAway(graceMs = GOAWAY_GRACE_MS) {
      for (const listener of listeners) listener.connections.goAway(graceMs);
    },
    stall(on) {
      for (const listener of listeners) listener.connections.stall(on);
    },
    async stopListening() {
      await Promise.all(listeners.map((listener) => listener.stop()));
    },
    async startListening() {
      await Promise.all(listeners.map((listener) => listener.start()));
    },
    async close() {
      for (const pool of pools.values()) pool.close();
      server.forceShutdown();
      await Promise.all(listeners.map((listener) => listener.stop()));
      for (const listener of listeners) listener.connections.close();
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function join(question: Uint8Array, ...more: readonly (Uint8Array | undefined)[]): Uint8Array {
  const added = more.filter((bytes) => bytes !== undefined);
  return added.length === 0 ? question : Buffer.concat([question, ...added]);
}
