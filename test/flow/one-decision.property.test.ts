/**
 * Every surface gives the decision of the admit function: the console's check, the job's page, `can-i`, `explain` and the
 * tools of `mcp`. All read one table, in states that limits, grants, freezes, rollouts, break-glasses and earlier jobs make.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAdmitApp } from '../../functions/admit/app.ts';
import { createConsoleRead } from '../../functions/answers/create-console-read.ts';
import type { CheckedPipeline, JobExplanation } from '../../functions/answers/job/model.ts';
import { placesOf } from '../../functions/answers/reading/scope.ts';
import { ADMISSIONS_PATH } from '../../functions/core/contract/admissions.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { createEstimateCache, dynamoEstimateSource } from '../../functions/core/estimates/estimates.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { createLimitEdits } from '../../functions/core/limits/create-limit-edits.ts';
import { DynamoLimitTable } from '../../functions/core/limits/limit-table.ts';
import { publishLimits } from '../../functions/core/limits/publish-limits.ts';
import { rulesInForce } from '../../functions/core/rules.ts';
import { MemoryTable } from '../../functions/core/store/memory-table.ts';
import { DynamoRollupStore } from '../../functions/core/usage/rollup-store.ts';
import type { Decision } from '../../policies/decision.ts';
import { parseDirectory } from '../../policies/document/parse-directory.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { withRuns } from '../../policies/run-history.ts';
import { type CommandCall, mcpTools } from '../../scripts/cli/mcp.ts';
import { type OpenLedger, readOnly } from '../../scripts/cli/open-ledger.ts';
import { USERS } from '../functions/console/house.ts';
import { aPolicy, policyDocument, someLimits } from '../policies/documents.ts';
import { aProject, runDesk } from '../scripts/cli/desk-run.ts';
import { surrounded } from '../scripts/cli/stand-ins.ts';
import { testClock } from '../support/ledger/test-clock.ts';
import { FULL } from '../support/property-runs.ts';

const INSTANCE = 'gitlab.example.com';
const HOUR_MS = 3_600_000;

const POLICY = {
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'slots', kind: 'concurrency', mode: 'enforce' },
    { id: 'starts', kind: 'window', mode: 'enforce' },
    { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] },
    { id: 'pinned', kind: 'image', mode: 'warn', deny: ['*:latest'] },
  ],
  disclose: { default: 'all' },
};

const DIRECTORY = {
  groups: [
    { id: 100, path: 'acme' },
    { id: 101, parent: 100, path: 'acme/payments' },
    { id: 102, parent: 100, path: 'acme/platform' },
    { id: 104, parent: 101, path: 'acme/payments/cards' },
  ],
  projects: [
    { id: 1, group: 104, path: 'acme/payments/cards/api' },
    { id: 2, group: 102, path: 'acme/platform/tools' },
  ],
};

// The documents of finance.

const mode = fc.constantFrom('enforce', 'enforce', 'enforce', 'warn', 'shadow', 'off');
const limited = fc.constantFrom(1, 2, 5, 8, 13, 20, 30, 500);
const amount = fc.oneof(
  { arbitrary: limited, weight: 6 },
  fc.constantFrom<number | 'unlimited'>(0, 'unlimited'),
);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 3 });
const written = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  maybe(fc.record({ mode, ...fields }));
const always = fc.constant;

const someLimitList = fc
  .tuple(
    written({ on: always('instance'), money: amount, per: always('month') }),
    written({ on: always({ group: 100 }), money: limited, per: always('month'), soft: always('50%') }),
    written({ on: always({ group: 101 }), money: limited, per: always('week'), grace: always('50%') }),
    written({ on: always({ group: 101 }), minutes: amount.map(tenfold), per: always('month') }),
    written({
      ...{ on: always({ group: 104 }), money: limited, per: always('day') },
      ...{ carry: always({ max: 1 }), overdraft: fc.constantFrom('carry', 'absorb') },
    }),
    written({
      ...{ on: always({ group: 104 }), jobs: fc.integer({ min: 1, max: 5 }) },
      ...{ cohort: always('ci'), borrow: always(2), lend: fc.constantFrom(0, 1) },
    }),
    written({
      ...{ on: always({ group: 102 }), jobs: fc.integer({ min: 1, max: 5 }) },
      ...{ cohort: always('ci'), borrow: always(2) },
    }),
    written({ on: always({ group: 100 }), jobs: fc.integer({ min: 0, max: 8 }), wait: always('20s') }),
    written({ on: always({ project: 1 }), starts: amount, per: always('day') }),
    written({ on: always({ runner_class: 'large' }), money: amount, per: always('month') }),
    written({ on: always({ user: 7 }), money: amount, per: always('day') }),
    written({ on: always({ each: 'user' }), money: amount, per: always('day') }),
    written({ on: always({ each: 'job', group: 100 }), starts: limited, per: always('day') }),
  )
  .map((all) => all.flatMap((each) => (each === undefined ? [] : [withoutUndefined(each)])));

function tenfold(each: number | 'unlimited'): number | 'unlimited' {
  return each === 'unlimited' ? each : each * 10;
}

const withoutUndefined = (each: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined));

const days = { from: always('2026-11-20'), until: fc.constantFrom('2026-11-20', '2026-11-21', '2026-11-22') };
const place = fc.constantFrom({ group: 100 }, { group: 104 }, { project: 1 }, { group: 102 });
const someFreeze = fc.record({ on: place, ...days, reason: always('year-end close') });
const someGlass = fc.record({
  ...{ on: place, id: always('outage'), users: fc.constantFrom([7], [8]), per: always('day'), ...days },
  ...{ jobs: fc.integer({ min: 1, max: 3 }), reason: always('payment outage') },
});
const someRollout = fc.record({
  on: fc.constantFrom({ group: 100 }, { group: 104 }, { project: 1 }, { instance: true }),
  ...{ cost: mode, capacity: mode },
});
const someGrant = fc.record({ amount: limited, ...days });

const someDocument = fc
  .record({
    limits: someLimitList,
    grant: maybe(someGrant),
    freeze: fc.option(someFreeze, { nil: undefined, freq: 2 }),
    glass: fc.option(someGlass, { nil: undefined, freq: 2 }),
    rollout: maybe(someRollout),
  })
  .map(({ limits, grant, freeze, glass, rollout }) => {
    const on = limits.find(({ per, on }) => per === 'day' && JSON.stringify(on) === '{"group":104}')?.on;
    return {
      limits,
      ...(grant && on !== undefined && { grants: [{ on, limit: 'money-day', reason: 'release', ...grant }] }),
      ...(freeze && { freezes: [freeze] }),
      ...(glass && { breakglass: [glass] }),
      ...(rollout && { rollout: [{ ...rollout.on, cost: rollout.cost, capacity: rollout.capacity }] }),
    };
  });

// The jobs, and all else that happens.

const someJob = fc.record({
  jobName: fc.constantFrom('unit', 'build'),
  image: fc.constantFrom('alpine:3.22', 'alpine:3.22', 'alpine:3.22', 'alpine:latest', 'node:24'),
  jobTags: fc.constantFrom<readonly string[]>([], ['large'], ['free']),
  timeoutSeconds: fc.integer({ min: 1, max: 120 }).map((minutes) => minutes * 60),
  userId: fc.constantFrom(7, 8),
  refProtected: fc.boolean(),
  // A question from the command line is about no pipeline.
  pipelineId: fc.constantFrom(undefined, undefined, 5000, 5001),
  projectId: fc.constantFrom(1, 1, 1, 2),
});
type Job = typeof someJob extends fc.Arbitrary<infer Value> ? Value : never;

const someStep = fc.record({
  document: fc.option(someDocument, { nil: undefined, freq: 2 }),
  passedMs: fc.constantFrom(0, 0, 60_000, HOUR_MS, 13 * HOUR_MS),
  retried: fc.boolean(),
  settled: maybe(fc.record({ back: fc.nat(5), minutes: fc.integer({ min: 1, max: 90 }) })),
  job: someJob,
});

const PLACES = {
  1: { projectId: 1, projectPath: 'acme/payments/cards/api', namespaceId: 104, rootNamespaceId: 100 },
  2: { projectId: 2, projectPath: 'acme/platform/tools', namespaceId: 102, rootNamespaceId: 100 },
} as const;

const requestOf = (jobId: number, { pipelineId, projectId, ...job }: Job): AdmissionRequest => ({
  ...{ jobId, ...PLACES[projectId as 1 | 2], ref: 'main', variables: {}, services: [], ...job },
  ...(pipelineId !== undefined && { pipelineId }),
});

/** A decision as it is compared: the outcome, what rules say against the job in which mode, and its price. */
interface Told {
  readonly outcome: string;
  readonly against: readonly string[];
  readonly costMicros: number | undefined;
}

