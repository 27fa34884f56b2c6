/**
 * The parts of a deployment as processes of this machine, with a breakable path between any two parts:
 *
 *   router (here) ══ relay 1 ──▶ admit ──▶ table
 *          ║          └──────────────────▶ table (journal)
 *          ╚═══════ relay 2, likewise       table ── stream ──▶ settle-stream ──▶ table
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dynamoClient } from '../../../functions/core/store/sdk-table.ts';
import * as functionNames from '../../../functions/names.ts';
import * as relayNames from '../../../relay/names.ts';
import { bundleFunction } from '../../build/bundle.ts';
import { ensureTable, startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import { type HostedBundle, hostBundle, serveFunctionUrl } from '../rehearse/hosted-bundle.ts';
import { type RelayProcess, startRelay } from '../relay-process.ts';

// The rules: a shared cap that is always full, caps of groups below it, and a budget that runs out.
export const SHARED_CAP = 40;
const GROUP_CAP = 14;
/** Has no cap of its own, and money for about two hundred jobs. */
const POOR_ROOT = 103;
const ROOTS = [100, 101, 102, POOR_ROOT];

export const CHAOS_PROJECTS = [2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008];
export const rootOf = (project: number): number => ROOTS[project % ROOTS.length] ?? POOR_ROOT;
export const pathOfProject = (project: number): string => `root-${rootOf(project)}/project-${project}`;

/** The limit of a counter, by its subject; undefined if it has none. */
export function chaosLimitOf(subject: string): number | undefined {
  if (subject === 'instance') return SHARED_CAP;
  if (subject === `group/${POOR_ROOT}`) return 4_000_000;
  return subject.startsWith('group/') ? GROUP_CAP : undefined;
}

