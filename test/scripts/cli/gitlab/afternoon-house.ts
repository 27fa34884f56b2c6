/**
 * A company before its first afternoon with Tollgate: a GitLab of 200 groups and 40 runners, a router that does what GitLab's
 * controller says, a relay, and the functions and tables of a deployment in memory. Days pass when they are told to.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createAdmitApp } from '../../../../functions/admit/app.ts';
import { handOutKnown } from '../../../../functions/core/directory/hand-out.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { JobStatus } from '../../../../functions/core/gitlab/gitlab.ts';
import { createGitLab } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { dynamoSweepMarks } from '../../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { inboxItem, recordItem } from '../../../../functions/core/ledger/items.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { LimitsError, type LimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { rulesInForce } from '../../../../functions/core/rules.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import type { Item } from '../../../../functions/core/store/operation.ts';
import { settleTruths } from '../../../../functions/core/truth/settle-truths.ts';
import { placeBy } from '../../../../functions/core/usage/contribution.ts';
import { rollUp } from '../../../../functions/core/usage/roll-up.ts';
import { createSettleApp, JOBS_PATH } from '../../../../functions/settle/app.ts';
import { consume } from '../../../../functions/settle/consume.ts';
import { newSweepMemory } from '../../../../functions/sweep/run.ts';
import { sweep } from '../../../../functions/sweep/sweep.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { openBudget } from '../../../../scripts/cli/api/open-api.ts';
import { osUserName } from '../../../../scripts/cli/budget/arguments.ts';
import { COMMANDS } from '../../../../scripts/cli/commands.ts';
import { openLimits } from '../../../../scripts/cli/limits/live-set.ts';
import { openLedger, readOnly } from '../../../../scripts/cli/open-ledger.ts';
import { readRules } from '../../../../scripts/cli/rules-flags.ts';
import type { GitLabVersion } from '../../../../scripts/local/gitlab/webhooks.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { flowRelay, listen } from '../../../support/flow/flow.ts';
import { patientRouter } from '../../../support/flow/patient-router.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';
import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { type DeskRun, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';
import { ADMIN_TOKEN, setupBench, someGroups } from './setup-bench.ts';

const INSTANCE = 'gitlab.example.com';
export const RECEIVER = `https://hooks.example.com${JOBS_PATH}`;
const DAY_MS = 86_400_000;
const JOB_MS = 600_000;
/** The first groups of the 200, by number, have jobs every day. The last two use runners that pass by. */
const BUSY = 12;
const FIRST_RUNNER = 101;
const BYPASSING = [131, 132, 133, 134, 135, 136, 137, 138, 139, 140];

