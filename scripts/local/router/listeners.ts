import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { type ConnectionInjector, type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RouterState } from './admission.ts';

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string } | undefined;
  readonly maxAgeMs: number | undefined;
}

export type Listener = Awaited<ReturnType<typeof listen>>;

const LOOPBACK = '127.0.0.1';
const WS_MESSAGE_BYTES_MAX = 10 * 1024 * 1024;
const SUBPROTOCOL = 'ws-tunnel';
const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_UNSUPPORTED = 1003;
const AGED_GRACE_MS = 2 ** 31 - 1;

type Listen = (server: GrpcServer, state: RouterState, options: ListenerOptions) => Promise<Listener>;

export const grpcListener: Listen = async (server, state, options) => {
  const onSocket = grpcEntrance(server, state, options);
  const tcp =
    options.tls === undefined
      ? createTcpServer({ noDelay: true }, onSocket)
      : createTlsServer({ ...options.tls, ALPNProtocols: ['h2'], noDelay: true }, onSocket);
  return listen(tcp, options.tls === undefined ? 'grpc' : 'grpcs', new Map(), options, () =>
    noteConnection(state),
  );
};

export const wsListener: Listen = async (server, state, options) => {
  const { violations } = state.counters;
  const http = options.tls === undefined ? createHttpServer() : createHttpsServer({ ...options.tls });
  const upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: WS_MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  /** The carrying TCP socket by the address of the inner hop, which is the peer that gRPC sees. */
  const carriers = new Map<string, Socket>();
  // Node's HTTP/2 is only safe on native sockets: on a stream written in JavaScript it ends the process with a failed
  // assertion when the peer resets. So the bytes inside WebSockets take a hop over loopback.
  const hop = createTcpServer({ noDelay: true }, grpcEntrance(server, state, options));
  await listenOn(hop, LOOPBACK, 0);
  const hopPort = portOf(hop);
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrades.handleUpgrade(request, socket, head, (tunnel) => {
      if (tunnel.protocol !== SUBPROTOCOL) {
        violations.push('wrong_subprotocol');
        tunnel.close(CLOSE_PROTOCOL_ERROR, `the subprotocol must be ${SUBPROTOCOL}`);
        return;
      }
      tunnel.on('message', (_bytes, isBinary) => {
        if (isBinary) return;
        violations.push('text_frame');
        tunnel.close(CLOSE_UNSUPPORTED, 'only binary messages');
      });
      const inside = joinTunnel(tunnel, hopPort);
      inside.on('connect', () => {
        const peer = `${LOOPBACK}:${inside.localPort}`;
        carriers.set(peer, request.socket);
        inside.on('close', () => carriers.delete(peer));
      });
    });
  });
  const listener = await listen(http, options.tls === undefined ? 'ws' : 'wss', carriers, options, () =>
    noteConnection(state),
  );
  return {
    ...listener,
    close() {
      listener.close();
      hop.close();
    },
  };
};

function noteConnection({ counters, conditions }: RouterState): void {
  counters.connections.opened += 1;
  conditions.look();
}

function grpcEntrance(server: GrpcServer, { clock }: RouterState, { maxAgeMs }: ListenerOptions) {
  const newInjector = (): ConnectionInjector =>
    server.createConnectionInjector(ServerCredentials.createInsecure());
  const shared = newInjector();
  return (socket: Socket): void => {
    socket.on('error', () => {});
    if (maxAgeMs === undefined) {
      shared.injectConnection(socket);
      return;
    }
    // GOAWAY goes to all connections of an injector, so an aging connection has its own.
    const own = newInjector();
    const cancelAge = clock.after(maxAgeMs, () => own.drain(AGED_GRACE_MS));
    socket.on('close', () => {
      cancelAge();
      own.destroy();
    });
    own.injectConnection(socket);
  };
}

function joinTunnel(tunnel: WebSocket, port: number): Socket {
  const inside = connect({ host: LOOPBACK, port, noDelay: true });
  tunnel.on('message', (bytes: Buffer, isBinary: boolean) => {
    if (isBinary && !inside.write(bytes)) tunnel.pause();
  });
  inside.on('drain', () => tunnel.resume());
  inside.on('data', (bytes: Buffer) => tunnel.send(bytes));
  tunnel.on('error', () => inside.destroy());
  tunnel.on('close', () => inside.destroy());
  inside.on('error', () => tunnel.terminate());
  inside.on('close', () => tunnel.terminate());
  return inside;
}

async function listen(
  server: TcpServer,
  scheme: string,
  carriers: ReadonlyMap<string, Socket>,
  { host, port }: ListenerOptions,
  onConnection: () => void,
) {
  const sockets = new Set<Socket>();
  // For TLS servers this is the raw socket, the only one that can be reset.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection();
  });
  await listenOn(server, host, port);
  const ownPort = portOf(server);
  const reset = (peer?: string): number => {
    const carrier = peer === undefined ? undefined : carriers.get(peer);
    const hit = [...sockets].filter(
      (socket) => peer === undefined || socket === carrier || peerOf(socket) === peer,
    );
    for (const socket of hit) socket.resetAndDestroy();
    return hit.length;
  };
  return {
    url: `${scheme}://${host}:${ownPort}`,
    connections: () => sockets.size,
    reset,
    start: () => listenOn(server, host, ownPort),
    stop: () =>
      new Promise<void>((resolve) => {
        if (!server.listening) return resolve();
        server.close(() => resolve());
        reset();
      }),
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listenOn(server: TcpServer, host: string, port: number): Promise<void> {
  await once(server.listen(port, host), 'listening');
}

const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;
