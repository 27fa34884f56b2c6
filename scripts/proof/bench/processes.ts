/**
 * Child processes of the bench, so that each side's CPU time and garbage are its own. The parent sends commands over IPC:
 * `cpu`, and to the router `{ask}` and `reset`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import { encodeResponse, loadSchema, type WireSchema } from '../../../relay/wire/schema.ts';
import type { LocalRouter } from '../../local/router/local-router.ts';
import { benchPlace, benchRules } from './bench-rules.ts';
import { median } from './figure.ts';

const FLAGS = ['--expose-gc', '--max-semi-space-size=16'];
const ANSWER_MS_MAX = 600_000;
const STREAMS = 128;

export function startProcess(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const child = fork(file, args, {
    execArgv: FLAGS,
    env: { ...process.env, ...env },
    // As JSON, a figure that could not be measured (NaN) would arrive as null.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const next = async <T>(): Promise<T> => {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const ended = once(child, 'exit', { signal }).then(([code]): never => {
      throw new Error(`${file} ended with code ${code}`);
    });
    try {
      const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
      return message as T;
    } finally {
      done.abort();
    }
  };
  return {
    next,
    send: <T>(command: object | string): Promise<T> => {
      child.send(command);
      return next();
    },
    // It exits on its own, so that its sockets are closed.
    stop: (): void => {
      if (child.connected) child.disconnect();
    },
  };
}

export const benchToken = (controller: number): string => `glrct-bench-${controller}`;
const CONTROLLERS = [1, 2, 3];

type Asked = 'count' | 'inFlight' | 'streams' | 'firstJobId' | 'controller' | 'roots';
type Ask = Readonly<Record<Asked, number>>;

const FILE = fileURLToPath(import.meta.url);

/**
 * - `router`: a local router.
 * - `table`: accepts every write after BENCH_TABLE_MS.
 * - `admit`, `relay`: the deployed programs.
 * - `floor-admit`: a server that writes one transaction with the SDK for each POST.
 * - `grpc`: a bare client that admits every job unread, after a POST to BENCH_ADMIT if that is set.
 * - `inline-relay`: a relay with the admit function and a ledger without a table inside.
 */
export type Role = 'router' | 'table' | 'admit' | 'relay' | 'floor-admit' | 'grpc' | 'inline-relay';

type Urls = Partial<Record<'url' | 'grpcUrl' | 'wsUrl', string>>;

export type RoleProcess = Awaited<ReturnType<typeof startRole>>;

export async function startRole(role: Role, env: Readonly<Record<string, string>> = {}) {
  const { next, send, stop } = startProcess(FILE, [role], env);
  const { url = '', grpcUrl = '', wsUrl = '' } = await next<Urls>();
  return {
    ...{ url, grpcUrl, wsUrl, stop },
    cpuMicros: () => send<number>('cpu'),
    ask: (ask: Ask) => send<Awaited<ReturnType<typeof askRouter>>>({ ask }),
    resetConnections: () => send<void>('reset'),
  };
}

export const benchRouter = (url: string, schema: WireSchema, token: string = benchToken(1)) =>
  createRouter({
    target: parseTarget(url),
    schema,
    token: literalToken(token),
    userAgent: 'tollgate-bench',
    // On a busy machine a process may not run for seconds, which is no dead connection.
    keepaliveTimeoutMs: 120_000,
  });

const CONTEXT_VARIABLES = [
  'CI_PIPELINE_SOURCE',
  'CI_COMMIT_REF_NAME',
  'CI_COMMIT_BRANCH',
  'CI_DEFAULT_BRANCH',
  'CI_PROJECT_NAME',
  'CI_JOB_STAGE',
];

