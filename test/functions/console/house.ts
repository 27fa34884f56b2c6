import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type ConsoleReadDeps, createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { createApi } from '../../../functions/console/api/create-api.ts';
import { createConsoleApp } from '../../../functions/console/app.ts';
import { decide } from '../../../functions/core/admission/decide.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Counter } from '../../../functions/core/ledger/ledger.ts';
import { createLimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import type { LimitEdit } from '../../../functions/core/limits/edit-model.ts';
import type { ApprovalSettings } from '../../../functions/core/limits/limit-reads.ts';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import { readDocument } from '../../../functions/core/limits/plan-edits.ts';
import { dynamoRequeueLists } from '../../../functions/core/requeue-list.ts';
import type { Roles, SignInEnv, User } from '../../../functions/core/signin/model.ts';
import { dynamoStatementChain } from '../../../functions/core/statements/closed-statement.ts';
import { dynamoPriceLists } from '../../../functions/core/statements/price-lists.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { placeRecords } from '../../../functions/core/usage/contribution.ts';
import { rollUp } from '../../../functions/core/usage/roll-up.ts';
import type { RollupStore } from '../../../functions/core/usage/rollup-store.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Decision } from '../../../policies/decision.ts';
import { type Directory, indexDirectory } from '../../../policies/directory.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aPolicy } from '../../policies/documents.ts';
import { MemoryRollupStore } from '../../support/ledger/memory-rollup-store.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { Feed } from '../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { memoryAlertRecords } from '../../support/tables/memory-alert-records.ts';
import { memoryLimitTable } from '../../support/tables/memory-limit-table.ts';
import { describedApp } from './described.ts';

const INSTANCE = 'gitlab.example.com';

/** acme (100) ▸ payments (101) ▸ cards (104), platform (102); beta (200) ▸ ops (201); jane's own (190). */
export const DIRECTORY: Directory = indexDirectory(
  [
    { id: 100, path: 'acme', personal: false },
    { id: 101, parentId: 100, path: 'acme/payments', personal: false },
    { id: 104, parentId: 101, path: 'acme/payments/cards', personal: false },
    { id: 102, parentId: 100, path: 'acme/platform', personal: false },
    { id: 200, path: 'beta', personal: false },
    { id: 201, parentId: 200, path: 'beta/ops', personal: false },
    { id: 190, path: 'jane', personal: true },
  ],
  [
    { id: 1, groupId: 104, path: 'acme/payments/cards/api' },
    { id: 2, groupId: 201, path: 'beta/ops/tools' },
  ],
);

const NOBODY: Roles = { admin: false, finance: false, ownedGroupIds: [], viewerGroupIds: [] };

const idsByName = new Map<string, number>();
/** One id for each name, as long as nobody renames their account. */
const userIdOf = (username: string): number => {
  const id = idsByName.get(username) ?? 7 + idsByName.size;
  idsByName.set(username, id);
  return id;
};

const aUser = (username: string, roles: Partial<Roles> = {}): User => ({
  id: userIdOf(username),
  username,
  name: username,
  roles: { ...NOBODY, ...roles },
  sessionId: username,
  csrfToken: 'token',
});

/** The roles of the table, seen from acme/payments (101). */
export const USERS = {
  none: aUser('nora'),
  viewer: aUser('vera', { viewerGroupIds: [101] }),
  'viewer of another subtree': aUser('otto', { viewerGroupIds: [200] }),
  owner: aUser('olga', { ownedGroupIds: [101], viewerGroupIds: [101] }),
  'owner of another subtree': aUser('oskar', { ownedGroupIds: [200], viewerGroupIds: [200] }),
  finance: aUser('fritz', { finance: true }),
  admin: aUser('ada', { admin: true }),
  job: aUser('job 9', { jobOfProjectId: 1 }),
  'job of another subtree': aUser('job 10', { jobOfProjectId: 2 }),
} as const;

/** A part of the console at its path, as somebody who is signed in meets it. */
export const servedTo = (user: User, path: string, part: Hono<SignInEnv>): Hono<SignInEnv> =>
  new Hono<SignInEnv>()
    .use(async (c, next) => {
      c.set('user', user);
      await next();
    })
    .route(path, part);

/** 900 a month on acme, 500 on payments, 3 on cards, 10 jobs at once there; beta may spend 100. */
export const LIMITS: readonly LimitEdit[] = [
  { kind: 'set', subject: 'group/100', unit: 'money', amount: 900, per: 'month' },
  { kind: 'set', subject: 'group/101', unit: 'money', amount: 500, per: 'month', owner: 'payments-leads' },
  { kind: 'set', subject: 'group/104', unit: 'money', amount: 3, per: 'month' },
  { kind: 'set', subject: 'group/104', unit: 'jobs', amount: 10 },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 100, per: 'month' },
];

