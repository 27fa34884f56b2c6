/** AdmitJob and registration over grpc-js, with the values of GitLab Runner's client. No other file knows gRPC. */
import {
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import type { TokenSource } from '../token.ts';
import { encodeKnown, type WireSchema } from '../wire/schema.ts';
import {
  type AdmitCall,
  type AdmitCallListener,
  callFailure,
  type Router,
  type RouterFailure,
  RouterStatus,
  STATUS,
} from './router.ts';
import { type RouterTarget, readTls, type TlsFiles, type TlsMaterial } from './target.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

/** "matches kas limit" says GitLab Runner. */
const ROUTER_MESSAGE_BYTES_MAX = 10 * 1024 * 1024;
/** A dead connection is noticed by the next ping, and brings no request until then. */
const KEEPALIVE_MS = 25_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** HTTP/2's 64 KB hold some thirty requests. A larger burst would wait for acknowledgements. */
const FLOW_CONTROL_BYTES = 1024 * 1024;
const RECONNECT_MS_MIN = 100;
/** Short, because calls fail while the channel waits. The pool has a longer backoff. */
const RECONNECT_MS_MAX = 1_000;
/** By default grpc-js would find a router at a new address only after 30 s. */
const RESOLVE_EVERY_MS_MIN = 1_000;

/** @see https://github.com/grpc/grpc-node/tree/master/packages/grpc-js#supported-channel-options */
const channelOptions = (numbers: RouterOptions): Readonly<Record<string, string | number>> => ({
  'grpc.primary_user_agent': numbers.userAgent,
  'grpc.keepalive_time_ms': numbers.keepaliveMs ?? KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': numbers.keepaliveTimeoutMs ?? KEEPALIVE_TIMEOUT_MS,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_receive_message_length': numbers.messageBytesMax ?? ROUTER_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': numbers.messageBytesMax ?? ROUTER_MESSAGE_BYTES_MAX,
  'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
  'grpc.initial_reconnect_backoff_ms': RECONNECT_MS_MIN,
  'grpc.max_reconnect_backoff_ms': numbers.reconnectMsMax ?? RECONNECT_MS_MAX,
  'grpc.dns_min_time_between_resolutions_ms': RESOLVE_EVERY_MS_MIN,
  // With a retry buffer an answer would count as written before it was sent.
  'grpc.per_rpc_retry_buffer_size': 0,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // A TXT record must not change the service configuration.
  'grpc.service_config_disable_resolution': 1,
  // Two routers in one process need two connections.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
});

const UNARY_DEADLINE_MS = 10_000;
/** A revoked token or another controller's may be the cause. */
const OF_TOKEN: ReadonlySet<number> = new Set([
  STATUS.UNAUTHENTICATED,
  STATUS.PERMISSION_DENIED,
  STATUS.NOT_FOUND,
]);

export interface RouterOptions {
  readonly target: RouterTarget;
  readonly schema: WireSchema;
  readonly token: TokenSource;
  readonly tls?: TlsFiles;
  readonly userAgent: string;
  readonly version?: string;
  /** @default 10 MiB both ways */
  readonly messageBytesMax?: number;
  /** @default 25 s; a router closes connections that ping more often than every 20 s */
  readonly keepaliveMs?: number;
  readonly keepaliveTimeoutMs?: number;
  readonly reconnectMsMax?: number;
}

/**
 * Connects with the first call and reconnects on its own. Throws nothing later.
 *
 * @throws {RelayError} `config_invalid`: TLS files or the socket folder.
 */
export const createRouter = (options: RouterOptions): Router => new GrpcRouter(options);

class GrpcRouter implements Router {
  readonly #client: Client;
  readonly #tunnel: Tunnel | undefined;
  readonly #options: RouterOptions;
  readonly #tls: TlsMaterial;
  readonly #unconnected = new Set<GrpcAdmitCall>();
  #ready = false;
  #closed = false;
  #token = '';
  #metadata = new Metadata();

  constructor(options: RouterOptions) {
    this.#options = options;
    const { target } = options;
    this.#tls = readTls(options.tls);
    if (target.tunnel) {
      this.#tunnel = openTunnel({
        url: target.url,
        token: options.token,
        userAgent: options.userAgent,
        tls: this.#tls,
        messageBytesMax: options.messageBytesMax ?? ROUTER_MESSAGE_BYTES_MAX,
        failed: (failure) => this.#dialFailed(failure),
      });
    }
    this.#client = this.#newClient();
    this.#watchConnection();
  }

  admitJob(listener: AdmitCallListener): AdmitCall {
    if (this.#closed) return unopenedCall(listener, STATUS.UNAVAILABLE, 'the router client is closed');
    const metadata = this.#authenticated();
    if (typeof metadata === 'string') return unopenedCall(listener, STATUS.UNAUTHENTICATED, metadata);
    // The call must fail with its own dial, not with the one before.
    metadata.setOptions({ waitForReady: this.#tunnel?.failure() !== undefined });
    const stream = this.#client.makeBidiStreamRequest(
      this.#options.schema.admitJobPath,
      asBuffer,
      asIs,
      metadata,
    );
    const call = new GrpcAdmitCall(stream, listener, this.#ended);
    if (this.#ready) listener.onWaiting();
    else this.#unconnected.add(call);
    this.#tunnel?.want();
    return call;
  }

  register(instanceId: bigint): Promise<void> {
    return this.#announce(this.#options.schema.registerPath, 'AgentRegistrar.Register', instanceId);
  }

  unregister(instanceId: bigint): Promise<void> {
    return this.#announce(this.#options.schema.unregisterPath, 'AgentRegistrar.Unregister', instanceId);
  }

  close(): void {
    this.#closed = true;
    this.#client.close();
    this.#tunnel?.close();
  }

  #newClient(): Client {
    const { target } = this.#options;
    if (this.#tunnel !== undefined) {
      // wss has TLS around the whole tunnel.
      return new Client(this.#tunnel.address, credentials.createInsecure(), {
        ...channelOptions(this.#options),
        'grpc.default_authority': target.authority,
        'grpc.enable_http_proxy': 0,
      });
    }
    const address = target.host.includes(':') ? `[${target.host}]` : target.host;
    const { ca, key, cert } = this.#tls;
    return new Client(
      `dns:${address}:${target.port}`,
      target.secure ? credentials.createSsl(ca, key, cert) : credentials.createInsecure(),
      channelOptions(this.#options),
    );
  }

  readonly #ended = (call: GrpcAdmitCall, listener: AdmitCallListener, status: StatusObject): void => {
    this.#unconnected.delete(call);
    if (status.code === STATUS.OK) listener.onEnd(status.code, status.details);
    else {
      const { code, details, remedy } = this.#explained(status, call.peer);
      listener.onEnd(code, details, remedy);
    }
  };

  #dialFailed({ code, details, remedy }: RouterFailure): void {
    const calls = [...this.#unconnected];
    this.#unconnected.clear();
    for (const call of calls) call.fail(code, details, remedy);
  }

  #explained(status: { readonly code: number; readonly details: string }, peer = ''): RouterFailure {
    if (OF_TOKEN.has(status.code)) this.#options.token.refresh();
    const failure = status.code === STATUS.UNAVAILABLE ? this.#tunnel?.failure() : undefined;
    if (failure !== undefined) return failure;
    const { url, tunnel } = this.#options.target;
    return callFailure(url, tunnel ? '' : peer, status);
  }

  /** Returns the metadata of a call, or the problem with the token. gRPC copies metadata, so one serves until the token changes. */
  #authenticated(): Metadata | string {
    let token: string;
    try {
      token = this.#options.token.read();
    } catch (error) {
      this.#token = '';
      return error instanceof Error ? error.message : String(error);
    }
    if (token !== this.#token) {
      this.#metadata = new Metadata();
      this.#metadata.set('authorization', `Bearer ${token}`);
      this.#metadata.set('gitlab-agent-type', 'runnerc');
      this.#token = token;
    }
    return this.#metadata;
  }

  async #announce(path: string | undefined, method: string, instanceId: bigint): Promise<void> {
    const desc = this.#options.schema.registerRequest;
    if (path === undefined || desc === undefined)
      throw new RouterStatus(STATUS.UNIMPLEMENTED, `the schema has no ${method}`);
    const metadata = this.#authenticated();
    if (typeof metadata === 'string') throw new RouterStatus(STATUS.UNAUTHENTICATED, metadata);
    // Field names from before and after GitLab split the registrar from the Kubernetes agent. The schema has one set.
    const meta = { version: this.#options.version ?? '', git_ref: '', architecture: process.arch };
    const ids = { instance_id: instanceId, pod_id: instanceId };
    const request = encodeKnown(desc, { meta, agent_meta: meta, ...ids });
    const deadline = Date.now() + UNARY_DEADLINE_MS;
    // The connection of the streams may be full, so the call has a connection of its own.
    const client = this.#newClient();
    this.#tunnel?.want();
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null): void => {
        client.close();
        if (error === null) {
          resolve();
          return;
        }
        const { code, details, remedy } = this.#explained(error);
        reject(new RouterStatus(code, details, remedy));
      };
      client.makeUnaryRequest(path, asBuffer, asIs, request, metadata, { deadline }, done);
    });
  }

  /** One watcher for all calls. Calls made without a connection count as waiting once there is one. */
  #watchConnection(): void {
    if (this.#closed) return;
    const channel = this.#client.getChannel();
    const state = channel.getConnectivityState(false);
    this.#ready = state === connectivityState.READY;
    if (this.#ready) {
      const calls = [...this.#unconnected];
      this.#unconnected.clear();
      for (const call of calls) call.connected();
    }
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => this.#watchConnection());
  }
}

