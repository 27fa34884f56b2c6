/**
 * The parts of a deployment as processes of this machine, with a way that can be broken between any two of them:
 *
 *   router (here) ══ relay 1 ──▶ admit ──▶ table
 *          ║          └──────────────────▶ table (journal)
 *          ╚═══════ relay 2, likewise       table ── stream ──▶ settle-stream ──▶ table
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dynamoClient } from '../../../functions/core/store/index.ts';
import * as functionNames from '../../../functions/names.ts';
import * as relayNames from '../../../relay/names.ts';
import { bundleFunction } from '../../build/bundle.ts';
import { type DynamoDbLocal, ensureTable, startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { type LocalRouter, startLocalRouter } from '../../local/router/local-router.ts';
import { type RelayProcess, startRelay } from '../conformance/relay-process.ts';
import { serveFunctionUrl } from '../rehearse/function-url-server.ts';
import { type HostedBundle, hostBundle } from '../rehearse/hosted-bundle.ts';
import { packedRules } from './chaos-rules.ts';
import { DYNAMODB_THROTTLES, FaultProxy, LAMBDA_THROTTLES } from './fault-proxy.ts';

export const CHAOS_TABLE = 'chaos';
export const CHAOS_INSTANCE = 'chaos.example.com';
export const RELAYS = 2;
const TOKEN = 'glrct-chaos-not-a-secret';
const DEADLINE_MS = 1_000;
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A function's process: it can be killed and started again while it is called. */
export class FunctionProcess {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  #host: HostedBundle | undefined;

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = env;
  }

  async start(): Promise<void> {
    this.#host = await hostBundle({ folder: this.#folder, env: this.#env });
  }

  async invoke(event: unknown): Promise<unknown> {
    if (this.#host === undefined) throw new Error('the function is gone');
    return this.#host.invoke(event);
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#host?.signal(name);
  }

  output(): string {
    return this.#host?.output() ?? '';
  }

  async kill(): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await host?.close();
  }
}

/** A relay's place: its ways, and the process that is there now. */
class RelayPlace {
  readonly toAdmit: FaultProxy;
  readonly toTable: FaultProxy;
  readonly #start: (place: RelayPlace) => Promise<RelayProcess>;
  #relay: RelayProcess | undefined;
  /** When its processes were killed, by `performance.now()`. */
  readonly killedAtMs: number[] = [];

  constructor(
    ways: Pick<RelayPlace, 'toAdmit' | 'toTable'>,
    start: (place: RelayPlace) => Promise<RelayProcess>,
  ) {
    this.toAdmit = ways.toAdmit;
    this.toTable = ways.toTable;
    this.#start = start;
  }

  /** Undefined while it is dead. */
  get relay(): RelayProcess | undefined {
    return this.#relay;
  }

  async start(): Promise<void> {
    this.#relay = await this.#start(this);
  }

  async kill(): Promise<void> {
    const relay = this.#relay;
    this.#relay = undefined;
    await relay?.kill();
    this.killedAtMs.push(performance.now());
  }
}

export interface ChaosScene {
  readonly table: DynamoDbLocal;
  readonly router: LocalRouter;
  readonly admit: FunctionProcess;
  readonly settle: FunctionProcess;
  readonly admitToTable: FaultProxy;
  readonly settleToTable: FaultProxy;
  readonly relays: readonly RelayPlace[];
  close(): Promise<void>;
}

/** @param heard - every line of every relay, with the relay's place. */
export async function openScene(
  random: () => number,
  heard: (line: string, relay: number) => void,
): Promise<ChaosScene> {
  const ends: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    // Packages are found from below the project's folder only.
    const bundles = join(root, '.tollgate', 'chaos');
    mkdirSync(bundles, { recursive: true });
    const folder = mkdtempSync(join(bundles, 'run-'));
    const scratch = mkdtempSync(join(tmpdir(), 'tollgate-chaos-'));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    ends.push(() => rmSync(scratch, { recursive: true, force: true }));
    const rulesFile = join(folder, 'rules.json');
    const tokenFile = join(scratch, 'token');
    writeFileSync(rulesFile, packedRules());
    writeFileSync(tokenFile, TOKEN);

    const table = await startDynamoDbLocal();
    ends.push(() => table.stop());
    const client = dynamoClient(table.endpoint);
    await ensureTable(client, CHAOS_TABLE);
    client.destroy();

    const way = async (target: string, throttles: typeof DYNAMODB_THROTTLES): Promise<FaultProxy> => {
      const proxy = await FaultProxy.open(target, throttles);
      ends.push(() => proxy.close());
      return proxy;
    };
    const toTable = (): Promise<FaultProxy> => way(table.endpoint, DYNAMODB_THROTTLES);
    const programOf = async (
      name: 'admit' | 'settle/stream',
      ownWay: FaultProxy,
    ): Promise<FunctionProcess> => {
      const own = join(folder, name.replace('/', '-'));
      mkdirSync(own);
      await bundleFunction(name, join(own, 'handler.mjs'));
      writeFileSync(join(own, 'rules.json'), packedRules());
      const program = new FunctionProcess(own, {
        PATH: process.env.PATH ?? '',
        [functionNames.ENV_LEDGER_TABLE]: CHAOS_TABLE,
        [functionNames.ENV_GITLAB_INSTANCE]: CHAOS_INSTANCE,
        [functionNames.ENV_RULES_FILE]: join(own, 'rules.json'),
        [functionNames.ENV_DYNAMODB_ENDPOINT]: ownWay.url,
      });
      await program.start();
      ends.push(() => program.kill());
      return program;
    };
    const admitToTable = await toTable();
    const settleToTable = await toTable();
    const admit = await programOf('admit', admitToTable);
    const settle = await programOf('settle/stream', settleToTable);
    // Its process may change; the address stays.
    const admitUrl = await serveFunctionUrl({
      invoke: (event) => admit.invoke(event),
      signal: (name) => admit.signal(name),
      output: () => admit.output(),
      close: () => admit.kill(),
    });
    ends.push(() => admitUrl.close());

    const router = await startLocalRouter({
      controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
      wsPort: 'off',
      random,
    });
    ends.push(() => router.close());
    const relays: RelayPlace[] = [];
    for (let number = 1; number <= RELAYS; number += 1) {
      const ways = { toAdmit: await way(admitUrl.url, LAMBDA_THROTTLES), toTable: await toTable() };
      const place = new RelayPlace(ways, ({ toAdmit, toTable: journal }) =>
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
          heard: (line) => heard(line, number - 1),
          env: {
            [relayNames.ENV_RELAYS]: String(RELAYS),
            [relayNames.ENV_JOURNAL_TABLE]: CHAOS_TABLE,
            [relayNames.ENV_RELAY_GITLAB_INSTANCE]: CHAOS_INSTANCE,
            [relayNames.ENV_AWS_REGION]: 'us-east-1',
            [relayNames.ENV_AWS_DYNAMODB_ENDPOINT]: journal.url,
            AWS_ACCESS_KEY_ID: 'chaos',
            AWS_SECRET_ACCESS_KEY: 'chaos',
          },
        }),
      );
      await place.start();
      ends.push(() => place.kill());
      relays.push(place);
    }
    await router.until(() => router.waitingStreams() > 8, { timeoutMs: 30_000 });
    return { table, router, admit, settle, admitToTable, settleToTable, relays, close };
  } catch (error) {
    await close();
    throw error;
  }
}
