/** A process of the bench. It answers commands of its parent. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../../../relay/admit/admit-call.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { quantile } from '../../local/random.ts';
import { benchMessage } from './bench-message.ts';
import { benchPlace, benchRequest, benchRules } from './bench-rules.ts';
import { type Command, ENV_STEPS, type Load, type LoadResult, relayToken, type Urls } from './processes.ts';
import { countSteps } from './steps.ts';

const CONTROLLERS = [1, 2, 3, 4];
const STREAMS = 300;

type Served = Urls & { readonly answer?: (command: Command) => Promise<unknown> };

const { env } = process;

export type Role = keyof typeof ROLES;

const ROLES = {
  router: startRouter,
  /** Accepts every write. */
  table: async () => listen((await import('./fake-table.ts')).answerTable),
  /** The deployed programs. */
  admit: async () => serve(await loadAdmit()),
  /** One request after another, each with one job. */
  'admit-alone': async () => {
    const answer = await loadAdmit();
    return repeated(async (jobId) => {
      const body = JSON.stringify({ remainingMs: 10_000, requests: [benchRequest(jobId, 0)] });
      const said = await answer(body, 'POST', '/v1/admissions');
      if (!said.includes('"admitted"')) throw new Error(said);
    });
  },
  relay: async () => {
    await import('../../../relay/main.ts');
    return {};
  },
  'floor-admit': async () => {
    const holdJob = (await import('./floor-admit.ts')).holdJobs(env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
    return serve(async (body) => {
      await holdJob(JSON.parse(body).requests[0]);
      return ADMITTED;
    });
  },
  'floor-client': async () => (await import('./floor-client.ts')).startFloorClient(STREAMS),
  /** Admits every job unread. */
  grpc: async () => (await import('./bare-client.ts')).startBareClient(STREAMS),
  'inline-relay': startInlineRelay,
  'policy-rules': async () => repeated((await import('./policy-speed.ts')).evaluation(100)),
  'policy-images': async () => repeated((await import('./policy-speed.ts')).imageTests().rules),
} satisfies Readonly<Record<string, () => Promise<Served>>>;

const repeated = (run: (jobId: number) => unknown): Served => ({
  answer: async (command) => {
    if (typeof command === 'object')
      for (let job = 0; job < command.jobs; job += 1) await run(command.firstJobId + job);
  },
});

async function loadAdmit() {
  const { handler } = await import('../../../functions/admit/handler.ts');
  return async (body: string, method: string, rawPath: string): Promise<string> => {
    const requestContext = { http: { method } };
    return (await handler({ rawPath, requestContext, body, isBase64Encoded: false })).body;
  };
}

