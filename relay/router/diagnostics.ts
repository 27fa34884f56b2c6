/** Reads from Node's diagnostics channels what grpc-js does not expose. Both watch the whole process, which has one router. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';

interface Watch<T> {
  current(): T;
  stop(): void;
}

/**
 * Counts calls beyond MAX_CONCURRENT_STREAMS of their connection. Node holds them back until another call ends, so the
 * router cannot pick them.
 */
export function watchQueuedCalls(path: string): Watch<number> {
  const calls = new Map<ClientHttp2Session, number>();
  const created = (message: unknown): void => {
    const { stream, headers } = message as { stream: ClientHttp2Stream; headers: OutgoingHttpHeaders };
    const session = stream.session as ClientHttp2Session | undefined;
    if (session === undefined || headers[':path'] !== path) return;
    calls.set(session, (calls.get(session) ?? 0) + 1);
    stream.once('close', () => {
      const left = (calls.get(session) ?? 1) - 1;
      if (left > 0) calls.set(session, left);
      else calls.delete(session);
    });
  };
  subscribe('http2.client.stream.created', created);
  return {
    current() {
      let queued = 0;
      for (const [session, open] of calls)
        queued += Math.max(0, open - (session.remoteSettings?.maxConcurrentStreams ?? open));
      return queued;
    },
    stop: () => unsubscribe('http2.client.stream.created', created),
  };
}

/** Keeps a proxy's last answer to `CONNECT hostPort`: the HTTP status, or the error of the connection to it. */
export function watchProxy(hostPort: string): Watch<number | string | undefined> {
  let last: number | string | undefined;
  const created = (message: unknown): void => {
    const { request } = message as { request: ClientRequest };
    if (request.method !== 'CONNECT' || request.path !== hostPort) return;
    request.once('connect', ({ statusCode }: IncomingMessage) => {
      last = statusCode === 200 ? undefined : statusCode;
    });
    request.once('error', (error) => {
      last = error.message;
    });
  };
  subscribe('http.client.request.created', created);
  return { current: () => last, stop: () => unsubscribe('http.client.request.created', created) };
}