/** Everything that stands before anybody types a command. */
export async function afternoonHouse(version: GitLabVersion) {
  const groups = someGroups(200);
  const arriving = new Set<Promise<unknown>>();
  const bench = setupBench({
    version,
    administration: { groups },
    relay: false,
    deliver: (request) => {
      const answer = Promise.resolve(settling.fetch(request));
      arriving.add(answer);
      return answer;
    },
  });
  const { local, clock, root, kept } = bench;
  for (let at = 0; at < 40; at += 1)
    local.addRunner({
      id: FIRST_RUNNER + at,
      tags: ['linux'],
      createdBy: 1,
      managers: [{ systemId: `s_${at}`, version: '19.0.0', contactedAtMs: clock.nowMs() }],
    });

  const busy = groups.slice(0, BUSY);
  const write = (name: string, document: object) =>
    writeFileSync(join(root, `${name}.yaml`), JSON.stringify(document));
  write('policy', policyDocument());
  write('limits', {
    limits: busy.map(({ id }, at) => ({ on: { group: id }, money: at === 2 ? 3 : 30, per: 'once' })),
  });
  write('directory', {
    groups: groups.map(({ id, path }) => ({ id, path })),
    projects: busy.map(({ id, path }) => ({ id: id + 1_000, group: id, path: `${path}/web` })),
  });
  const files = { policy: 'policy.yaml', limits: 'limits.yaml', directory: 'directory.yaml' };
  const packed = { ...readRules(files, { cwd: root, root }), estimator: timeoutEstimator };
  if (packed.directory === undefined) throw new Error('no directory');
  const { directory } = packed;

  // The tables of a deployment, and what stands behind their stream.
  const keys = ledgerKeys(INSTANCE);
  const images: Item[] = [];
  const inbox: Item[] = [];
  const store = new MemoryStore({
    instance: INSTANCE,
    clock,
    onCommit: (writes) => {
      for (const each of writes) if (each.kind === 'record') images.push(recordItem(each.record, keys));
    },
    onReceived: (item) => inbox.push(inboxItem(item, keys)),
  });
  const ledger = createLedger({ store, clock });
  const rollup = new MemoryRollupStore({ instance: INSTANCE });
  const table = memoryLimitTable();
  const rules = rulesInForce(packed, { table, ledger, clock, log: silentLog });
  const settling = createSettleApp({
    inbox: store,
    secrets: async () => kept('webhook-secrets')?.split('\n') ?? [],
    random: () => 0.5,
    legacyTokens: async () => kept('webhook-tokens')?.split('\n') ?? [],
    clock,
    log: silentLog,
  });
  // Jobs that nobody was asked about are the sweep's to find.
  const gitlab = createGitLab({
    baseUrl: 'https://gitlab.example.com',
    token: async () => ADMIN_TOKEN,
    fetch: local.fetch,
    clock,
  });
  const [memory, marks] = [
    newSweepMemory(),
    dynamoSweepMarks({ table: new MemoryTable(), instance: INSTANCE }),
  ];
  const sweepOnce = () =>
    sweep({
      ...{ gitlab, ledger, marks, memory, clock, chargeUnknown: 'nothing' },
      chargeBypass: (truths) =>
        settleTruths(truths, { ledger, currentRules: rules.rulesFor, clock, log: silentLog }),
    });
  await sweepOnce();
  const settle = async (): Promise<void> => {
    await Promise.all(arriving);
    arriving.clear();
    const records = (items: readonly Item[]) =>
      items.map((NewImage, at) => ({
        eventName: 'INSERT',
        dynamodb: { SequenceNumber: String(at + 1), NewImage },
      }));
    const deps = { ledger, keys, directoryFor: rules.directoryFor, clock, log: silentLog };
    await consume({ Records: records(inbox.splice(0)) }, deps);
    await sweepOnce();
    const counting = {
      store: rollup,
      keys,
      clock,
      random: () => 0,
      placeOf: placeBy(directory, 'UTC'),
      log: silentLog,
    };
    await rollUp({ Records: records(images.splice(0)) }, counting);
  };

  // The functions and the router, over real HTTP and gRPC.
  const admit = await listen(
    createAdmitApp({
      ledger,
      currentRules: rules.rulesFor,
      handOutDirectory: handOutKnown(directory),
      clock,
      log: silentLog,
    }),
  );
  const router = await patientRouter({ controllers: [{ id: 1, tokens: [], state: 'disabled' }] });
  let relay: ReturnType<typeof flowRelay>['relay'] | undefined;
  onTestFinished(async () => {
    await relay?.stop();
    await router.close();
    await admit.close();
  });
  /** The router does what GitLab's controller says. */
  const follow = (): void => {
    const controller = local.controller(1);
    const tokens = local.controllerTokens.of(1).map(({ value }) => value);
    const state = controller?.instanceScope === true ? controller.state : 'disabled';
    router.changeController(1, { tokens, state });
  };
  const startRelay = async (): Promise<void> => {
    follow();
    const token = kept('router-token') ?? '';
    const before = relay;
    await before?.stop();
    await router.until(() => router.waitingStreams() === 0);
    relay = flowRelay(router.grpcUrl ?? '', admit.url, packed, { token }).relay;
    relay.start();
    await router.until(() => router.waitingStreams() > 0, { what: 'a relay with the token that is kept' });
    local.controllerTokens.use(token, clock.nowMs());
    local.changeController(1, { connected: true });
  };

  let bypassing: readonly number[] = BYPASSING;
  let jobs = 0;
  /** One job of a group, as GitLab ends it. */
  const job = async (team: number, runnerId: number): Promise<() => JobStatus | undefined> => {
    jobs += 1;
    const id = jobs;
    const group = busy[team - 1];
    const runner = { id: runnerId };
    if (group === undefined) throw new Error(`team ${team} has no jobs`);
    const projectPath = `${group.path}/web`;
    local.create({ id, projectId: group.id + 1_000, projectPath, name: 'unit' });
    const asks = !bypassing.includes(runnerId);
    const { result } = asks
      ? await router.admit({
          id,
          job_info: {
            id,
            name: 'unit',
            stage: 'test',
            pipeline_id: id,
            project_id: group.id + 1_000,
            project_full_path: projectPath,
            namespace_id: group.id,
            root_namespace_id: group.id,
            user_id: 7,
            tags: [],
          },
          runner_info: { id: runnerId, timeout: 3600, tags: [] },
          image: { name: 'alpine:3.22' },
          variables: [],
        })
      : { result: 'admitted' };
    if (result === 'rejected') local.reject(id, runner);
    else local.play(id, { runner, runsMs: JOB_MS });
    return () => local.job(id)?.status;
  };
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settle();
  };
  const runnerOf = (team: number, day: number): number => {
    if (team <= BUSY - 2) return FIRST_RUNNER + ((team * 3 + day) % 30);
    return FIRST_RUNNER + 30 + (team - BUSY + 1) * 5 + (day % 5);
  };

  // What the people of the platform type.
  const dead = () => new LimitsError('limits_unavailable', 'the process is dead');
  const mortalTable = new Proxy(table, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...asked: readonly unknown[]) =>
        bench
          .mortal(async () => Reflect.apply(member, target, asked))
          .catch((error: unknown) => {
            throw error instanceof LimitsError ? error : dead();
          });
    },
  }) as LimitTable;
  const open = async () => ({ table: mortalTable, description: 'the test table', close: async () => {} });
  const openBooks = async () => ({
    store: readOnly(store),
    description: 'the test ledger',
    instance: INSTANCE,
    close: async () => {},
  });
  const openTables = async () => ({
    limits: mortalTable,
    ledger: readOnly(store),
    rollup,
    directory: memoryDirectoryTable(),
    description: 'the test table',
    close: async () => {},
  });
  const surroundings = surrounded({
    ...{ fetch: bench.killable, clock, answer: () => 'yes' },
    more: [
      [openLimits, open],
      [openLedger, openBooks],
      [openBudget, openTables],
      [osUserName, () => 'jane'],
    ],
  });
  const documents = ['--policy', 'policy.yaml', '--limits', 'limits.yaml', '--directory', 'directory.yaml'];
  const tollgate = async (line: string): Promise<DeskRun> => {
    if (line.startsWith('gitlab ')) return bench.run(line.slice('gitlab '.length));
    bench.countCalls();
    const words = line.split(' ');
    const more =
      words[0] === 'limits' ? ['--policy', 'policy.yaml', '--directory', 'directory.yaml'] : documents;
    return runDesk(
      [...words, ...more],
      root,
      { nowMs: clock.nowMs, columns: 140, ...surroundings },
      COMMANDS,
    );
  };

  return {
    bench,
    startRelay,
    follow,
    tollgate,
    /** `FF_USE_JOB_ROUTER=true` on all of them. */
    repairRunners: (): void => {
      bypassing = [];
    },
    bypassing: BYPASSING,
    /** So many working days: a job of ten minutes in each busy group. */
    work: async (days: number): Promise<void> => {
      for (let day = 0; day < days; day += 1) {
        await Promise.all(busy.map((_, at) => job(at + 1, runnerOf(at + 1, day))));
        await pass(JOB_MS);
        await pass(DAY_MS - JOB_MS);
      }
    },
    /** So many jobs of one group, one after the other. @returns how GitLab ended them */
    burst: async (team: number, count: number): Promise<readonly (JobStatus | undefined)[]> => {
      const statuses: (JobStatus | undefined)[] = [];
      for (let at = 0; at < count; at += 1) {
        const status = await job(team, FIRST_RUNNER + at);
        await pass(JOB_MS);
        statuses.push(status());
      }
      return statuses;
    },
    lastJob: () => local.job(jobs),
  };
}
