/**
 * Carries gRPC inside a WebSocket, with public APIs only. grpc-js dials a unix socket in a private folder, and each of its
 * connections gets one WebSocket to the router. Node's HTTP/2 then has a native socket, which is faster than a JavaScript stream.
 *
 * grpc-js redials every second. After a failure the tunnel holds its connections until a call wants one, so the router sees one
 * dial per probe of the pool.
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
import { httpFailure, networkFailure, type RouterFailure, STATUS } from './router.ts';
import type { TlsMaterial } from './target.ts';

/** GitLab's subprotocol: plain HTTP/2 in the frames. */
const SUBPROTOCOL = 'ws-tunnel';
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Unsent bytes before the other end must pause: some frames of HTTP/2, not a queue. */
const BUFFERED_BYTES_HIGH = 1024 * 1024;
/** More than one connection, its successor after GOAWAY, and both of these again. */
const CONNECTIONS_MAX = 16;
const UNSUPPORTED_DATA = 1003;
/** After `close`, buffered bytes have this long to be sent. */
const FLUSH_MS_MAX = 1_000;

interface TunnelOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly userAgent: string;
  readonly tls: TlsMaterial;
  readonly messageBytesMax: number;
  readonly failed: (failure: RouterFailure) => void;
}

export type Tunnel = ReturnType<typeof openTunnel>;

/** @throws {RelayError} `config_invalid`: no socket can be made in the system's temporary folder. */
export function openTunnel(options: TunnelOptions) {
  const { url } = options;
  const { dir, path } = privateSocketPath(tmpdir());
  const sockets = new Set<Socket>();
  const held = new Set<Socket>();
  let holds = false;
  let failure: RouterFailure | undefined;

  const failed = (why: RouterFailure): void => {
    failure = why;
    holds = true;
    if (why.code === STATUS.UNAUTHENTICATED || why.code === STATUS.PERMISSION_DENIED) options.token.refresh();
    options.failed(why);
  };
  const opened = (): void => {
    failure = undefined;
    holds = false;
  };
  const dialFor = (socket: Socket): void => {
    let token: string;
    try {
      token = options.token.read();
    } catch (error) {
      socket.destroy();
      queueMicrotask(() => failed({ code: STATUS.UNAUTHENTICATED, details: messageOf(error) }));
      return;
    }
    const proxy = getProxyForUrl(url.replace(/^ws/, 'http'));
    const address = proxy === '' ? url : `${url} through the proxy ${URL.parse(proxy)?.host ?? ''}`;
    tie(socket, dial(options, token, proxy), { address, failed, opened });
  };

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      held.delete(socket);
    });
    // Every failure also closes the socket, which grpc-js handles.
    socket.on('error', () => {});
    if (holds) held.add(socket);
    else dialFor(socket);
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('error', (error) => failed(networkFailure("the tunnel's socket", error)));
  server.listen(path);

  return {
    address: `unix:${path}`,
    failure: (): RouterFailure | undefined => failure,
    want(): void {
      holds = false;
      for (const socket of held) dialFor(socket);
      held.clear();
    },
    close(): void {
      server.close();
      for (const socket of held) socket.destroy();
      // grpc-js closes the others once it has flushed them.
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, FLUSH_MS_MAX).unref();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function privateSocketPath(parent: string): { readonly dir: string; readonly path: string } {
  try {
    // mkdtemp sets 0700, so no other user can use the tunnel with the relay's token.
    const dir = mkdtempSync(join(parent, 'tollgate-'));
    return { dir, path: join(dir, 'router.sock') };
  } catch (cause) {
    const problem = `no folder can be made in ${parent}; ws:// and wss:// need a writable one`;
    throw new RelayError('config_invalid', problem, { cause });
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

function tie(
  socket: Socket,
  ws: WebSocket,
  report: {
    readonly address: string;
    readonly failed: (why: RouterFailure) => void;
    readonly opened: () => void;
  },
): void {
  const { address, failed, opened } = report;
  let failure: RouterFailure | undefined;
  /** Keeps the first cause, because ending a handshake raises another error. */
  const fail = (why: RouterFailure): void => {
    if (failure !== undefined || socket.destroyed) return;
    failure = why;
    failed(why);
  };
  const forward = (chunk: Buffer): void => {
    if (ws.bufferedAmount + chunk.length <= BUFFERED_BYTES_HIGH) {
      ws.send(chunk);
      return;
    }
    socket.pause();
    ws.send(chunk, () => socket.resume());
  };
  ws.on('open', () => {
    opened();
    socket.on('data', forward);
    socket.resume();
  });
  ws.on('message', (frame: Buffer, isBinary: boolean) => {
    if (!isBinary) {
      fail(networkFailure(address, { message: 'the router sent a text frame; is this a job router?' }));
      ws.close(UNSUPPORTED_DATA, 'binary frames only');
      socket.end();
      return;
    }
    if (socket.writable && !socket.write(frame)) ws.pause();
  });
  socket.on('drain', () => ws.resume());
  ws.on('unexpected-response', (_request, response) => {
    fail(httpFailure(address, response.statusCode ?? 0, 'the WebSocket upgrade'));
    response.destroy();
    ws.terminate();
  });
  ws.on('error', (error) => fail(networkFailure(address, error)));
  ws.on('close', () => {
    socket.off('data', forward);
    // A paused socket would not notice that grpc-js closed its end.
    socket.resume();
    socket.end();
  });
  socket.on('end', () => ws.close());
  socket.on('close', () => ws.close());
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
