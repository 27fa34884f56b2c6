/**
 * The parts of a deployment as processes of this machine:
 *
 *   router (here) ══ 2 relays ──▶ admit ──▶ table ── stream ──▶ settle/stream ──▶ table
 *                        └──────────────────▶ table (journal)
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRulesFile } from '../../../functions/core/rules.ts';
import { dynamoClient } from '../../../functions/core/store/sdk-table.ts';
import * as functionNames from '../../../functions/names.ts';
import * as relayNames from '../../../relay/names.ts';
import { bundleFunction } from '../../build/bundle.ts';
import { ensureTable, startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import { until } from '../../local/timing.ts';
import { hostBundle, serveFunctionUrl } from '../rehearse/hosted-bundle.ts';
import { startRelay } from '../relay-process.ts';

// A shared cap that is always full, caps of groups below it, and a budget that runs out.
const SHARED_CAP = 40;
const GROUP_CAP = 14;
/** Has no cap of its own, and money for about two hundred jobs. */
const POOR_ROOT = 103;
const ROOTS = [100, 101, 102, POOR_ROOT];

export const CHAOS_PROJECTS = [2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008];
export const rootOf = (project: number): number => ROOTS[project % ROOTS.length] ?? POOR_ROOT;
export const pathOfProject = (project: number): string => `root-${rootOf(project)}/project-${project}`;

export function chaosLimitOf(subject: string): number | undefined {
  if (subject === 'instance') return SHARED_CAP;
  if (subject === `group/${POOR_ROOT}`) return 4_000_000;
  return subject.startsWith('group/') ? GROUP_CAP : undefined;
}

const rule = (id: string, kind: string) => ({ id, kind, mode: 'enforce' });
const packed = (document: object) => ({ version: 'chaos', document });
const PACKED_RULES = JSON.stringify({
  policy: packed({
    currency: 'EUR',
    prices: {
      ...{ version: 'chaos', default_class: 'small' },
      classes: [{ name: 'small', tags: [], rate_per_minute: '0.10' }],
    },
    // Longer than any job runs: an amount that returns at its estimate is free.
    estimate: { default: '10s', mode: 'default' },
    rules: [rule('budgets', 'budget'), rule('jobs-at-once', 'concurrency')],
  }),
  limits: packed({
    limits: [
      { on: 'instance', jobs: SHARED_CAP, when_unreachable: 'room' },
      ...ROOTS.filter((root) => root !== POOR_ROOT).map((group) => ({
        ...{ on: { group }, jobs: GROUP_CAP, when_unreachable: 'room' },
      })),
      { on: { group: POOR_ROOT }, money: 4, per: 'month' },
    ],
  }),
  directory: {
    groups: ROOTS.map((id) => ({ id, path: `root-${id}` })),
    projects: CHAOS_PROJECTS.map((id) => ({ id, group: rootOf(id), path: pathOfProject(id) })),
  },
});

export const CHAOS_TABLE = 'chaos';
export const CHAOS_INSTANCE = 'chaos.example.com';
const RELAYS = 2;
const TOKEN = 'glrct-chaos-not-a-secret';
const root = fileURLToPath(new URL('../../..', import.meta.url));

async function restartable<
  Running extends { signal(name: 'SIGSTOP' | 'SIGCONT'): void; kill(): Promise<void> },
>(start: () => Promise<Running>) {
  const killedAtMs: number[] = [];
  let running: Running | undefined = await start();
  return {
    running: () => running,
    killedAtMs,
    signal: (name: 'SIGSTOP' | 'SIGCONT'): void => running?.signal(name),
    async restart(): Promise<void> {
      running = await start();
    },
    async kill(): Promise<void> {
      const ending = running;
      running = undefined;
      await ending?.kill();
      killedAtMs.push(performance.now());
    },
  };
}

