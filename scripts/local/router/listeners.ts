import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import type { Server as GrpcServer } from '@grpc/grpc-js';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RouterClock } from '../clock/clock.ts';
import { type Connections, openConnections } from './connections.ts';
import type { RouterCounters } from './counters.ts';

interface ListenerOptions {
  readonly host: string;
  /** 0: any free port, kept for later starts. */
  readonly port: number;
  readonly tls: ListenerTlsFiles | undefined;
  /** Puts a tap before every connection so that it can stall; costs throughput. */
  readonly stallable: boolean;
  /** Age at which a connection gets GOAWAY, by `clock`; undefined: never. */
  readonly maxAgeMs: number | undefined;
  readonly clock: RouterClock;
  readonly counters: RouterCounters;
  onConnection(): void;
}

/** PEM texts. */
export interface ListenerTlsFiles {
  readonly key: string;
  readonly cert: string;
}

export interface Listener {
  readonly url: string;
  readonly connections: Connections;
  /** Stops listening and drops every connection; the port stays ours to start on again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** GitLab's limit for one WebSocket message. */
const WS_MESSAGE_BYTES_MAX = 10 * 1024 * 1024;
const SUBPROTOCOL = 'ws-tunnel';
const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_UNSUPPORTED = 1003;

/** `grpc://` or, with TLS, `grpcs://`. */
export async function grpcListener(server: GrpcServer, options: ListenerOptions): Promise<Listener> {
  const connections = await openConnections(server, options);
  const onSocket = (socket: Socket) => connections.inject(socket, socket);
  const tcp =
    options.tls === undefined
      ? createTcpServer({ noDelay: true }, onSocket)
      : createTlsServer({ ...options.tls, ALPNProtocols: ['h2'], noDelay: true }, onSocket);
  return listen(tcp, options.tls === undefined ? 'grpc' : 'grpcs', connections, options);
}

/** `ws://` or, with TLS, `wss://`: the bytes of one HTTP/2 connection inside binary messages. */
export async function wsListener(server: GrpcServer, options: ListenerOptions): Promise<Listener> {
  const connections = await openConnections(server, options);
  const http: HttpServer =
    options.tls === undefined ? createHttpServer() : createHttpsServer({ ...options.tls });
  const upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: WS_MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A stalled router accepts the connection and then says nothing at all.
    if (connections.stalled) return;
    options.counters.connections.upgrades += 1;
    if (request.headers.authorization?.startsWith('Bearer '))
      options.counters.connections.upgradesWithToken += 1;
    upgrades.handleUpgrade(request, socket, head, (tunnel) =>
      openTunnel(tunnel, request.socket, connections, options.counters),
    );
  });
  return listen(http, options.tls === undefined ? 'ws' : 'wss', connections, options);
}

function openTunnel(
  tunnel: WebSocket,
  carrier: Socket,
  connections: Connections,
  counters: RouterCounters,
): void {
  if (tunnel.protocol !== SUBPROTOCOL) {
    counters.violations.wrong_subprotocol += 1;
    tunnel.close(CLOSE_PROTOCOL_ERROR, `the subprotocol must be ${SUBPROTOCOL}`);
    return;
  }
  tunnel.on('message', (_bytes, isBinary) => {
    if (isBinary) return;
    counters.violations.text_frame += 1;
    tunnel.close(CLOSE_UNSUPPORTED, 'only binary messages');
  });
  connections.injectTunnel(tunnel, carrier);
}

async function listen(
  server: TcpServer,
  scheme: string,
  connections: Connections,
  options: ListenerOptions,
): Promise<Listener> {
  let port = options.port;
  // For TLS servers this is the raw socket below, the only one that can be reset.
  server.on('connection', (socket: Socket) => {
    connections.track(socket);
    options.counters.connections.opened += 1;
    options.onConnection();
  });
  const start = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, options.host, () => {
        server.off('error', reject);
        const address = server.address();
        if (typeof address === 'object' && address !== null) port = address.port;
        resolve();
      });
    });
  await start();
  return {
    url: `${scheme}://${options.host}:${port}`,
    connections,
    start,
    stop: () =>
      new Promise((resolve) => {
        if (!server.listening) return resolve();
        server.close(() => resolve());
        connections.reset();
      }),
  };
}