export const benchQuestion = (jobId: number, { root, group, project } = benchPlace(0)) => ({
  id: jobId,
  job_info: {
    id: jobId,
    name: `integration test: [postgres, ${jobId % 8}]`,
    stage: 'test',
    pipeline_id: 8_000_000 + Math.floor(jobId / 50),
    project_id: project,
    project_full_path: `root-${root}/team-${group}/service`,
    namespace_id: group,
    root_namespace_id: root,
    user_id: 7,
    tags: ['linux', 'docker', 'medium'],
  },
  git_info: { ref: 'main', ref_type: 'branch', protected: true },
  runner_info: { id: 12, timeout: 3600, uuid: 'b7a1c9', tags: ['linux', 'docker', 'medium'] },
  variables: Array.from({ length: 30 }, (_, index) => ({
    key: CONTEXT_VARIABLES[index] ?? `APP_SETTING_${index}`,
    value: `a value of some length for variable ${index}`,
    public: index < 20,
  })),
  image: { name: 'registry.example.com/acme/build/node:24' },
  services: [{ name: 'postgres:17', alias: 'db' }],
});

type Command = 'cpu' | 'reset' | { readonly ask: Ask };
type Served = Urls & { readonly answer?: (command: Command) => Promise<unknown> };

async function serveRouter(): Promise<Served> {
  const { startLocalRouter } = await import('../../local/router/local-router.ts');
  const router = await startLocalRouter({
    controllers: CONTROLLERS.map((id) => ({ id, tokens: [benchToken(id)], state: 'disabled' })),
  });
  const answer = async (command: Command): Promise<unknown> =>
    typeof command === 'object' ? askRouter(router, command.ask) : router.resetConnections();
  return { grpcUrl: router.grpcUrl ?? '', wsUrl: router.wsUrl ?? '', answer };
}

async function askRouter(router: LocalRouter, ask: Ask) {
  const { count, inFlight, streams, firstJobId, controller, roots } = ask;
  for (const id of CONTROLLERS)
    router.changeController(id, { state: id === controller ? 'enabled' : 'disabled' });
  const questions = Array.from({ length: count }, (_, index) =>
    router.encode(benchQuestion(firstJobId + index, benchPlace(index % roots))),
  );
  await router.until(() => router.waitingStreams(controller) >= streams);
  const latenciesMs: number[] = [];
  let admitted = 0;
  let next = 0;
  const startedMs = performance.now();
  const asker = async (): Promise<void> => {
    for (let bytes = questions[next++]; bytes !== undefined; bytes = questions[next++]) {
      const askedMs = performance.now();
      if ((await router.admit({}, { bytes })).result === 'admitted') admitted += 1;
      latenciesMs.push(performance.now() - askedMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, asker));
  return { seconds: (performance.now() - startedMs) / 1000, admitted, p50Ms: median(latenciesMs) };
}

const { env } = process;

const START: Readonly<Record<Role, () => Promise<Served> | Served>> = {
  router: serveRouter,
  table: () =>
    served(async (request) => {
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      await new Promise((resolve) => setTimeout(resolve, Number(env.BENCH_TABLE_MS)));
      return JSON.stringify(EMPTY_TABLE[operation] ?? {});
    }),
  admit: async () => {
    const { handler } = await import('../../../functions/admit/handler.ts');
    return served(async ({ method = '', url = '' }, body) => {
      const requestContext = { http: { method } };
      return (await handler({ rawPath: url, requestContext, body, isBase64Encoded: false })).body;
    });
  },
  relay: async () => {
    await import('../../../relay/main.ts');
    return {};
  },
  'floor-admit': async () => {
    const { handler } = await import('./floor.ts');
    return served(async (_, body) => {
      await handler(JSON.parse(body));
      return ADMITTED;
    });
  },
  grpc: startBareClient,
  'inline-relay': startInlineRelay,
};

/** The deciding side answers immediately, so all CPU is the relay's and the function's. */
async function startInlineRelay(): Promise<Served> {
  const { createLedger } = await import('../../../functions/core/ledger/create-ledger.ts');
  const { MemoryStore } = await import('../../../test/support/ledger/memory-store.ts');
  const { silentLog, systemClock } = await import('../../../functions/core/environment/environment.ts');
  const { createRelay } = await import('../../../relay/relay.ts');
  const { INLINE_URL, inlineFetch } = await import('../../local/admit.ts');
  class InstantStore extends MemoryStore {
    override async transact() {
      return { outcome: 'committed' } as const;
    }
  }
  const schema = loadSchema();
  const rules = benchRules(1);
  const router = benchRouter(env.BENCH_ROUTER ?? '', schema, env.BENCH_TOKEN);
  process.once('exit', () => router.close());
  createRelay({
    router,
    schema,
    admitUrl: INLINE_URL,
    fetch: inlineFetch({
      ledger: createLedger({ store: new InstantStore({ instance: 'bench.example.com' }) }),
      currentRules: async () => rules,
      clock: systemClock,
      log: silentLog,
    }),
    policy: rules.policy,
    deadlineMs: 10_000,
    fallback: 'reject',
    schemaTrust: 'given',
    observe: () => {},
    poolSizes: { start: STREAMS, max: STREAMS * 2, openMax: 1024 },
  }).start();
  return {};
}

const ADMITTED = JSON.stringify({
  decisions: [{ jobId: 1, outcome: 'admitted', decisionId: 'd-1-1', shadow: [] }],
});

const EMPTY_TABLE: Readonly<Record<string, object>> = {
  Query: { Items: [], Count: 0 },
  BatchGetItem: { Responses: {}, UnprocessedKeys: {} },
};

async function served(answer: (request: IncomingMessage, body: string) => Promise<string>): Promise<Served> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = await answer(request, Buffer.concat(chunks).toString());
      const length = Buffer.byteLength(body);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(body);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function postTo(url: string, admit: () => void): void {
  const request = sendRequest(url, { agent: AGENT, method: 'POST', headers: POST_HEADERS }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => {
      JSON.parse(text);
      admit();
    });
  });
  request.end(POST_BODY);
}

