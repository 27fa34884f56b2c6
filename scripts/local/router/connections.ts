import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionInjector, type Server, ServerCredentials } from '@grpc/grpc-js';
import type { WebSocket } from 'ws';
import { openSplicer, type Splice, type Splicer } from './splice.ts';

/**
 * The live connections of one listener, and the ways to break them. Bytes enter the gRPC server through its
 * connection injector, so the sockets stay in our hands.
 */
export interface Connections {
  readonly size: number;
  readonly stalled: boolean;
  /** Remembers an accepted TCP socket until it closes. */
  track(socket: Socket): void;
  /** Hands a byte stream that speaks HTTP/2 to the gRPC server; `carrier` is the TCP connection it came over. */
  inject(stream: Duplex, carrier: Socket): void;
  /** The same for a WebSocket whose binary messages carry the bytes. */
  injectTunnel(tunnel: WebSocket, carrier: Socket): void;
  /** Sends TCP RST on every connection, or on the one under the call with this peer; the number of them. */
  reset(peer?: string): number;
  /** GOAWAY on every connection; open streams go on for at most `graceMs`, new calls need a new connection. */
  goAway(graceMs: number): void;
  /** Swallows all bytes, also of new connections, until released. */
  stall(on: boolean): void;
  close(): void;
}

/** `stallable` puts a tap into every connection, which costs throughput. */
export async function openConnections(server: Server, stallable: boolean): Promise<Connections> {
  const newInjector = () => server.createConnectionInjector(ServerCredentials.createInsecure());
  let injector: ConnectionInjector = newInjector();
  const splicer: Splicer = await openSplicer((socket) => {
    socket.on('error', () => {});
    injector.injectConnection(socket);
  });
  const sockets = new Set<Socket>();
  /** The spliced streams with the peer of their carrier, because gRPC sees only the inner hop. */
  const splices = new Map<Splice, string>();
  let stalled = false;

  const carriedBy = (peer: string): string => {
    for (const [splice, carrier] of splices) if (splice.peer() === peer) return carrier;
    return peer;
  };

  return {
    get size() {
      return sockets.size;
    },
    get stalled() {
      return stalled;
    },
    track(socket) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // A reset connection is an everyday event here; whoever reads it learns of it elsewhere.
      socket.on('error', () => {});
    },
    injectTunnel(tunnel, carrier) {
      tunnel.on('error', () => {});
      const splice = splicer.spliceTunnel(tunnel);
      splices.set(splice, peerOf(carrier));
      tunnel.on('close', () => splices.delete(splice));
      if (stalled) splice.close();
    },
    inject(stream, carrier) {
      stream.on('error', () => {});
      if (stream instanceof Socket && !stallable) {
        injector.injectConnection(stream);
        return;
      }
      const splice = splicer.splice(stream);
      splices.set(splice, peerOf(carrier));
      stream.on('close', () => splices.delete(splice));
      if (stalled) splice.close();
    },
    reset(peer) {
      const wanted = peer === undefined ? undefined : carriedBy(peer);
      const hit = [...sockets].filter((socket) => wanted === undefined || peerOf(socket) === wanted);
      for (const socket of hit) socket.resetAndDestroy();
      return hit.length;
    },
    goAway(graceMs) {
      const old = injector;
      injector = newInjector();
      old.drain(graceMs);
    },
    stall(on) {
      if (!stallable) throw new Error('connections cannot stall; start the router with { stallable: true }');
      stalled = on;
      for (const splice of splices.keys()) {
        if (on) splice.close();
        else splice.open();
      }
    },
    close() {
      for (const socket of sockets) socket.destroy();
      splicer.close();
      injector.destroy();
    },
  };
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;