type Ended = (call: GrpcAdmitCall, listener: AdmitCallListener, status: StatusObject) => void;

/** The text of grpc-js for a message beyond the limit, with its size. */
const OVERSIZED = /^Received message larger than max \((\d+)/;

class GrpcAdmitCall implements AdmitCall {
  readonly #stream: ClientDuplexStream<Uint8Array, Buffer>;
  readonly #listener: AdmitCallListener;
  readonly #onEnded: Ended;
  #ended = false;

  constructor(stream: ClientDuplexStream<Uint8Array, Buffer>, listener: AdmitCallListener, onEnded: Ended) {
    this.#stream = stream;
    this.#listener = listener;
    this.#onEnded = onEnded;
    stream.on('data', this.#message);
    stream.on('status', this.#status);
    // The status reports errors. Without a listener Node would end the process.
    stream.on('error', ignored);
  }

  answer(bytes: Uint8Array): boolean {
    if (this.#ended) return false;
    this.#stream.end(bytes);
    return true;
  }

  cancel(): void {
    if (!this.#ended) this.#stream.cancel();
  }

  connected(): void {
    if (!this.#ended) this.#listener.onWaiting();
  }

  fail(code: number, details: string, remedy: string | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream.cancel();
    this.#listener.onEnd(code, details, remedy);
  }

  get peer(): string {
    return this.#stream.getPeer().replace(/^dns:/, '');
  }

  readonly #message = (bytes: Buffer): void => {
    if (!this.#ended) this.#listener.onRequest(bytes);
  };

  readonly #status = (status: StatusObject): void => {
    if (this.#ended) return;
    // A request in the same packet as the end comes first. read() emits it.
    if (this.#stream.readableLength > 0) this.#stream.read();
    this.#ended = true;
    const oversized = status.code === STATUS.RESOURCE_EXHAUSTED ? OVERSIZED.exec(status.details) : null;
    if (oversized !== null) this.#listener.onOversized(Number(oversized[1]));
    this.#onEnded(this, this.#listener, status);
  };
}

/** A call that could not be made, e.g. without a token. It ends like one that the router refused. */
function unopenedCall(listener: AdmitCallListener, code: number, problem: string): AdmitCall {
  queueMicrotask(() => listener.onEnd(code, problem));
  return { answer: () => false, cancel: () => {} };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asIs = (bytes: Buffer): Buffer => bytes;
const ignored = (): void => {};
