/** What DynamoDB Local does not do or cannot show; that calls mean what they mean to DynamoDB's own client, the twins show. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { getItem, itemAt, putItem, putOf, transactItems } from '../../../../functions/core/store/calls.ts';
import { absent, TimeLimit } from '../../../../functions/core/store/operation.ts';
import { signedTable } from '../../../../functions/core/store/signed-table.ts';

const ENV = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret of the role',
  AWS_SESSION_TOKEN: 'token of the session',
};
const KEY = { pk: 'a', sk: 'b' };
const BYTES = Uint8Array.of(0, 255, 7);
const TEXT_OF_BYTES = 'AP8H';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A table at a service that answers everything alike; without an answer it stays silent. */
async function tableAnswering(status: number, answer?: string) {
  const asked: { readonly headers: IncomingHttpHeaders; readonly input: unknown }[] = [];
  server = createServer(async (request, response) => {
    asked.push({ headers: request.headers, input: JSON.parse(await text(request)) });
    response.statusCode = status;
    if (answer !== undefined) response.end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { table: signedTable('books', { ...ENV, AWS_ENDPOINT_URL_DYNAMODB: url }), asked };
}

const limit = (timeoutMs = 60_000): TimeLimit => new TimeLimit(timeoutMs);

test('a call is signed for the region with the credentials of the environment, and secrets stay here', async () => {
  const { table, asked } = await tableAnswering(200, '{}');
  await getItem(table, KEY, limit());
  const [{ headers, input } = { headers: {}, input: undefined }] = asked;
  expect(headers).toMatchObject({
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'DynamoDB_20120810.GetItem',
    'x-amz-security-token': ENV.AWS_SESSION_TOKEN,
  });
  expect(headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-central-1\/dynamodb\/aws4_request, SignedHeaders=\S*host\S*, Signature=[0-9a-f]{64}$/,
  );
  expect(JSON.stringify(asked)).not.toContain(ENV.AWS_SECRET_ACCESS_KEY);
  expect(input).toEqual({
    TableName: 'books',
    Key: { pk: { S: 'a' }, sk: { S: 'b' } },
    ConsistentRead: true,
  });
});

test('bytes travel as base64, Buffers too, alone and in transactions, and come back as bytes', async () => {
  const { table, asked } = await tableAnswering(200, JSON.stringify({ Item: { z: { B: TEXT_OF_BYTES } } }));
  const item = itemAt(KEY, { plain: { B: BYTES }, buffer: { B: Buffer.from(BYTES) }, word: { S: 'a' } });
  await putItem(table, item, limit());
  await transactItems(table, [putOf(itemAt(KEY, { word: { S: 'a' } })), putOf(item)], limit());
  for (const { input } of asked)
    expect(JSON.stringify(input)).toContain(
      `"plain":{"B":"${TEXT_OF_BYTES}"},"buffer":{"B":"${TEXT_OF_BYTES}"},"word":{"S":"a"}`,
    );
  expect(Uint8Array.from((await getItem(table, KEY, limit()))?.z?.B ?? [])).toEqual(BYTES);
});

test('a refusal shows the item that stands there, its bytes included', async () => {
  const raised = {
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    Message: 'Transaction cancelled',
    CancellationReasons: [
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Item: { z: { B: TEXT_OF_BYTES } } },
    ],
  };
  const { table } = await tableAnswering(400, JSON.stringify(raised));
  const writes = [putOf(itemAt(KEY, {})), putOf(itemAt({ ...KEY, sk: 'c' }, {}), absent(), 'old')];
  expect(await transactItems(table, writes, limit())).toEqual({
    outcome: 'refused',
    refused: [undefined, { item: { z: { B: Buffer.from(BYTES) } } }],
  });
});

test.each([
  {
    what: 'a throttle is named as the service names it',
    status: 400,
    answer: '{"__type":"com.amazon.coral.availability#ThrottlingException","message":"slow down"}',
    error: { name: 'ThrottlingException', message: 'slow down' },
  },
  {
    what: 'a failure without a name says its status',
    status: 503,
    answer: '{}',
    error: { name: 'Error', message: 'status 503' },
  },
  {
    what: 'what is not JSON is not quoted',
    status: 502,
    answer: '<html>secret</html>',
    error: { message: 'status 502, and what is not JSON' },
  },
])('$what', async ({ status, answer, error }) => {
  const { table } = await tableAnswering(status, answer);
  await expect(getItem(table, KEY, limit())).rejects.toMatchObject(error);
});

test('silence ends when the time is up', async () => {
  const { table } = await tableAnswering(200);
  await expect(getItem(table, KEY, limit(1))).rejects.toThrow('no answer in 1 ms');
});

test('a read whose connection ends before the answer is sent once more, and then it is a failure', async () => {
  const { table, asked } = await tableAnswering(200);
  const failed = expect(getItem(table, KEY, limit())).rejects.toThrow(/hang up|ECONNRESET/);
  for (const times of [1, 2]) {
    await expect.poll(() => asked.length).toBe(times);
    server?.closeAllConnections();
  }
  await failed;
  expect(asked).toHaveLength(2);
});

test('so is a transaction that has a token; of a write without one nobody knows whether it arrived', async () => {
  const { table, asked } = await tableAnswering(200);
  const writes = [putOf(itemAt(KEY, {}))];
  for (const [write, times] of [
    [() => transactItems(table, writes, limit(), 'token'), [1, 2]],
    [() => putItem(table, itemAt(KEY, {}), limit()), [3]],
  ] as const) {
    const failed = expect(write()).rejects.toThrow(/hang up|ECONNRESET/);
    for (const so of times) {
      await expect.poll(() => asked.length).toBe(so);
      server?.closeAllConnections();
    }
    await failed;
  }
  expect(asked).toHaveLength(3);
});
