import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { nodeFetch } from '../../../relay/admit/admit-call.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serving(listener: RequestListener) {
  const connections: Socket[] = [];
  server = createServer(listener).on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

test('a redirect is an answer, and a body that nobody wants is refused', async () => {
  const { url, connections } = await serving((_, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/' });
    response.write('more than anybody waits for');
  });
  const answer = await nodeFetch(url, { method: 'POST', body: 'é' });
  expect(answer.status).toBe(302);
  await answer.body?.cancel();
  await expect.poll(() => connections[0]?.destroyed).toBe(true);
});
