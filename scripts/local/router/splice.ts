import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/**
 * Joins any byte stream to a native socket by a hop over loopback. Node's HTTP/2 is only safe on native sockets: on
 * a stream written in JavaScript (a WebSocket's) it ends the process with a failed assertion when the peer resets.
 */
export interface Splicer {
  splice(outside: Duplex): Splice;
  /** The same for the bytes inside a WebSocket's binary messages, without a stream in between. */
  spliceTunnel(outside: WebSocket): Splice;
  close(): void;
}

/** A joined stream with a tap: closed, bytes stop both ways and nothing ends, like a network that swallows. */
export interface Splice {
  /** address:port under which the inside sees this stream, once connected. */
  readonly peer: () => string;
  open(): void;
  close(): void;
}

const LOOPBACK = '127.0.0.1';

/** Every spliced stream arrives at `onSocket` as a native socket. */
export async function openSplicer(onSocket: (socket: Socket) => void): Promise<Splicer> {
  const server = createServer({ noDelay: true }, onSocket);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    splice: (outside) => spliceTo(outside, connect({ host: LOOPBACK, port, noDelay: true })),
    spliceTunnel: (outside) => spliceTunnelTo(outside, connect({ host: LOOPBACK, port, noDelay: true })),
    close: () => server.close(),
  };
}

function spliceTo(outside: Duplex, inside: Socket): Splice {
  for (const [one, other] of [
    [outside, inside],
    [inside, outside],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  let flowing = false;
  const splice: Splice = {
    peer: () => `${LOOPBACK}:${inside.localPort}`,
    open() {
      if (flowing) return;
      flowing = true;
      outside.pipe(inside);
      inside.pipe(outside);
    },
    close() {
      flowing = false;
      outside.unpipe(inside);
      inside.unpipe(outside);
      outside.pause();
      inside.pause();
    },
  };
  splice.open();
  return splice;
}

function spliceTunnelTo(outside: WebSocket, inside: Socket): Splice {
  outside.on('message', (bytes: Buffer, isBinary: boolean) => {
    // Text is no part of the tunnel; the listener closes on it.
    if (isBinary && !inside.write(bytes)) outside.pause();
  });
  inside.on('drain', () => outside.resume());
  inside.on('data', (bytes: Buffer) => outside.send(bytes));
  outside.on('error', () => inside.destroy());
  outside.on('close', () => inside.destroy());
  inside.on('error', () => outside.terminate());
  inside.on('close', () => outside.terminate());
  return {
    peer: () => `${LOOPBACK}:${inside.localPort}`,
    open() {
      outside.resume();
      inside.resume();
    },
    close() {
      outside.pause();
      inside.pause();
    },
  };
}
