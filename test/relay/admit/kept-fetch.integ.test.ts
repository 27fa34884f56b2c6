import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { keptFetch } from '../../../relay/admit/admit-call.ts';

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

const post = (url: string, more: RequestInit = {}) =>
  keptFetch(url, { method: 'POST', headers: { 'X-Own': 'a' }, body: 'é', ...more });

test('a call arrives as it was made, its answer as it was given, and the next takes the same connection', async () => {
  const { url, connections } = await serving(async (request, response) => {
    const { method, headers } = request;
    response.setHeader('Retry-After', '3');
    const said = [method, request.url, headers['x-own'], headers['content-length'], await text(request)];
    response.end(said.join(' '));
  });
  for (const path of ['/v1/a?b=c', '/v1/d']) {
    const answer = await post(`${url}${path}`);
    expect(await answer.text()).toBe(`POST ${path} a 2 é`);
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.has('none')]).toEqual([
      200,
      '3',
      false,
    ]);
  }
  expect(connections).toHaveLength(1);
});

test('a redirect is an answer, and a body that nobody wants is refused', async () => {
  const { url, connections } = await serving((_, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/' });
    response.write('more than anybody waits for');
  });
  const answer = await post(url);
  expect(answer.status).toBe(302);
  await answer.body?.cancel();
  await expect.poll(() => connections[0]?.destroyed).toBe(true);
});
