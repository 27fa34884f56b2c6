import { createServer } from 'node:http';
import { connect } from 'node:net';

/** An HTTP proxy that only knows CONNECT, and remembers where to. */
export async function startConnectProxy(answer: 200 | 407 = 200) {
  const targets: string[] = [];
  const server = createServer();
  server.on('connect', (request, client, head) => {
    targets.push(request.url ?? '');
    if (answer !== 200) {
      client.end(`HTTP/1.1 ${answer} Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => {
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
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    targets,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
