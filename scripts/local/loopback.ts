import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { serve } from '@hono/node-server';

export function serveOnLoopback(
  app: { fetch(request: Request): Response | Promise<Response> },
  wantedPort = 0,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    const server = serve(
      { fetch: (request) => app.fetch(request), hostname: '127.0.0.1', port: wantedPort },
      ({ port }) =>
        resolve({
          url: `http://127.0.0.1:${port}`,
          stop: () =>
            new Promise((stopped) => {
              server.close(() => stopped());
              // Idle keep-alive connections would keep it open.
              if ('closeAllConnections' in server) server.closeAllConnections();
            }),
        }),
    );
    server.once('error', reject);
  });
}

export async function loopbackPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
