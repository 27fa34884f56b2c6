/**
 * A stand-in for GitLab's job router: the other end of AdmitJob. It behaves as the real one is known to: one question
 * per stream, random choice of stream, all controllers must admit. `faults` and the methods that break connections
 * make it misbehave.
 *
 * Unknown of the real router and chosen here: the decision timeout, the order of controllers (as listed), that a job
 * is not asked again on another stream when its stream is lost.
 */
import { loadSchema, type WireSchema } from '../../../relay/wire/schema.ts';
import { machineClock, type RouterClock } from '../clock.ts';
import {
  type AdmissionResult,
  type AwaitedCondition,
  admitJob,
  ConditionWaiters,
  Controllers,
  newCounters,
  type RegisteredController,
  WaitingStreams,
} from './admission.ts';
import { type AdmitStream, admitService, Faults, type StreamSurroundings } from './admit-service.ts';
import { grpcListener, type Listener, type ListenerTlsFiles, wsListener } from './listeners.ts';
import {
  answerGetJob,
  answerReader,
  type JobQuestion,
  questionEncoder,
  type RouterGitLab,
} from './messages.ts';

export interface LocalRouterOptions {
  readonly schema?: WireSchema;
  readonly controllers: readonly RegisteredController[];
  readonly gitlab?: RouterGitLab;
  readonly host?: string;
  /** Port of the gRPC listener, 0 for any free one, `off` for none. @default 0 */
  readonly grpcPort?: number | 'off';
  readonly wsPort?: number | 'off';
  readonly tls?: ListenerTlsFiles;
  /** Time that a job waits for an idle stream. @default 20_000, GitLab's last known number */
  readonly findTimeoutMs?: number;
  /** Time that a job waits for its answer. @default 10_000; GitLab's number is not public */
  readonly decisionTimeoutMs?: number;
  /** Age at which a connection gets GOAWAY, by the clock; GitLab's is about 24 min. @default never */
  readonly connectionMaxAgeMs?: number;
  readonly callsPerConnectionMax?: number;
  readonly clock?: RouterClock;
  readonly random?: () => number;
}

interface AskOptions {
  readonly bytes?: Uint8Array;
  readonly append?: Uint8Array;
  readonly runnerId?: number;
}

export type LocalRouter = Awaited<ReturnType<typeof startLocalRouter>>;

const FIND_TIMEOUT_MS = 20_000;
const DECISION_TIMEOUT_MS = 10_000;

export async function startLocalRouter(options: LocalRouterOptions) {
  const schema = options.schema ?? loadSchema();
  const clock = options.clock ?? machineClock;
  const counters = newCounters();
  const faults = new Faults();
  const registered = new Map<bigint, number>();
  const { gitlab } = options;
  const controllers = new Controllers(options.controllers, () => gitlab?.controllers() ?? []);
  const conditions = new ConditionWaiters();
  const pools = new Map<number, WaitingStreams<AdmitStream>>();
  const streamsOf = (id: number): WaitingStreams<AdmitStream> => {
    const pool = pools.get(id) ?? new WaitingStreams<AdmitStream>(clock, options.random);
    pools.set(id, pool);
    return pool;
  };
  const listeners: Listener[] = [];
  const surroundings: StreamSurroundings = {
    clock,
    faults,
    decisionTimeoutMs: options.decisionTimeoutMs ?? DECISION_TIMEOUT_MS,
    readAnswer: answerReader(schema),
    resetConnectionOf(peer) {
      for (const listener of listeners) listener.reset(peer);
    },
    onViolation(violation) {
      counters.violations[violation] += 1;
      conditions.look();
    },
    onGone(stream) {
      for (const pool of pools.values()) pool.remove(stream);
      conditions.look();
    },
  };
  const server = admitService({
    schema,
    controllers,
    registered,
    counters,
    surroundings,
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

  const encode = questionEncoder(schema.question, false);
  const parts = {
    controllers,
    streamsOf,
    counters,
    findTimeoutMs: options.findTimeoutMs ?? FIND_TIMEOUT_MS,
  };
  const admit = async (job: JobQuestion, ask: AskOptions = {}): Promise<AdmissionResult> => {
    const encoded = ask.bytes ?? encode(job);
    const question = ask.append === undefined ? encoded : Buffer.concat([encoded, ask.append]);
    const result = await admitJob(question, { ...parts, runnerId: ask.runnerId });
    conditions.look();
    return result;
  };

  return {
    grpcUrl: grpc?.url,
    wsUrl: ws?.url,
    schema,
    counters,
    registrations: {
      present: () => [...registered].map(([instanceId, controllerId]) => ({ instanceId, controllerId })),
    },
    faults,
    admit,
    encode,
    waitingStreams: (id?: number): number =>
      id === undefined ? sum([...pools.values()].map((pool) => pool.size)) : streamsOf(id).size,
    connections: () => sum(listeners.map((listener) => listener.connections())),
    until: (holds: () => boolean, condition?: AwaitedCondition) => conditions.until(holds, condition),
    changeController: (id: number, change: Partial<Omit<RegisteredController, 'id'>>) =>
      controllers.change(id, change),
    resetConnections: () => sum(listeners.map((listener) => listener.reset())),
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
      for (const listener of listeners) listener.close();
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
