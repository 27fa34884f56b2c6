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
  poolOf,
  type RegisteredController,
  type RouterState,
} from './admission.ts';
import { admitService } from './admit-service.ts';
import { Faults } from './admit-stream.ts';
import { grpcListener, type ListenerTlsFiles, wsListener } from './listeners.ts';
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

export async function startLocalRouter(options: LocalRouterOptions) {
  const { schema = loadSchema(), clock = machineClock, random = Math.random, gitlab } = options;
  const state: RouterState = {
    ...{ schema, clock, random, gitlab, pools: new Map(), listeners: [], registered: new Map() },
    controllers: new Map(options.controllers.map((controller) => [controller.id, controller])),
    counters: { streams: { opened: 0, refused: 0, asked: 0 }, connections: { opened: 0 }, violations: [] },
    ...{ faults: new Faults(), conditions: new ConditionWaiters(), readAnswer: answerReader(schema) },
    findTimeoutMs: options.findTimeoutMs ?? 20_000,
    decisionTimeoutMs: options.decisionTimeoutMs ?? 10_000,
  };
  const { controllers, conditions, pools, listeners, counters } = state;
  const encode = questionEncoder(schema.question, false);
  const admit = async (job: JobQuestion, ask: AskOptions = {}): Promise<AdmissionResult> => {
    const encoded = ask.bytes ?? encode(job);
    const question = ask.append === undefined ? encoded : Buffer.concat([encoded, ask.append]);
    const result = await admitJob(state, question, ask.runnerId);
    conditions.look();
    return result;
  };
  const server = admitService(
    state,
    gitlab && ((token) => answerGetJob(token, gitlab, (question, runnerId) => admit(question, { runnerId }))),
    options.callsPerConnectionMax === undefined
      ? {}
      : { 'grpc.max_concurrent_streams': options.callsPerConnectionMax },
  );
  const { host = '127.0.0.1', tls, connectionMaxAgeMs: maxAgeMs, grpcPort = 0, wsPort = 0 } = options;
  const opened = async (port: number | 'off', open: typeof grpcListener) => {
    if (port === 'off') return undefined;
    const listener = await open(server, state, { host, port, tls, maxAgeMs });
    listeners.push(listener);
    return listener.url;
  };
  const grpcUrl = await opened(grpcPort, grpcListener);
  const wsUrl = await opened(wsPort, wsListener);

  return {
    ...{ grpcUrl, wsUrl, schema, counters, admit, encode, faults: state.faults },
    registrations: {
      present: () =>
        [...state.registered].map(([instanceId, controllerId]) => ({ instanceId, controllerId })),
    },
    waitingStreams: (id?: number): number =>
      id === undefined ? sum([...pools.values()].map((pool) => pool.size)) : poolOf(state, id).size,
    connections: () => sum(listeners.map((listener) => listener.connections())),
    until: (holds: () => boolean, condition?: AwaitedCondition) => conditions.until(holds, condition),
    changeController(id: number, change: Partial<Omit<RegisteredController, 'id'>>): void {
      const controller = controllers.get(id);
      if (controller === undefined)
        throw new Error(`no controller ${id}; the router has ${[...controllers.keys()].join(', ')}`);
      controllers.set(id, { ...controller, ...change });
    },
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
