import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { DYNAMODB_THROTTLES, FaultProxy } from '../../../../scripts/proof/chaos/scene.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A service that keeps what it is told, behind a way that can be broken. */
async function aWay() {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    heard.push(body);
    response.writeHead(201, { 'x-told': 'yes' }).end(`heard ${body}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const proxy = await FaultProxy.open(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    DYNAMODB_THROTTLES,
  );
  ends.push(() => server.close());
  ends.push(() => proxy.close());
  const say = (body: string): Promise<Response> => fetch(proxy.url, { method: 'POST', body });
  return { proxy, heard, say };
}

test('what passes is handed on whole, there and back', async () => {
  const { say, heard } = await aWay();
  const answer = await say('one');
  expect([answer.status, answer.headers.get('x-told'), await answer.text()]).toEqual([
    201,
    'yes',
    'heard one',
  ]);
  expect(heard).toEqual(['one']);
});

test('throttled, the service hears nothing and its own refusal comes back', async () => {
  const { proxy, say, heard } = await aWay();
  proxy.become('throttle');
  const answer = await say('one');
  expect([answer.status, await answer.text()]).toEqual([400, DYNAMODB_THROTTLES.body]);
  expect(heard).toEqual([]);
});

test('cut, connections break and no new ones are made, until it passes again', async () => {
  const { proxy, say, heard } = await aWay();
  await (await say('one')).text();
  proxy.become('cut');
  await expect(say('two')).rejects.toThrow('fetch failed');
  proxy.become('pass');
  await (await say('three')).text();
  expect(heard).toEqual(['one', 'three']);
});

test('stalled, requests wait and are handed on later', async () => {
  const { proxy, say, heard } = await aWay();
  await (await say('one')).text();
  proxy.become('stall');
  const late = [say('two'), say('three')];
  proxy.become('pass');
  await Promise.all(late);
  expect([...heard].sort()).toEqual(['one', 'three', 'two']);
});