const PACKED_RULES = JSON.stringify({
  policy: {
    version: 'chaos',
    document: {
      currency: 'EUR',
      prices: {
        version: 'chaos',
        classes: [{ name: 'small', tags: [], rate_per_minute: '0.10' }],
        default_class: 'small',
      },
      // Longer than any job runs: an amount that returns at its estimate is free.
      estimate: { default: '10s', mode: 'default' },
      rules: [
        { id: 'budgets', kind: 'budget', mode: 'enforce' },
        { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
      ],
    },
  },
  limits: {
    version: 'chaos',
    document: {
      limits: [
        { on: 'instance', jobs: SHARED_CAP, when_unreachable: 'room' },
        ...ROOTS.filter((root) => root !== POOR_ROOT).map((group) => ({
          ...{ on: { group }, jobs: GROUP_CAP, when_unreachable: 'room' },
        })),
        { on: { group: POOR_ROOT }, money: 4, per: 'month' },
      ],
    },
  },
  directory: {
    groups: ROOTS.map((id) => ({ id, path: `root-${id}` })),
    projects: CHAOS_PROJECTS.map((id) => ({ id, group: rootOf(id), path: pathOfProject(id) })),
  },
});

/**
 * `stall`: requests wait until the stall is over, also if their callers have gone. `cut`: every connection breaks, and new
 * ones are refused. `throttle`: the service's own refusal.
 */
export type PathState = 'pass' | 'stall' | 'cut' | 'throttle';

interface ThrottleResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const DYNAMODB_THROTTLES: ThrottleResponse = {
  status: 400,
  type: 'application/x-amz-json-1.0',
  body: '{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Rate of requests exceeds the allowed throughput."}',
};
const LAMBDA_THROTTLES: ThrottleResponse = {
  status: 429,
  type: 'application/json',
  body: '{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded"}',
};

type FaultProxy = Awaited<ReturnType<typeof openFaultProxy>>;

/** A breakable HTTP path to a service. */
async function openFaultProxy(target: string, throttled: ThrottleResponse) {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  let state: PathState = 'pass';
  let stalled: (() => void)[] = [];
  const take = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    if (state === 'stall') await new Promise<void>((proceed) => stalled.push(proceed));
    if (state === 'throttle') {
      response.writeHead(throttled.status, { 'content-type': throttled.type }).end(throttled.body);
      return;
    }
    const { method, url: path, headers } = incoming;
    const call = request({ hostname, port, method, path, headers, agent }, (answer) => {
      if (!response.destroyed) response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    call.on('error', () => response.destroy());
    call.end(Buffer.concat(chunks));
  };
  const server = createServer((incoming, response) => void take(incoming, response));
  server.on('connection', (socket: Socket) => {
    if (state === 'cut') {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const become = (next: PathState): void => {
    state = next;
    if (next === 'cut') for (const socket of sockets) socket.destroy();
    if (next === 'stall') return;
    const proceeding = stalled;
    stalled = [];
    for (const proceed of proceeding) proceed();
  };
  const close = (): void => {
    become('cut');
    server.close();
    agent.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, become, close };
}

export const CHAOS_TABLE = 'chaos';
export const CHAOS_INSTANCE = 'chaos.example.com';
const RELAYS = 2;
const TOKEN = 'glrct-chaos-not-a-secret';
const DEADLINE_MS = 1_000;
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The place of a process that is killed and started again. */
class Place<Running> {
  readonly #start: () => Promise<Running>;
  readonly #end: (running: Running) => Promise<unknown>;
  /** Undefined while it is dead. */
  running: Running | undefined;
  /** By `performance.now()`. */
  readonly killedAtMs: number[] = [];

  constructor(start: () => Promise<Running>, end: (running: Running) => Promise<unknown>) {
    this.#start = start;
    this.#end = end;
  }

  async start(): Promise<this> {
    this.running = await this.#start();
    return this;
  }

  async kill(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    if (running === undefined) return;
    await this.#end(running);
    this.killedAtMs.push(performance.now());
  }
}

export type FunctionPlace = Place<HostedBundle>;
export type ChaosScene = Awaited<ReturnType<typeof openScene>>;

/** @param onLine - called with every line of every relay, and the relay's index. */
export async function openScene(random: () => number, onLine: (line: string, relay: number) => void) {
  const ends: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await openParts(random, onLine, ends)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openParts(
  random: () => number,
  onLine: (line: string, relay: number) => void,
  ends: (() => unknown)[],
) {
  // Packages are found only from below the project's folder.
  const bundles = join(root, '.tollgate', 'chaos');
  mkdirSync(bundles, { recursive: true });
  const folder = mkdtempSync(join(bundles, 'run-'));
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-chaos-'));
  for (const path of [folder, scratch]) ends.push(() => rmSync(path, { recursive: true, force: true }));
  const rulesFile = join(folder, 'rules.json');
  const tokenFile = join(scratch, 'token');
  writeFileSync(rulesFile, PACKED_RULES);
  writeFileSync(tokenFile, TOKEN);

  const table = await startDynamoDbLocal();
  ends.push(() => table.stop());
  const client = dynamoClient(table.endpoint);
  await ensureTable(client, CHAOS_TABLE);
  client.destroy();

  const pathTo = async (target: string, throttles: ThrottleResponse): Promise<FaultProxy> => {
    const proxy = await openFaultProxy(target, throttles);
    ends.push(() => proxy.close());
    return proxy;
  };
  const toTable = (): Promise<FaultProxy> => pathTo(table.endpoint, DYNAMODB_THROTTLES);
  const startFunction = async (name: 'admit' | 'settle/stream', path: FaultProxy): Promise<FunctionPlace> => {
    const own = join(folder, name.replace('/', '-'));
    mkdirSync(own);
    await bundleFunction(name, join(own, 'handler.mjs'));
    writeFileSync(join(own, 'rules.json'), PACKED_RULES);
    const env = {
      PATH: process.env.PATH ?? '',
      [functionNames.ENV_LEDGER_TABLE]: CHAOS_TABLE,
      [functionNames.ENV_GITLAB_INSTANCE]: CHAOS_INSTANCE,
      [functionNames.ENV_RULES_FILE]: join(own, 'rules.json'),
      [functionNames.ENV_DYNAMODB_ENDPOINT]: path.url,
    };
    const place = new Place(
      () => hostBundle({ folder: own, env }),
      (host) => host.close(),
    );
    ends.push(() => place.kill());
    return place.start();
  };
  const admitToTable = await toTable();
  const settleToTable = await toTable();
  const admit = await startFunction('admit', admitToTable);
  const settle = await startFunction('settle/stream', settleToTable);
  // The function's process may change; the address stays.
  const admitUrl = await serveFunctionUrl({
    invoke: async (event) => {
      if (admit.running === undefined) throw new Error('the function is killed');
      return admit.running.invoke(event);
    },
  });
  ends.push(() => admitUrl.close());

  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    wsPort: 'off',
    random,
  });
  ends.push(() => router.close());
  const startRelayPlace = async (index: number) => {
    const toAdmit = await pathTo(admitUrl.url, LAMBDA_THROTTLES);
    const journal = await toTable();
    const start = (): Promise<RelayProcess> =>
      startRelay({
        router: {
          url: router.grpcUrl ?? '',
          descriptors: join(root, 'relay', 'wire', 'default.binpb'),
          authority: undefined,
        },
        admitUrl: toAdmit.url,
        policyFile: rulesFile,
        tokenFile,
        deadlineMs: DEADLINE_MS,
        onLine: (line) => onLine(line, index),
        env: {
          [relayNames.ENV_RELAYS]: String(RELAYS),
          [relayNames.ENV_JOURNAL_TABLE]: CHAOS_TABLE,
          [relayNames.ENV_RELAY_GITLAB_INSTANCE]: CHAOS_INSTANCE,
          [relayNames.ENV_AWS_REGION]: 'us-east-1',
          [relayNames.ENV_AWS_DYNAMODB_ENDPOINT]: journal.url,
          AWS_ACCESS_KEY_ID: 'chaos',
          AWS_SECRET_ACCESS_KEY: 'chaos',
        },
      });
    const place = Object.assign(new Place(start, (relay) => relay.kill()), { toAdmit, toTable: journal });
    ends.push(() => place.kill());
    return place.start();
  };
  const relays: Awaited<ReturnType<typeof startRelayPlace>>[] = [];
  for (let index = 0; index < RELAYS; index += 1) relays.push(await startRelayPlace(index));
  await router.until(() => router.waitingStreams() > 8, { timeoutMs: 30_000 });
  return { table, router, admit, settle, admitToTable, settleToTable, relays };
}
