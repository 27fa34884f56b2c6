import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionInjector, type Server, ServerCredentials } from '@grpc/grpc-js';
import type { WebSocket } from 'ws';
import type { RouterClock } from '../clock/clock.ts';
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

/** Longer than any run: streams on a connection of age go on until they end. */
const AGED_GRACE_MS = 2 ** 31 - 1;

interface ConnectionsOptions {
  /** Puts a tap into every connection, which costs throughput. */
  readonly stallable: boolean;
  /** Age at which a connection gets GOAWAY, by `clock`. */
  readonly maxAgeMs: number | undefined;
  readonly clock: RouterClock;
}

export async function openConnections(
  server: Server,
  { stallable, maxAgeMs, clock }: ConnectionsOptions,
): Promise<Connections> {
  const newInjector = () => server.createConnectionInjector(ServerCredentials.createInsecure());
  let injector: ConnectionInjector = newInjector();
  /** One per connection where they age: GOAWAY goes to all connections of an injector. */
  const aging = new Set<ConnectionInjector>();
  const enter = (socket: Socket): void => {
    if (maxAgeMs === undefined) {
      injector.injectConnection(socket);
      return;
    }
    const own = newInjector();
    aging.add(own);
    const cancelAge = clock.after(maxAgeMs, () => own.drain(AGED_GRACE_MS));
    socket.on('close', () => {
      cancelAge();
      aging.delete(own);
      own.destroy();
    });
    own.injectConnection(socket);
  };
  const splicer: Splicer = await openSplicer((socket) => {
    socket.on('error', () => {});
    enter(socket);
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
        enter(stream);
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
      for (const one of [old, ...aging]) one.drain(graceMs);
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
      for (const one of [injector, ...aging]) one.destroy();
    },
  };
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;
