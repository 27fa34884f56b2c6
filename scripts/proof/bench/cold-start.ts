import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../../../functions/names.ts';
import { bundleAdmit, bundleEntry } from '../../build/bundle.ts';
import { packRules } from '../../build/pack-rules.ts';
import { type Figure, spreadOf } from './figure.ts';
import { cert, key } from './self-signed.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const ROUNDS = 15;
/** What a call to the table takes at least, on a connection that is open. */
const TABLE_ANSWERS_AFTER_MS = 5;

/** The SDK as whoever needs nothing else would use it: one transaction of a record and three counters. */
const ONE_TRANSACTION = `import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({ maxAttempts: 1 });
const counter = (name) => ({ Update: {
  TableName: 'bench', Key: { pk: { S: name }, sk: { S: 'counter' } }, UpdateExpression: 'ADD #c :a',
  ConditionExpression: '#c <= :b', ExpressionAttributeNames: { '#c': 'c' },
  ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { N: '9' } },
} });
export const handler = () => client.send(new TransactWriteItemsCommand({ ClientRequestToken: 'first', TransactItems: [
  { Put: { TableName: 'bench', Item: { pk: { S: 'job' }, sk: { S: 'record' } } } }, ...['a', 'b', 'c'].map(counter),
] }));`;

/** One question of a project whose limits the packed documents know, as a function URL hands it over. */
const FIRST_EVENT = {
  version: '2.0',
  rawPath: '/v1/admissions',
  requestContext: { http: { method: 'POST' } },
  isBase64Encoded: false,
  body: JSON.stringify({
    remainingMs: 60_000,
    requests: [{ jobId: 11, projectId: 1001, namespaceId: 101, rootNamespaceId: 100, timeoutSeconds: 3_600 }],
  }),
};

interface Start {
  readonly importMs: number;
  readonly firstAnswerMs: number;
}

/** A cold start of the deployed bundle against that of the SDK alone: the import, and import and first answer together. */
export async function coldStartFigures(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cold-'));
  const table = await emptyTable();
  try {
    const admit = await bundleAdmit(join(folder, 'handler.mjs'));
    const client = await bundleEntry(
      { contents: ONE_TRANSACTION, resolveDir: root },
      join(folder, 'client.mjs'),
    );
    const rulesFile = join(folder, 'rules.json');
    const certFile = join(folder, 'cert.pem');
    writeFileSync(rulesFile, JSON.stringify(packRules({ root, force: false, nowMs: Date.now() })));
    writeFileSync(certFile, cert);
    const env = {
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: certFile,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
      [ENV_LEDGER_TABLE]: 'bench',
      [ENV_GITLAB_INSTANCE]: 'bench.example.com',
      [ENV_RULES_FILE]: rulesFile,
    };
    const start = async (file: string): Promise<Start> => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', scriptFor(file)], {
        env,
        timeout: 60_000,
      });
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Start;
    };
    await start(admit.file);
    const imports: number[] = [];
    const answers: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // The order changes, so that a machine that speeds up or slows down favours neither.
      const first = await start(round % 2 === 0 ? admit.file : client.file);
      const second = await start(round % 2 === 0 ? client.file : admit.file);
      const [ours, floor] = round % 2 === 0 ? [first, second] : [second, first];
      imports.push(ours.importMs / floor.importMs);
      answers.push(ours.firstAnswerMs / floor.firstAnswerMs);
    }
    const sizes = `${(admit.bytes / 1024).toFixed(0)} KB against ${(client.bytes / 1024).toFixed(0)} KB, both minified; ours signs its calls itself`;
    return [
      figure('import of the Lambda bundle ÷ import of the DynamoDB client alone', imports, 1, sizes),
      figure(
        'import and first answer of the Lambda bundle ÷ the DynamoDB client alone with one transaction',
        answers,
        FIRST_ANSWER_MAX,
        `over TLS, from a table that answers after ${TABLE_ANSWERS_AFTER_MS} ms; with the rules of policies/ read, books and directory looked up`,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true });
    table.stop();
  }
}

const FIRST_ANSWER_MAX = 1.6;

const scriptFor = (file: string): string => `const startedMs = performance.now();
const { handler } = await import(${JSON.stringify(file)});
const importMs = performance.now() - startedMs;
const answer = await handler(${JSON.stringify(FIRST_EVENT)});
const firstAnswerMs = performance.now() - startedMs;
if (answer.body !== undefined && !answer.body.includes('"admitted"')) throw new Error(answer.body);
process.stdout.write('\\n' + JSON.stringify({ importMs, firstAnswerMs }));
process.exit(0);`;

function figure(name: string, ratios: readonly number[], atMost: number, note: string): Figure {
  const { median, range, noisy } = spreadOf(ratios);
  return { name, value: median, must: { atMost }, unit: '×', kind: 'ratio', range, noisy, note };
}

/** Stands in for DynamoDB with nothing in it, and takes every write. */
async function emptyTable(): Promise<{ readonly url: string; stop(): void }> {
  const answers: Readonly<Record<string, object>> = {
    Query: { Items: [], Count: 0 },
    BatchGetItem: { Responses: {}, UnprocessedKeys: {} },
  };
  const server = createServer({ key, cert }, (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      setTimeout(() => response.end(JSON.stringify(answers[operation] ?? {})), TABLE_ANSWERS_AFTER_MS);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, stop: () => void server.close() };
}