interface Line {
  readonly rule: string;
  readonly mode: string;
  readonly code: string;
}

/** Without the note that the glass was broken, which only the decision itself has. */
const against = (lines: readonly Line[]): readonly string[] =>
  lines
    .filter(({ code }) => code !== 'BREAK_GLASS')
    .map(({ rule, mode: how, code }) => `${rule} ${how}: ${code}`)
    .toSorted();

function world() {
  const clock = testClock();
  const policy = aPolicy(POLICY);
  const parsed = parseDirectory(DIRECTORY);
  if (!parsed.ok) throw new Error('the directory is valid');
  const directory = parsed.value;
  const table = new MemoryTable({ nowMs: clock.nowMs });
  const parts = { table, instance: INSTANCE, clock, random: () => 0 };
  const store = new DynamoStore(parts);
  const ledger = createLedger({ store, clock });
  const limits = new DynamoLimitTable(parts);
  const usage = new DynamoRollupStore(parts);
  const packedLimits = someLimits({}, policy, directory);
  const packed = { policy, limits: packedLimits, directory, estimator: timeoutEstimator };
  const limitEdits = createLimitEdits({
    ...{ table: limits, policy, directory: async () => directory, ledger, clock, newId: () => 'id' },
  });
  const read = createConsoleRead({
    ...{ limitEdits, limitTable: limits, packedLimits, policy, ledger, usage, zone: 'UTC', clock },
    places: async () => placesOf(directory),
  });

  const publish = async (document: object): Promise<void> => {
    const live = await limits.getPointer({ timeoutMs: 1_000 });
    const change = { actor: 'fritz', why: 'because', source: 'test', atMs: clock.nowMs() };
    const outcome = await publishLimits(
      document,
      { ...change, ...(live && { base: live.set }) },
      { table: limits, policy, directory },
    );
    if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  };

  const glass = { isBroken: false };
  /** By a process that has just started: it remembers no limits of a moment ago. */
  const admit = async (request: AdmissionRequest): Promise<Told> => {
    const app = createAdmitApp({
      ...{ ledger, clock, log: silentLog },
      currentRules: rulesInForce(packed, { table: limits, ledger, clock, log: silentLog }).rulesFor,
      estimatorFor: createEstimateCache({ source: dynamoEstimateSource(parts), clock }).estimatorFor,
    });
    const body = JSON.stringify({ requests: [request], remainingMs: 60_000 });
    const answer = await (await app.request(ADMISSIONS_PATH, { method: 'POST', body })).json();
    const [decision] = (answer as { decisions: Decision[] }).decisions;
    if (decision === undefined || decision.outcome === 'undecided') throw new Error(JSON.stringify(answer));
    glass.isBroken = decision.shadow.some(({ reason }) => reason.code === 'BREAK_GLASS');
    const violations = [...(decision.outcome === 'rejected' ? decision.violations : []), ...decision.shadow];
    return {
      outcome: decision.outcome,
      against: against(violations.map(({ reason, ...each }) => ({ ...each, code: reason.code }))),
      costMicros: decision.terms?.costMicros,
    };
  };

  const learn = async (jobName: string, seconds: number): Promise<void> => {
    const [stored] = await usage.readEstimates([1]);
    const run = { jobName, runnerClass: 'small', seconds, endedAtMs: clock.nowMs() };
    const runs = Array.from({ length: 5 }, () => run);
    const { history, rev } = stored ?? { history: new Map(), rev: 0 };
    await usage.writeEstimates(1, { history: withRuns(history, runs), rev }, clock.nowMs());
  };

  return { clock, ledger, limits, usage, store, read, publish, admit, learn, glass };
}

