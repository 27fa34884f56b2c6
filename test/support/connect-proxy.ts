import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/**
 * An HTTP proxy that only knows CONNECT, and remembers where to.
 *
 * @param options - `leadsTo`: the port here that it connects to, whatever was asked for.
 */
export async function startConnectProxy({
  credentials,
  leadsTo,
}: {
  readonly credentials?: string;
  readonly leadsTo?: number;
} = {}) {
  const targets: string[] = [];
  const wanted =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer();
  server.on('connect', (request, client, head) => {
    client.on('error', () => client.destroy());
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    targets.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(leadsTo ?? Number(port), leadsTo === undefined ? hostname : '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    const end = (): void => {
      upstream.destroy();
      client.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.on('error', end);
      socket.on('close', end);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
