import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleFunction, bundleWith } from '../../build/bundle.ts';
import { packRules } from '../../build/pack-rules.ts';
import { answerTable, TABLE_ANSWERS_AFTER_MS, tableEnv } from './fake-table.ts';
import { countFigure, type Figure, inTurns, ratioFigure } from './figure.ts';
import { cert, key } from './self-signed.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const ROUNDS = 15;

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

type Start = Readonly<Record<'importMs' | 'firstAnswerMs' | 'cpuMs', number>>;

export async function coldStartFigures(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cold-'));
  const table = await startTable();
  try {
    const own = await bundleFunction('admit', join(folder, 'handler.mjs'));
    const stdin = { contents: "export * from './scripts/proof/bench/floor.ts';", resolveDir: root };
    const floor = await bundleWith({ stdin, outfile: join(folder, 'client.mjs') });
    const rulesFile = join(folder, 'rules.json');
    const certFile = join(folder, 'cert.pem');
    writeFileSync(
      rulesFile,
      JSON.stringify(packRules({ folder: `${root}policies`, force: false, nowMs: Date.now() })),
    );
    writeFileSync(certFile, cert);
    const env = {
      ...tableEnv(table.url, rulesFile),
      ...{ PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certFile },
    };
    const start = async ({ file }: { readonly file: string }): Promise<Start> => {
      const script = ['--input-type=module', '-e', programStarting(file)];
      const { stdout } = await run(process.execPath, script, { env, timeout: 60_000 });
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Start;
    };
    await start(floor);
    Object.assign(table.counts, { calls: 0, connections: 0 });
    await start(own);
    const { calls, connections } = table.counts;
    const rounds = await inTurns(ROUNDS, { own, floor }, start);
    const ratio = (name: string, of: keyof Start, atMost: number, note: string): Figure => {
      const ratios = rounds.map((round) => round.own[of] / round.floor[of]);
      return ratioFigure(name, ratios, { atMost }, note);
    };
    const sizes = `${(own.bytes / 1024).toFixed(0)} KB against ${(floor.bytes / 1024).toFixed(0)} KB, both minified; ours signs its calls itself, and reads its pattern engine later`;
    return [
      ratio('import of the Lambda bundle ÷ import of the DynamoDB client alone', 'importMs', 1, sizes),
      ratio(
        'import and first answer of the Lambda bundle ÷ the DynamoDB client alone with one transaction',
        'firstAnswerMs',
        1.2,
        `over TLS, from a table that answers after ${TABLE_ANSWERS_AFTER_MS} ms; with the rules of policies/ read, instance and directory looked up`,
      ),
      ratio('the same, by CPU time', 'cpuMs', 1.2, 'independent of other work on the machine'),
      // The instance, the job's history, the limits' use and the transaction; the last two in parallel.
      countFigure('calls of the table before the first answer', calls, { atMost: 4 }, 'tx'),
      countFigure('connections to the table before the first answer', connections, { atMost: 2 }, 'tx'),
    ];
  } finally {
    rmSync(folder, { recursive: true });
    table.stop();
  }
}

const programStarting = (file: string): string => `const startedMs = performance.now();
const began = process.cpuUsage();
const { handler } = await import(${JSON.stringify(file)});
const importMs = performance.now() - startedMs;
const answer = await handler(${JSON.stringify(FIRST_EVENT)});
const firstAnswerMs = performance.now() - startedMs;
const { user, system } = process.cpuUsage(began);
if (answer.body !== undefined && !answer.body.includes('"admitted"')) throw new Error(answer.body);
process.stdout.write('\\n' + JSON.stringify({ importMs, firstAnswerMs, cpuMs: (user + system) / 1000 }));
process.exit(0);`;

async function startTable() {
  const counts = { calls: 0, connections: 0 };
  const server = createServer({ key, cert }, answerTable);
  server.on('request', () => {
    counts.calls += 1;
  });
  server.on('secureConnection', () => {
    counts.connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, counts, stop: () => void server.close() };
}
