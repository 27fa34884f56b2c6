/**
 * What a question passes between the router and the table, each in a process of its own: the relay and the admit function as
 * they are deployed, the floors they are compared with, and what stands in for the table.
 */
import { Agent, createServer, type IncomingMessage, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { obeyParent, startBenchProcess, tellParent } from './bench-process.ts';
import { startBareClient, startHttp2Client } from './floor-clients.ts';

/**
 * `table`: takes every write. `relay` and `admit`: the programs that are deployed. `floor-admit`: a server with the SDK that
 * writes one transaction for each POST. `grpc` and `http2`: clients of the router that post for each question, or for none.
 */
export type PathRole = 'table' | 'admit' | 'relay' | 'floor-admit' | 'grpc' | 'http2';

/** A program between router and table. */
export interface PathProcess {
  /** Where it listens; empty: nowhere. */
  readonly url: string;
  /** CPU time the process has used, µs: user and system. */
  cpuMicros(): Promise<number>;
  stop(): void;
}

/** What floors and table are told, by variables of the bench's own processes. */
export const FLOOR_ENV = {
  router: 'BENCH_ROUTER',
  token: 'BENCH_TOKEN',
  /** Who is asked before each answer; unset: nobody. */
  admit: 'BENCH_ADMIT',
  /** ms until the table answers. */
  tableMs: 'BENCH_TABLE_MS',
} as const;

const STREAMS = 128;

export async function startPathProcess(
  role: PathRole,
  env: Readonly<Record<string, string>>,
): Promise<PathProcess> {
  const child = startBenchProcess(fileURLToPath(import.meta.url), [role], env);
  const { url } = await child.next<{ url: string }>();
  return { url, cpuMicros: () => child.send<number>('cpu'), stop: child.stop };
}

const { env } = process;

const START: Readonly<Record<PathRole, () => Promise<string>>> = {
  table: () => {
    const afterMs = Number(env[FLOOR_ENV.tableMs]);
    return served(async (request) => {
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
      return NOTHING_THERE[operation] ?? '{}';
    });
  },
  admit: async () => {
    const { handler } = await import('../../../functions/admit/handler.ts');
    return served(async ({ method = '', url = '' }, body) => {
      const requestContext = { http: { method } };
      const answer = await handler({ rawPath: url, requestContext, body, isBase64Encoded: false });
      return answer.body;
    });
  },
  relay: async () => {
    await import('../../../relay/main.ts');
    return '';
  },
  'floor-admit': () => {
    const client = new DynamoDBClient({ maxAttempts: 1 });
    let written = 0;
    return served(async (_, body) => {
      written += 1;
      await client.send(oneTransaction(`job ${written}`, JSON.parse(body)));
      return ADMITTED;
    });
  },
  grpc: async () => {
    startBareClient(floorClient());
    return '';
  },
  http2: async () => {
    startHttp2Client(floorClient());
    return '';
  },
};

const ADMITTED = JSON.stringify({
  decisions: [{ jobId: 1, outcome: 'admitted', decisionId: 'd-1-1', shadow: [] }],
});

const NOTHING_THERE: Readonly<Record<string, string>> = {
  Query: JSON.stringify({ Items: [], Count: 0 }),
  BatchGetItem: JSON.stringify({ Responses: {}, UnprocessedKeys: {} }),
};

/** Answers each POST with JSON. */
async function served(answer: (request: IncomingMessage, body: string) => Promise<string>): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      answer(request, Buffer.concat(chunks).toString()).then((body) => {
        const length = Buffer.byteLength(body);
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
        response.end(body);
      });
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const counter = (name: string) => ({
  Update: {
    TableName: 'bench',
    Key: { pk: { S: name }, sk: { S: 'counter' } },
    UpdateExpression: 'ADD #c :a',
    ConditionExpression: '#c <= :b',
    ExpressionAttributeNames: { '#c': 'committed' },
    ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { N: '900000000' } },
  },
});

/** A record of the question and three counters. */
const oneTransaction = (name: string, asked: unknown) =>
  new TransactWriteItemsCommand({
    ClientRequestToken: name,
    TransactItems: [
      {
        Put: {
          TableName: 'bench',
          Item: { pk: { S: name }, sk: { S: 'record' }, asked: { S: JSON.stringify(asked) } },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      ...['root', 'group', 'project'].map(counter),
    ],
  });

/** A client that posts a question before each answer, on connections that are kept; told of nobody, it answers at once. */
function floorClient() {
  const agent = new Agent({ keepAlive: true });
  const body = JSON.stringify({
    requests: [
      { jobId: 11, jobName: 'integration test: [postgres]', projectId: 3000, timeoutSeconds: 3_600 },
    ],
    remainingMs: 2_000,
  });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const decide = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = sendRequest(
        env[FLOOR_ENV.admit] ?? '',
        { agent, method: 'POST', headers },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('end', () => {
            JSON.parse(text);
            resolve();
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  return {
    ...{
      url: env[FLOOR_ENV.router] ?? '',
      token: env[FLOOR_ENV.token] ?? '',
      schema: loadSchema(),
      streams: STREAMS,
    },
    ...(env[FLOOR_ENV.admit] !== undefined && { decide }),
  };
}

if (import.meta.main) {
  const url = await START[process.argv[2] as PathRole]();
  obeyParent(() => {
    const { user, system } = process.cpuUsage();
    return user + system;
  });
  tellParent({ url });
}
