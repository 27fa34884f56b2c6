import { serve } from '@hono/node-server';

/** An app behind a socket of its own, on loopback. */
export interface LoopbackServer {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  stop(): Promise<void>;
}

/** Listens on any free port. */
export function serveOnLoopback(app: {
  fetch(request: Request): Response | Promise<Response>;
}): Promise<LoopbackServer> {
  return new Promise((resolve) => {
    const server = serve(
      { fetch: (request) => app.fetch(request), hostname: '127.0.0.1', port: 0 },
      ({ port }) =>
        resolve({
          url: `http://127.0.0.1:${port}`,
          stop: () =>
            new Promise((stopped) => {
              server.close(() => stopped());
              // Idle keep-alive connections would hold it open.
              if ('closeAllConnections' in server) server.closeAllConnections();
            }),
        }),
    );
  });
}
