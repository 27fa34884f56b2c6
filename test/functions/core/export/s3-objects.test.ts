import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { s3Objects } from '../../../../functions/core/export-images.ts';

interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let server: Server;
let received: Received[];
let answers: number[];
beforeEach(async () => {
  received = [];
  answers = [];
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method, url: path, headers } = request;
    received.push({ method, path, headers, body: Buffer.concat(parts) });
    response.statusCode = answers.shift() ?? 200;
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const objects = () =>
  s3Objects({
    bucket: 'decisions',
    region: 'eu-central-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: async () => ({ accessKeyId: 'AKID', secretAccessKey: 'secret' }),
  });

test('an object arrives whole, at its name, with a signature of its bytes', async () => {
  const bytes = Buffer.from('one line\n');
  await objects().put('v1/2026/11/21/12/1-2.jsonl.gz', bytes);
  expect(received).toHaveLength(1);
  const [{ method, path, headers, body }] = received as [Received];
  expect([method, path]).toEqual(['PUT', '/decisions/v1/2026/11/21/12/1-2.jsonl.gz']);
  expect(body.equals(bytes)).toBe(true);
  expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(headers.authorization).toMatch(/Credential=AKID\/\d{8}\/eu-central-1\/s3\/aws4_request/);
});

test('one refused try is repeated with the same bytes, a second one is an error that names the bucket', async () => {
  answers = [503];
  await objects().put('v1/a', Buffer.from('a'));
  expect(received.map(({ body }) => body.toString())).toEqual(['a', 'a']);
  answers = [503, 503];
  await expect(objects().put('v1/b', Buffer.from('b'))).rejects.toThrow('bucket decisions answered 503');
});