type World = ReturnType<typeof world>;

/** The command line over the world's table, and the tools that agents call. */
function commandsOn({ store, limits, usage, clock }: World, root: string) {
  const open: OpenLedger = async () => ({
    ...{ store: readOnly(store), limits, usage, description: 'the table', instance: INSTANCE },
    close: async () => {},
  });
  const call: CommandCall = (args) => runDesk(args, root, { nowMs: clock.nowMs, ...surrounded({ open }) });
  const tools = mcpTools(call, ['--ledger=local']);
  return {
    jsonOf: async (args: readonly string[]) => JSON.parse((await call(args)).out),
    /** `Yes` or `No`, by which the answer begins. */
    wordOf: async (tool: string, given: Readonly<Record<string, string>>): Promise<string | undefined> => {
      const answer = await tools.find(({ name }) => name === tool)?.run(given);
      return answer?.content[0]?.text.split(':')[0];
    },
  };
}

const flagsOf = ({ jobName, image, jobTags, timeoutSeconds, userId, refProtected, projectId }: Job) => [
  ...`--project ${projectId} --ref main --user ${userId} --job ${jobName} --image ${image}`.split(' '),
  ...[...jobTags.flatMap((tag) => ['--tag', tag]), '--timeout', `${timeoutSeconds / 60}m`],
  refProtected ? '--protected' : '--unprotected',
];

