/**
 * gRPC inside a WebSocket, by public APIs only: grpc-js dials a unix socket in a private folder, and each connection it
 * makes is spliced to one WebSocket of the router. Node's HTTP/2 keeps a native socket that way, which is what makes
 * this faster than handing it a JavaScript stream.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { WebSocket } from 'ws';
import { RelayError } from '../relay-error.ts';
import type { TokenSource } from '../token.ts';
import { type DialFailure, isRefusal } from './dial-failure.ts';
import type { TlsMaterial } from './tls.ts';

/** What GitLab's router speaks; the WebSocket carries plain HTTP/2. */
const SUBPROTOCOL = 'ws-tunnel';
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Bytes waiting to go out before the other end is asked to pause: some frames of HTTP/2, not a queue. */
const BUFFERED_BYTES_HIGH = 1024 * 1024;
/** grpc-js redials every few seconds by itself; a refused token is not shown to the router again that soon. */
const REFUSED_HOLD_MS = 25_000;
/** One connection, its successor after GOAWAY, and room for both to change again. */
const CONNECTIONS_MAX = 16;
/** The smallest of the platforms' limits (macOS), less the closing zero. */
const SOCKET_PATH_BYTES_MAX = 103;
const UNSUPPORTED_DATA = 1003;

interface TunnelOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly userAgent: string;
  readonly tls: TlsMaterial;
  /** Where the socket's private folder is made. @default the system's temporary folder */
  readonly socketDir?: string;
  readonly messageBytesMax: number;
  /** The HTTP proxy for an http(s) URL, empty for none. @default HTTP(S)_PROXY and NO_PROXY */
  readonly proxyFor?: (httpUrl: string) => string;
  readonly monotonicMs?: () => number;
}

export interface Tunnel {
  /** What grpc-js dials: `unix:/…`. */
  readonly address: string;
  /** Why the last dial failed; undefined once one has worked, or while a refused token has a successor to be tried. */
  failure(): DialFailure | undefined;
  close(): void;
}

/** @throws {RelayError} `config_invalid`: no socket can be made in `socketDir`. */
export function openTunnel(options: TunnelOptions): Tunnel {
  const { dir, path } = privateSocketPath(options.socketDir ?? tmpdir());
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const proxyFor = options.proxyFor ?? getProxyForUrl;
  const sockets = new Set<Socket>();
  let failure: DialFailure | undefined;
  let refused: { readonly token: string; readonly untilMs: number } | undefined;

  const tokenNow = (): string | undefined => {
    try {
      return options.token.read();
    } catch {
      return undefined;
    }
  };
  /** It was of a token, or the want of one, and there is another now. */
  const isOutdated = (): boolean => {
    if (failure?.kind === 'token') return tokenNow() !== undefined;
    return refused !== undefined && refused.token !== tokenNow();
  };

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Every failure also closes the socket, which is what grpc-js acts on.
    socket.on('error', () => {});
    let token: string;
    try {
      token = options.token.read();
    } catch (error) {
      failure = { kind: 'token', message: messageOf(error) };
      socket.destroy();
      return;
    }
    if (refused?.token === token && monotonicMs() < refused.untilMs) {
      socket.destroy();
      return;
    }
    const ws = dial(options, token, proxyFor(options.url.replace(/^ws/, 'http')));
    const failed = (why: DialFailure): void => {
      failure = why;
      refused = isRefusal(why) ? { token, untilMs: monotonicMs() + REFUSED_HOLD_MS } : undefined;
      if (isRefusal(why)) options.token.refresh();
    };
    splice(socket, ws, failed, () => {
      failure = undefined;
      refused = undefined;
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('error', (error) => {
    failure = { kind: 'network', code: codeOf(error), message: `the tunnel's socket: ${error.message}` };
  });
  server.listen(path);

  return {
    address: `unix:${path}`,
    failure: () => (isOutdated() ? undefined : failure),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function privateSocketPath(parent: string): { readonly dir: string; readonly path: string } {
  const longest = join(parent, 'tollgate-XXXXXX', 'router.sock');
  if (Buffer.byteLength(longest) > SOCKET_PATH_BYTES_MAX) {
    throw new RelayError(
      'config_invalid',
      `socket folder ${parent} makes a path of ${Buffer.byteLength(longest)} bytes, a unix socket takes ${SOCKET_PATH_BYTES_MAX}; name a shorter folder`,
    );
  }
  try {
    // mkdtemp makes it 0700: nobody else may speak through our tunnel with our token.
    const dir = mkdtempSync(join(parent, 'tollgate-'));
    return { dir, path: join(dir, 'router.sock') };
  } catch (cause) {
    throw new RelayError(
      'config_invalid',
      `no folder can be made in ${parent}; ws:// and wss:// need a writable one`,
      { cause },
    );
  }
}

function dial(options: TunnelOptions, token: string, proxy: string): WebSocket {
  return new WebSocket(options.url, [SUBPROTOCOL], {
    headers: { Authorization: `Bearer ${token}`, 'User-Agent': options.userAgent },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: options.messageBytesMax,
    perMessageDeflate: false,
    ...options.tls,
    ...(proxy === '' ? {} : { agent: new HttpsProxyAgent(proxy) }),
  });
}

/** Ties the two ends together: what one says the other hears, and neither outlives the other. */
function splice(socket: Socket, ws: WebSocket, failed: (why: DialFailure) => void, opened: () => void): void {
  ws.on('open', () => {
    opened();
    socket.resume();
  });
  socket.on('data', (chunk: Buffer) => {
    if (ws.bufferedAmount + chunk.length <= BUFFERED_BYTES_HIGH) {
      ws.send(chunk);
      return;
    }
    socket.pause();
    ws.send(chunk, () => socket.resume());
  });
  ws.on('message', (frame: Buffer, isBinary: boolean) => {
    if (!isBinary) {
      failed({
        kind: 'network',
        code: 'TEXT_FRAME',
        message: 'the router sent a text frame; is this a job router?',
      });
      ws.close(UNSUPPORTED_DATA, 'binary frames only');
      socket.destroy();
      return;
    }
    if (!socket.write(frame)) ws.pause();
  });
  socket.on('drain', () => ws.resume());
  ws.on('unexpected-response', (_request, response) => {
    failed({ kind: 'http', httpStatus: response.statusCode ?? 0 });
    response.destroy();
    socket.destroy();
    ws.terminate();
  });
  ws.on('error', (error) => {
    // terminate() during the handshake raises an error of its own: the first cause is the one to keep.
    if (!socket.destroyed) failed({ kind: 'network', code: codeOf(error), message: error.message });
    socket.destroy();
  });
  ws.on('close', () => socket.destroy());
  socket.on('close', () => ws.terminate());
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '');
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