export type ChaosScene = Awaited<ReturnType<typeof openScene>>;

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
  const bundles = join(root, '.tollgate', 'chaos');
  mkdirSync(bundles, { recursive: true });
  const folder = mkdtempSync(join(bundles, 'run-'));
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-chaos-'));
  for (const path of [folder, scratch]) ends.push(() => rmSync(path, { recursive: true, force: true }));
  const policyFile = join(folder, 'rules.json');
  const tokenFile = join(scratch, 'token');
  writeFileSync(policyFile, PACKED_RULES);
  writeFileSync(tokenFile, TOKEN);

  const { endpoint, stop } = await startDynamoDbLocal();
  ends.push(stop);
  const client = dynamoClient(endpoint);
  await ensureTable(client, CHAOS_TABLE);
  client.destroy();

  const startFunction = async (name: 'admit' | 'settle/stream') => {
    const own = join(folder, name.replace('/', '-'));
    mkdirSync(own);
    await bundleFunction(name, join(own, 'handler.mjs'));
    const rulesFile = join(own, 'rules.json');
    writeFileSync(rulesFile, PACKED_RULES);
    const env = {
      PATH: process.env.PATH ?? '',
      [functionNames.ENV_LEDGER_TABLE]: CHAOS_TABLE,
      [functionNames.ENV_GITLAB_INSTANCE]: CHAOS_INSTANCE,
      [functionNames.ENV_RULES_FILE]: rulesFile,
      [functionNames.ENV_DYNAMODB_ENDPOINT]: endpoint,
    };
    const part = await restartable(async () => {
      const host = await hostBundle({ folder: own, env });
      return { ...host, kill: host.close };
    });
    ends.push(part.kill);
    return part;
  };
  const admit = await startFunction('admit');
  const settle = await startFunction('settle/stream');
  const admitUrl = await serveFunctionUrl({
    invoke: async (event) => admit.running()?.invoke(event),
  });
  ends.push(() => admitUrl.close());

  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }],
    wsPort: 'off',
    random,
  });
  ends.push(() => router.close());
  const descriptors = join(root, 'relay', 'wire', 'default.binpb');
  const relays = await Promise.all(
    Array.from({ length: RELAYS }, async (_, index) => {
      const relay = await restartable(() =>
        startRelay({
          router: { url: router.grpcUrl ?? '', descriptors, authority: undefined },
          admitUrl: admitUrl.url,
          ...{ policyFile, tokenFile, deadlineMs: 1_000 },
          onLine: (line) => onLine(line, index),
          env: {
            [relayNames.ENV_RELAYS]: String(RELAYS),
            [relayNames.ENV_JOURNAL_TABLE]: CHAOS_TABLE,
            [relayNames.ENV_RELAY_GITLAB_INSTANCE]: CHAOS_INSTANCE,
            [relayNames.ENV_AWS_REGION]: 'us-east-1',
            [relayNames.ENV_AWS_DYNAMODB_ENDPOINT]: endpoint,
            AWS_ACCESS_KEY_ID: 'chaos',
            AWS_SECRET_ACCESS_KEY: 'chaos',
          },
        }),
      );
      ends.push(relay.kill);
      return relay;
    }),
  );
  await router.until(() => router.waitingStreams() > 8, { timeoutMs: 30_000 });
  return { endpoint, router, admit, settle, relays, rules: readRulesFile(policyFile) };
}

interface ChaosFault {
  /** Requests on their way to the part get no response. */
  readonly cuts: boolean;
  begin(scene: ChaosScene, relay: number): unknown;
  end(scene: ChaosScene, relay: number): unknown;
}

const NOTICED_MS_MAX = 10_000;

/** A request that comes before the router has noticed goes to a dead stream, and is cut as well. */
async function killRelay({ relays, router }: ChaosScene, relay: number): Promise<void> {
  const before = router.connections();
  await relays[relay]?.kill();
  await until(() => router.connections() < before, NOTICED_MS_MAX);
}

/** Long enough that the relay has decisions that exist only in its memory. */
const KILLED_AFTER_MS = 700;
const functions = ({ admit, settle }: ChaosScene) => [admit, settle];
const killFunctions = (scene: ChaosScene) => Promise.all(functions(scene).map((each) => each.kill()));
const restartFunctions = (scene: ChaosScene) => Promise.all(functions(scene).map((each) => each.restart()));

export const FAULTS: Readonly<Record<string, ChaosFault>> = {
  'functions killed': { cuts: false, begin: killFunctions, end: restartFunctions },
  'functions stalled': {
    cuts: false,
    begin: (scene) => functions(scene).map((each) => each.signal('SIGSTOP')),
    end: (scene) => functions(scene).map((each) => each.signal('SIGCONT')),
  },
  'relay killed': { cuts: true, begin: killRelay, end: ({ relays }, relay) => relays[relay]?.restart() },
  'relay stalled': {
    cuts: false,
    begin: ({ relays }, relay) => relays[relay]?.signal('SIGSTOP'),
    end: ({ relays }, relay) => relays[relay]?.signal('SIGCONT'),
  },
  'functions killed, then a relay': {
    cuts: true,
    begin: async (scene, relay) => {
      await killFunctions(scene);
      await new Promise((resolve) => setTimeout(resolve, KILLED_AFTER_MS));
      await killRelay(scene, relay);
    },
    end: async (scene, relay) => {
      await scene.relays[relay]?.restart();
      await restartFunctions(scene);
    },
  },
  'router cut off from the relays': {
    cuts: true,
    begin: async ({ router }) => {
      router.resetConnections();
      await router.until(() => router.waitingStreams() === 0, { timeoutMs: NOTICED_MS_MAX });
    },
    end: () => {},
  },
};