/** Everything behind the console in memory: real desk, ledger and rollup, and a sign-in that believes. */
export function consoleHouse(
  parts: {
    readonly policy?: object;
    readonly directory?: Directory;
    /** In force as long as no set is live. @default nothing */
    readonly packed?: LimitsDocument;
    readonly approval?: ApprovalSettings;
    readonly limitTable?: ReturnType<typeof memoryLimitTable>;
    /** Where the pages read usage. @default the one the jobs of this house go to */
    readonly usage?: RollupStore;
    /** @default what reads many items reads each */
    readonly copies?: Pick<ConsoleReadDeps, 'counterSnapshots' | 'sheets'>;
  } = {},
) {
  const clock = manualClock();
  const policy = aPolicy(parts.policy);
  const directory = parts.directory ?? DIRECTORY;
  const feed = new Feed();
  const store = new MemoryStore({ instance: INSTANCE, clock, onCommit: feed.onCommit });
  const ledger = createLedger({ store, clock });
  const usage = new MemoryRollupStore({ instance: INSTANCE });
  const limitTable = parts.limitTable ?? memoryLimitTable();
  const chain = dynamoStatementChain({ table: new MemoryTable(), instance: INSTANCE });
  const prices = dynamoPriceLists({ table: new MemoryTable(), instance: INSTANCE });
  const requeue = dynamoRequeueLists({ table: new MemoryTable(), instance: INSTANCE });
  const alerts = memoryAlertRecords(clock);
  const known = new Map<string, Counter>();
  let ids = 0;
  const limitEdits = createLimitEdits({
    ...(parts.approval !== undefined && { approval: parts.approval }),
    table: limitTable,
    policy,
    ...(parts.packed !== undefined && { packed: parts.packed }),
    directory: async () => directory,
    ledger,
    clock,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
  });
  /** Routes of the API that answered with a success: `GET /me`. */
  const succeeded = new Set<string>();
  /** `batches`: calls of the store, which asks for up to two thousand items at once. */
  const reads = { counters: 0, usage: 0, calls: 0, batches: 0 };
  const packedLimits = readDocument(parts.packed ?? {}, 'packed', policy).limits;
  const deps: ConsoleReadDeps = {
    limitEdits,
    limitTable,
    packedLimits,
    policy,
    ledger: {
      readRecords: (jobIds) => ledger.readRecords(jobIds),
      readCounters: async (keys) => {
        reads.counters += keys.length;
        reads.calls += Math.ceil(keys.length / 100);
        reads.batches += 1;
        const read = await ledger.readCounters(keys);
        return read.map((counter) => known.get(counterName(counter.key)) ?? counter);
      },
    },
    usage: {
      readUsage: (keys) => {
        reads.usage += keys.length;
        reads.calls += Math.ceil(keys.length / 100);
        reads.batches += 1;
        return (parts.usage ?? usage).readUsage(keys);
      },
      readTop: (keys) => usage.readTop(keys),
      readEstimates: (projectIds) => usage.readEstimates(projectIds),
      readRejections: (subjects) => usage.readRejections(subjects),
    },
    books: { instance: INSTANCE, description: 'in memory', usage, chain, prices },
    requeue,
    alerts,
    places: async () => placesOf(directory),
    zone: 'UTC',
    clock,
    ...parts.copies,
    gitlabUrl: `https://${INSTANCE}`,
  };
  const read = createConsoleRead(deps);

  /** What was written since is in the usage. */
  const roll = async (): Promise<void> => {
    await rollUp(
      { Records: feed.records.splice(0) },
      {
        store: usage,
        keys: store.keys,
        clock,
        random: () => 0,
        placeOf: placeRecords(directory, 'UTC'),
        log: silentLog,
      },
    );
  };
  /** Decides by the limits that are live. */
  const ask = async (requests: readonly AdmissionRequest[]): Promise<readonly Decision[]> => {
    const limits = (await limitEdits.live())?.limits ?? packedLimits;
    const rules = { policy, limits, directory, estimator: timeoutEstimator };
    const decisions = await decide(requests, clock.monotonicMs() + 60_000, {
      ledger,
      currentRules: async () => rules,
      clock,
      log: silentLog,
    });
    await roll();
    return decisions;
  };
  /** Applies as somebody of finance; somebody else approves it where two are needed. */
  const apply = async (edits: readonly LimitEdit[]): Promise<string> => {
    const base = (await limitEdits.live())?.pointer.set;
    const outcome = await limitEdits.apply(edits, {
      actor: 'fritz',
      rights: [{ role: 'finance' }],
      why: 'because',
      source: 'test',
      base,
      confirmed: true,
    });
    if (outcome.outcome === 'live') return outcome.pointer.set;
    if (outcome.outcome !== 'needs_approval' || outcome.request === undefined)
      throw new Error(JSON.stringify(outcome));
    const by = { actor: 'zoe', rights: [{ role: 'finance' } as const] };
    const decided = await limitEdits.decide(outcome.request.id, { decision: 'approve' }, by);
    if (decided.outcome !== 'approved') throw new Error(JSON.stringify(decided));
    return decided.pointer.set;
  };
  /** What a counter shows, without the jobs. */
  const counts = (subject: string, limit: string, period: string, committed: number): void => {
    const key = { subject, limit, period };
    const unchecked = { exempt: 0, unmetered: 0, bypass: 0 };
    known.set(counterName(key), { key, committed, fitted: committed, settled: committed, unchecked, rev: 1 });
  };
  /** What a subject used on a day, without the jobs. */
  const used = async (subject: string, day: string, micros: number, jobs = 1): Promise<void> => {
    const delta = new Map([
      ['settledMicros', micros],
      ['jobs', jobs],
      ['admitted', jobs],
      ['ran', jobs],
    ]);
    await usage.commit({ contributions: [], usage: [{ key: { subject, day }, delta }] });
  };
  /** The app as this user sees it. */
  const appFor = (user: User): Hono => {
    const parts = { limitEdits, clock, read, policy, directory: async () => directory, log: silentLog };
    const requireUser = createMiddleware<SignInEnv>(async (c, next) => {
      c.set('user', user);
      await next();
    });
    const app = createConsoleApp({ ...parts, signIn: { routes: new Hono<SignInEnv>(), requireUser } });
    return describedApp(app, () => createApi(parts), succeeded);
  };
  return {
    clock,
    chain,
    prices,
    requeue,
    alerts,
    policy,
    directory,
    limitEdits,
    ledger,
    store,
    roll,
    usage,
    read,
    reads,
    deps,
    ask,
    apply,
    counts,
    used,
    appFor,
    succeeded,
  };
}

export const aJob = (jobId: number, more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  jobId,
  jobName: 'unit',
  pipelineId: 5000,
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  namespaceId: 104,
  rootNamespaceId: 100,
  userId: 7,
  ref: 'main',
  image: 'alpine:3.22',
  timeoutSeconds: 3600,
  variables: {},
  ...more,
});
