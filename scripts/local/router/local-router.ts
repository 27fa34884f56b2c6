/**
 * A stand-in for GitLab's job router: the other end of AdmitJob. It behaves as the real one is known to: one question
 * per stream, random choice of stream, all controllers must admit. `faults` and the methods that break connections
 * make it misbehave.
 *
 * Unknown of the real router and chosen here: the decision timeout, the order of controllers (as listed), that a job
 * is not asked again on another stream when its stream is lost.
 */
import {
  type AdmissionResult,
  type AwaitedCondition,
  admitJob,
  newRouterState,
  poolOf,
  type RegisteredController,
  type RouterParts,
} from './admission.ts';
import { admitService } from './admit-service.ts';
import { grpcListener, wsListener } from './listeners.ts';
import { answerGetJob, type RouterJob, requestEncoder } from './messages.ts';

export interface LocalRouterOptions extends RouterParts {
  readonly host?: string;
  /** Port of the gRPC listener, 0 for any free one, `off` for none. @default 0 */
  readonly grpcPort?: number | 'off';
  readonly wsPort?: number | 'off';
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Age at which a connection gets GOAWAY, by the clock; GitLab's is about 24 min. @default never */
  readonly connectionMaxAgeMs?: number;
  readonly callsPerConnectionMax?: number;
}

export type LocalRouter = Awaited<ReturnType<typeof startLocalRouter>>;

export async function startLocalRouter(options: LocalRouterOptions) {
  const state = newRouterState(options);
  const { schema, gitlab, controllers, conditions, pools, listeners, counters } = state;
  const encode = requestEncoder(schema.request, false);
  const admit = async (
    job: RouterJob,
    more: { readonly bytes?: Uint8Array; readonly append?: Uint8Array; readonly runnerId?: number } = {},
  ): Promise<AdmissionResult> => {
    const encoded = more.bytes ?? encode(job);
    const request = more.append === undefined ? encoded : Buffer.concat([encoded, more.append]);
    const result = await admitJob(state, request, more.runnerId);
    conditions.look();
    return result;
  };
  const server = admitService(
    state,
    gitlab && ((token) => answerGetJob(token, gitlab, (request, runnerId) => admit(request, { runnerId }))),
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
      id === undefined ? sum([...pools.values()].map((pool) => pool.size())) : poolOf(state, id).size(),
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