async function startRouter(): Promise<Served> {
  const { startLocalRouter } = await import('../../local/router/local-router.ts');
  const router = await startLocalRouter({
    controllers: CONTROLLERS.map((id) => ({ id, tokens: [relayToken(id)], state: 'disabled' })),
  });
  const admitJobs = async (load: Load): Promise<LoadResult> => {
    const { jobs, inFlight, streams, firstJobId, controller, roots } = load;
    for (const id of CONTROLLERS)
      router.changeController(id, { state: id === controller ? 'enabled' : 'disabled' });
    const messages = Array.from({ length: jobs }, (_, index) =>
      router.encode(benchMessage(firstJobId + index, benchPlace(index % roots))),
    );
    await router.until(() => router.waitingStreams(controller) >= streams);
    const latenciesMs: number[] = [];
    let admitted = 0;
    const left = messages.values();
    const startedMs = performance.now();
    const loop = async (): Promise<void> => {
      for (const bytes of left) {
        const sentMs = performance.now();
        if ((await router.admit({}, { bytes })).result === 'admitted') admitted += 1;
        latenciesMs.push(performance.now() - sentMs);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
    const seconds = (performance.now() - startedMs) / 1000;
    const sortedMs = latenciesMs.toSorted((a, b) => a - b);
    return { seconds, admitted, p50Ms: quantile(sortedMs, 0.5), p99Ms: quantile(sortedMs, 0.99) };
  };
  const answer = async (command: Command): Promise<unknown> =>
    typeof command === 'object' ? admitJobs(command) : router.resetConnections();
  return { grpcUrl: router.grpcUrl ?? '', wsUrl: router.wsUrl ?? '', answer };
}

/** A relay with the admit function inside, on a store that keeps nothing: all CPU and memory are the relay's and function's. */
async function startInlineRelay(): Promise<Served> {
  const { createLedger } = await import('../../../functions/core/ledger/create-ledger.ts');
  const { DynamoStore } = await import('../../../functions/core/ledger/dynamo-store.ts');
  const { MemoryTable } = await import('../../../functions/core/store/memory-table.ts');
  const { silentLog, systemClock } = await import('../../../functions/core/environment/environment.ts');
  const { createRelay, systemRelayClock } = await import('../../../relay/relay.ts');
  const { createRouter } = await import('../../../relay/router/router-client.ts');
  const { parseTarget } = await import('../../../relay/router/target.ts');
  const { literalToken } = await import('../../../relay/token.ts');
  const { INLINE_URL, inlineFetch } = await import('../../local/admit.ts');
  class InstantStore extends DynamoStore {
    override async transact() {
      return { outcome: 'committed' } as const;
    }
  }
  const { BENCH_ROUTER = '', BENCH_TOKEN = '', BENCH_HASTE = '1' } = env;
  const schema = loadSchema();
  const rules = benchRules(1);
  const router = createRouter({
    ...{ target: parseTarget(BENCH_ROUTER), schema, token: literalToken(BENCH_TOKEN) },
    userAgent: 'tollgate-bench',
    // On a busy machine a process may not run for seconds, which is no dead connection.
    keepaliveTimeoutMs: 120_000,
  });
  process.once('exit', () => router.close());
  createRelay({
    ...{ router, schema, admitUrl: INLINE_URL, policy: rules.policy, observe: () => {} },
    fetch: inlineFetch({
      ledger: createLedger({
        store: new InstantStore({
          ...{ table: new MemoryTable(), instance: 'bench.example.com', clock: systemClock },
          random: Math.random,
        }),
      }),
      currentRules: async () => rules,
      clock: systemClock,
      log: silentLog,
    }),
    ...{ deadlineMs: 10_000, fallback: 'reject', schemaState: 'proven' },
    clock: {
      ...systemRelayClock,
      after: (delayMs, run) => systemRelayClock.after(delayMs / Number(BENCH_HASTE), run),
    },
    poolSizes: { start: STREAMS, max: STREAMS * 2, openMax: 1024 },
  }).start();
  return {};
}

const ADMITTED = JSON.stringify({
  decisions: [{ jobId: 1, outcome: 'admitted', decisionId: 'd-1-1', shadow: [] }],
});

const serve = (answer: (body: string, method: string, path: string) => Promise<string>): Promise<Served> =>
  listen(async (request, response) => {
    const body = await answer(await textOf(request), request.method ?? '', request.url ?? '');
    const length = Buffer.byteLength(body);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(body);
  });

async function listen(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Takes the least of several readings: freed memory returns to the system a little later. */
async function settledBytes(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('memory is measured after collections; start with --expose-gc');
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < 10; reading += 1) {
    collect();
    await sleep(100);
    least = Math.min(least, process.memoryUsage().rss);
  }
  return least;
}

if (import.meta.main) {
  const steps = env[ENV_STEPS] === undefined ? undefined : await countSteps();
  const { answer, ...urls }: Served = await ROLES[process.argv[2] as Role]();
  const cpuMicros = (): number => process.cpuUsage().user + process.cpuUsage().system;
  process.on('message', async (command: Command) => {
    try {
      const read = { cpu: cpuMicros, rss: settledBytes, steps, reset: undefined };
      const result = typeof command === 'object' ? answer?.(command) : (read[command] ?? answer)?.(command);
      process.send?.((await result) ?? {});
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.(urls);
}
