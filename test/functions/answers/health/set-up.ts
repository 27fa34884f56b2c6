/** A deployment that holds, on a table in memory and a local GitLab over HTTP: whoever breaks one thing of it looks again. */

import type { DeployedEvidence, HealthView } from '../../../../functions/answers/health/evidence.ts';
import { gitlabUnknown, readGitLabHealth } from '../../../../functions/answers/health/read-gitlab.ts';
import { readHealth } from '../../../../functions/answers/health/read-health.ts';
import { DynamoDirectoryTable } from '../../../../functions/core/directory/dynamo-directory-table.ts';
import { syncDirectory } from '../../../../functions/core/directory/sync.ts';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { createGitLabDirectory } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { dynamoRecountOutcomes } from '../../../../functions/core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes, dynamoControllerScope } from '../../../../functions/core/ledger/controller.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/dynamo-limit-table.ts';
import { itemAt, putItem } from '../../../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { type Item, type ItemTable, TimeLimit } from '../../../../functions/core/store/operation.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import * as names from '../../../../functions/names.ts';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { GitLabVersion } from '../../../../scripts/local/gitlab/webhooks.ts';
import type { LoopbackServer } from '../../../../scripts/local/loopback.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';

const INSTANCE = 'gitlab.example.com';
const TOKEN = 'glpat-administrator';
const HOOK_URL = `https://hooks.example.com${names.WEBHOOK_PATH}`;
const DAY_MS = 86_400_000;
const CONTROLLER = 7;

interface SetUpOptions {
  readonly administration?: InstanceSettings;
  readonly version?: GitLabVersion;
}

export interface SetUp {
  /** When it was set up, Unix ms. */
  readonly nowMs: number;
  readonly local: ReturnType<typeof createLocalGitLab>;
  readonly table: MemoryTable;
  beat(relayId: string, change?: Item): Promise<void>;
  /** Adds to the day's usage. */
  ran(jobs: number, unasked: number): Promise<void>;
  /** What receivers of webhooks answer from now on. */
  receive(status: number): void;
  recount(atMs: number): Promise<void>;
  scopeRead(atMs: number): Promise<void>;
  listDirectory(atMs: number): Promise<void>;
  look(change?: LookOptions): Promise<HealthView>;
  close(): Promise<void>;
}

export interface LookOptions {
  readonly token?: string;
  readonly controllerId?: number;
  readonly table?: ItemTable;
  readonly deployed?: Partial<DeployedEvidence>;
  /** What GitLab's clock is ahead of ours. */
  readonly gitlabAheadMs?: number;
  readonly nowMs?: number;
  /** Nobody gave it a token. */
  readonly unasked?: string;
}