const askedOf = ({ jobName: name, image, jobTags: tags, timeoutSeconds, ...job }: Job) => ({
  ...{ ref: 'main', refProtected: job.refProtected, userId: job.userId, project: job.projectId },
  jobs: [{ name, image, tags, timeoutSeconds }],
});

function ofCheck({ jobs: [row] }: CheckedPipeline): Told {
  if (row === undefined) throw new Error('no job was checked');
  return { outcome: row.outcome, against: against(row.reasons), costMicros: row.costMicros };
}

/** Undefined: the record of a job with many reasons has no room for the question, and the page says so. */
const ofPage = ({ now }: JobExplanation): Told | undefined =>
  now && { outcome: now.outcome, against: against(now.reasons), costMicros: now.costMicros };

const OUTCOMES: Readonly<Record<string, string>> = { Yes: 'admitted', No: 'rejected' };

/** What the states must come to at least once, for the property to say something. */
const MET = [
  ...[
    'admitted',
    'rejected',
    'freezes enforce: GROUP_FROZEN',
    'images enforce: IMAGE_NOT_ALLOWED',
    'starts enforce: WINDOW_FULL',
  ],
  ...[
    'slots enforce: CONCURRENCY_FULL',
    'budgets enforce: BUDGET_EXHAUSTED',
    'budgets enforce: EXCEEDS_LIMIT_ALONE',
    'budgets shadow: BUDGET_EXHAUSTED',
    'pinned warn: IMAGE_NOT_ALLOWED',
  ],
];

test('every surface gives the decision of the admit function, whatever the state', async () => {
  const root = aProject({
    'policies/policy.yaml': JSON.stringify(policyDocument(POLICY)),
    'policies/limits.yaml': '{}',
    'policies/directory.yaml': JSON.stringify(DIRECTORY),
  });
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { minLength: 10, maxLength: 10 }), async (steps) => {
      const here = world();
      const { jsonOf, wordOf } = commandsOn(here, root);
      const pageOf = async (jobId: number): Promise<Told | undefined> => {
        const page = await here.read.job(String(jobId), USERS.admin);
        if (page.outcome !== 'found') throw new Error(page.outcome);
        return ofPage(page.explanation);
      };
      let rejected: { readonly jobId: number; readonly job: Job } | undefined;
      for (const [index, { document, passedMs, settled, retried, job: fresh }] of steps.entries()) {
        const jobId = index + 1;
        if (document !== undefined) await here.publish(document);
        here.clock.advance(passedMs);
        if (settled !== undefined) {
          const end = { durationSeconds: settled.minutes * 60, endedAtMs: here.clock.nowMs() };
          await here.ledger.settle([{ jobId: index - settled.back, ...end }]);
          await here.learn(fresh.jobName, end.durationSeconds);
          // It ran all the same: a retry would come on top of what it used, which its page leaves out.
          if (rejected?.jobId === index - settled.back) rejected = undefined;
        }
        const earlier = retried ? rejected : undefined;
        const job = earlier?.job ?? fresh;
        const told: Record<string, Told | undefined> = {};
        let agent: string | undefined;
        let fits: readonly boolean[] = [];
        const page = earlier && (await pageOf(earlier.jobId));
        if (earlier !== undefined && page !== undefined) {
          told['the page of the job that is retried'] = page;
          agent = await wordOf('can_i_afford_rerun', { job: String(earlier.jobId) });
        }
        if (job.pipelineId === undefined) {
          const answer = await here.read.check(askedOf(job), USERS.admin);
          if (answer.outcome !== 'checked') throw new Error(answer.outcome);
          told.check = ofCheck(answer.pipeline);
          fits = answer.pipeline.limits.flatMap((row) => (row.mode === 'enforce' ? [row.fits] : []));
          told['can-i'] = ofCheck(await jsonOf(['can-i', '--ledger=local', ...flagsOf(job), '--json']));
        }
        const decision = await here.admit(requestOf(jobId, job));
        if (decision.outcome === 'admitted' && !here.glass.isBroken) expect(fits).not.toContain(false);
        // Its own hold does not stand in its way.
        told['its page'] = await pageOf(jobId);
        told.explain = ofPage(await jsonOf(['explain', '--ledger=local', '--json', String(jobId)]));
        for (const [surface, each] of Object.entries(told))
          if (each !== undefined) expect({ surface, ...each }).toEqual({ surface, ...decision });
        if (agent !== undefined) expect(OUTCOMES[agent], 'mcp').toBe(decision.outcome);
        if (decision.outcome === 'rejected') rejected = { jobId, job };
        for (const word of [decision.outcome, ...decision.against]) met.add(word);
      }
    }),
    { numRuns: FULL ? 300 : 40 },
  );
  expect([...met]).toEqual(expect.arrayContaining(MET));
}, 1_800_000);
