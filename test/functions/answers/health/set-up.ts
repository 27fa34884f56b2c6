/** A deployment that holds, on a table in memory and a local GitLab: tests break one thing of it and look again. */
import type { DeployedEvidence } from '../../../../functions/answers/health/evidence.ts';
import { readHealth } from '../../../../functions/answers/health/judge-health.ts';
import { gitlabUnknown, readGitLabHealth } from '../../../../functions/answers/health/read-gitlab.ts';
import { DynamoDirectoryTable } from '../../../../functions/core/directory/directory-table.ts';
import { syncDirectory } from '../../../../functions/core/directory/sync.ts';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { createGitLabDirectory } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { dynamoRecountOutcomes } from '../../../../functions/core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes, dynamoControllerScope } from '../../../../functions/core/ledger/controller.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { itemAt, putItem } from '../../../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { type Item, type ItemTable, TimeLimit } from '../../../../functions/core/store/operation.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import * as names from '../../../../functions/names.ts';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { GitLabVersion } from '../../../../scripts/local/gitlab/webhooks.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';

export const INSTANCE = 'gitlab.example.com';
export const TOKEN = 'glpat-administrator';
const HOOK_URL = `https://hooks.example.com${names.WEBHOOK_PATH}`;
const DAY_MS = 86_400_000;
const controllerId = 7;

export type SetUp = Awaited<ReturnType<typeof aSetUp>>;

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
  readonly isDown?: boolean;
}

export async function aSetUp(administration: InstanceSettings = {}, version: GitLabVersion = '19.4') {
  const nowMs = Date.now();
  const clock = { ...systemClock, nowMs: () => nowMs };
  const table = new MemoryTable();
  const parts = { table, instance: INSTANCE, clock, random: () => 0 };
  let received = 200;
  const groups = [
    { id: 10, path: 'acme' },
    { id: 11, path: 'umbrella' },
  ];
  const controller = { id: controllerId, description: 'tollgate', state: 'enabled' as const };
  const gitlabWith = (settings: InstanceSettings) =>
    createLocalGitLab({
      ...{ random: seededRandom(1), token: TOKEN, version },
      controllers: [{ ...controller, connected: true, instanceScope: true }],
      administration: { groups, ...settings },
      deliver: async () => new Response(null, { status: received }),
    });
  const local = gitlabWith(administration);
  for (const { id } of groups)
    local.groupHooks.make(id, { url: `${HOOK_URL}/${id}`, name: 'tollgate', job_events: true });
  local.controllerTokens.make(controllerId, 'relays', nowMs - 30 * DAY_MS, seededRandom(2));
  const fetchDated =
    ({ gitlabAheadMs = 0, isDown = false }: LookOptions = {}): typeof fetch =>
    async (...request) => {
      if (isDown) throw new TypeError('fetch failed');
      const answer = await local.fetch(...request);
      const headers = { ...Object.fromEntries(answer.headers) };
      const date = new Date(nowMs + gitlabAheadMs).toUTCString();
      return new Response(await answer.text(), { status: answer.status, headers: { ...headers, date } });
    };

  const setUp = {
    ...{ nowMs, local, table, fetch: fetchDated() },
    beat: (relayId: string, change: Item = {}) => {
      const item = {
        [names.HEARTBEAT_AT]: { N: String(nowMs - 20_000) },
        [names.HEARTBEAT_STREAMS]: { N: '8' },
        [names.HEARTBEAT_DIRECTORY_AGE]: { N: '60000' },
        [names.HEARTBEAT_SCHEMA]: { S: 'gitlab.binpb' },
        [names.HEARTBEAT_SCHEMA_HASH]: { S: 'aa' },
        [names.HEARTBEAT_SCHEMA_STATE]: { S: 'proven' },
        [names.HEARTBEAT_POLICY]: { S: 'p1' },
        ...change,
      };
      const key = { pk: ledgerKeys(INSTANCE).heartbeatPk, sk: relayId };
      return putItem(table, itemAt(key, item), new TimeLimit(1_000));
    },
    /** What receivers of webhooks answer from now on. */
    receive: (status: number) => {
      received = status;
    },
    /** Adds to the day's usage. */
    ran: (jobs: number, unasked: number) => {
      const key = { subject: 'instance', day: new Date(nowMs).toISOString().slice(0, 10) };
      const delta = new Map(Object.entries({ ran: jobs, unasked }));
      return new DynamoRollupStore(parts).commit({ contributions: [], usage: [{ key, delta }] });
    },
    scopeRead: (readAtMs: number) =>
      dynamoControllerScope(parts).write({
        ...{ controllerId, state: 'enabled', readAtMs, instanceSinceMs: 0, runners: new Map() },
      }),
    canary: dynamoCanaryOutcomes(parts),
    look: (look: LookOptions = {}) => {
      const at = { ...systemClock, nowMs: () => look.nowMs ?? nowMs, sleep: async () => {} };
      const calls = { baseUrl: 'https://gitlab.example.com', token: async () => look.token ?? TOKEN };
      return readHealth({
        ...{ ...parts, table: look.table ?? table, clock: at, zone: 'UTC' },
        deployed: async () => ({ policyVersion: 'p1', descriptorsVersion: '19.4', ...look.deployed }),
        gitlab: async () =>
          look.unasked === undefined
            ? readGitLabHealth({
                calls: { ...calls, fetch: fetchDated(look), clock: at },
                ...{ controllerId: look.controllerId ?? controllerId, webhookUrl: HOOK_URL },
              })
            : gitlabUnknown(look.unasked, 'no_token'),
      });
    },
  };
  for (const relay of ['a', 'b']) await setUp.beat(relay);
  await setUp.ran(2_000, 0);
  await setUp.scopeRead(nowMs - 60_000);
  await setUp.canary.write({
    ...{ checkedAtMs: nowMs - DAY_MS, admitted: 'proven', rejected: 'proven', runnerId: 1 },
    ...{ descriptors: 'aa', gitlabVersion: `${version}.0-ee` },
  });
  const recount = { recountedAtMs: nowMs - 9 * 3_600_000, drifting: [], unlisted: 0 };
  await dynamoRecountOutcomes(parts).write(recount);
  // Listed while its token was still good.
  const { fetch } = gitlabWith({});
  const calls = { baseUrl: 'https://gitlab.example.com', token: async () => TOKEN, fetch, clock };
  const directory = new DynamoDirectoryTable(parts);
  const listedAt = { ...clock, nowMs: () => nowMs - 300_000 };
  await syncDirectory({
    gitlab: createGitLabDirectory(calls),
    table: directory,
    clock: listedAt,
    runId: 'run',
  });
  const live = { set: 's1', edit: 1, atMs: nowMs - DAY_MS };
  await new DynamoLimitTable(parts).flip(
    live,
    undefined,
    { timeoutMs: 1_000 },
    { edit: 1, bytes: new Uint8Array() },
  );
  return setUp;
}