export async function aSetUp({ administration, version = '19.4' }: SetUpOptions = {}): Promise<SetUp> {
  const nowMs = Date.now();
  const clock = { ...systemClock, nowMs: () => nowMs };
  const table = new MemoryTable();
  const parts = { table, instance: INSTANCE, clock, random: () => 0 };
  let received = 200;
  const local = createLocalGitLab({
    random: seededRandom(1),
    token: TOKEN,
    version,
    controllers: [
      { id: CONTROLLER, description: 'tollgate', state: 'enabled', connected: true, instanceScope: true },
    ],
    administration: {
      groups: [
        { id: 10, path: 'acme' },
        { id: 11, path: 'umbrella' },
      ],
      ...administration,
    },
    deliver: async () => new Response(null, { status: received }),
  });
  for (const group of [10, 11])
    local.groupHooks.make(group, { url: `${HOOK_URL}/${group}`, name: 'tollgate', job_events: true });
  local.controllerTokens.make(CONTROLLER, 'relays', nowMs - 30 * DAY_MS, seededRandom(2));
  await dynamoCanaryOutcomes(parts).write({
    ...{ checkedAtMs: nowMs - DAY_MS, admitted: 'proven', rejected: 'proven', runnerId: 1 },
    ...{ descriptors: 'aa', gitlabVersion: `${version}.0-ee` },
  });
  const server: LoopbackServer = await local.listen();

  const setUp: SetUp = {
    ...{ nowMs, local, table },
    beat: async (relayId, change = {}) => {
      const item = {
        [names.HEARTBEAT_AT]: { N: String(nowMs - 20_000) },
        [names.HEARTBEAT_STREAMS]: { N: '8' },
        [names.HEARTBEAT_DIRECTORY_AGE]: { N: '60000' },
        [names.HEARTBEAT_SCHEMA]: { S: 'gitlab.binpb' },
        [names.HEARTBEAT_SCHEMA_HASH]: { S: 'aa' },
        [names.HEARTBEAT_SCHEMA_STANDING]: { S: 'proven' },
        [names.HEARTBEAT_POLICY]: { S: 'p1' },
        ...change,
      };
      const key = { pk: ledgerKeys(INSTANCE).heartbeatPk, sk: relayId };
      await putItem(table, itemAt(key, item), new TimeLimit(1_000));
    },
    receive: (status) => {
      received = status;
    },
    ran: async (jobs, unasked) => {
      const day = new Date(nowMs).toISOString().slice(0, 10);
      const delta = new Map([
        ['ran', jobs],
        ['unasked', unasked],
      ]);
      await new DynamoRollupStore(parts).commit({
        contributions: [],
        usage: [{ key: { subject: 'instance', day }, delta }],
      });
    },
    recount: (recountedAtMs) =>
      dynamoRecountOutcomes(parts).write({ recountedAtMs, drifting: [], unlisted: 0 }),
    scopeRead: (readAtMs) =>
      dynamoControllerScope(parts).write({
        ...{ controllerId: CONTROLLER, state: 'enabled', readAtMs, instanceSinceMs: 0 },
        runners: new Map(),
      }),
    listDirectory: async (atMs) => {
      // Listed while its token was still good.
      const before = createLocalGitLab({
        ...{ random: seededRandom(1), token: TOKEN, version },
        administration: { groups: [{ id: 10, path: 'acme' }] },
      });
      await syncDirectory({
        gitlab: createGitLabDirectory({
          ...{ baseUrl: 'https://gitlab.example.com', token: async () => TOKEN, fetch: before.fetch, clock },
        }),
        table: new DynamoDirectoryTable(parts),
        clock: { ...clock, nowMs: () => atMs },
        runId: 'run',
      });
    },
    look: ({ token = TOKEN, controllerId = CONTROLLER, ...look } = {}) => {
      const at = { ...systemClock, nowMs: () => look.nowMs ?? nowMs, sleep: async () => {} };
      const dated: typeof fetch = async (...request) => {
        const answer = await fetch(...request);
        const date = new Date(nowMs + (look.gitlabAheadMs ?? 0)).toUTCString();
        return new Response(await answer.text(), {
          status: answer.status,
          headers: { ...Object.fromEntries(answer.headers), date },
        });
      };
      return readHealth({
        ...parts,
        table: look.table ?? table,
        ...{ clock: at, zone: 'UTC' },
        deployed: async () => ({ policyVersion: 'p1', descriptorsVersion: '19.4', ...look.deployed }),
        gitlab: async () =>
          look.unasked === undefined
            ? readGitLabHealth({
                calls: { baseUrl: server.url, token: async () => token, fetch: dated, clock: at },
                ...{ controllerId, webhookUrl: HOOK_URL },
              })
            : gitlabUnknown(look.unasked, 'no_token'),
      });
    },
    close: async () => {
      local.stop();
      await server.stop();
    },
  };
  for (const relay of ['a', 'b']) await setUp.beat(relay);
  await setUp.ran(2_000, 0);
  await setUp.recount(nowMs - 9 * 3_600_000);
  await setUp.scopeRead(nowMs - 60_000);
  await setUp.listDirectory(nowMs - 300_000);
  await new DynamoLimitTable(parts).flip({ set: 's1', edit: 1, atMs: nowMs - DAY_MS }, undefined, {
    timeoutMs: 1_000,
  });
  return setUp;
}