const AGENT = new Agent({ keepAlive: true });
const POST_BODY = JSON.stringify({
  requests: [{ jobId: 11, jobName: 'integration test: [postgres]', projectId: 3000, timeoutSeconds: 3_600 }],
  remainingMs: 2_000,
});
const POST_HEADERS = {
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(POST_BODY),
};

/** Raw grpc-js: no decoding, no pool, no ledger. It posts to BENCH_ADMIT before it admits, if that is set. */
function startBareClient(): Served {
  const { BENCH_ROUTER: url = '', BENCH_TOKEN: token = '', BENCH_ADMIT: posted } = env;
  const schema = loadSchema();
  const client = new Client(url.replace('grpc://', ''), credentials.createInsecure(), {
    'grpc.max_receive_message_length': 10 * 1024 * 1024,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  metadata.set('gitlab-agent-type', 'runnerc');
  const admitted = Buffer.from(encodeResponse(schema, { outcome: 'admitted' }));
  const bytes = (buffer: Buffer): Buffer => buffer;
  const open = (): void => {
    const call = client.makeBidiStreamRequest<Buffer, Buffer>(schema.admitJobPath, bytes, bytes, metadata);
    const admit = (): void => {
      call.write(admitted);
      call.end();
    };
    call.on('data', () => {
      open();
      if (posted === undefined) admit();
      else postTo(posted, admit);
    });
    call.on('error', () => {});
  };
  for (let index = 0; index < STREAMS; index += 1) open();
  return {};
}

if (import.meta.main) {
  const { answer, ...urls } = await START[process.argv[2] as Role]();
  const cpuMicros = (): number => process.cpuUsage().user + process.cpuUsage().system;
  process.on('message', async (command: Command) => {
    try {
      process.send?.((command === 'cpu' ? cpuMicros() : await answer?.(command)) ?? {});
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.(urls);
}
