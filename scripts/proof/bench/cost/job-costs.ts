/** Table and log costs of a job, counted on real admissions, settlements and rollups of a few sample projects. */
import { decide } from '../../../../functions/core/admission/decide.ts';
import type { Rules } from '../../../../functions/core/admission/judge.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { JobTruth } from '../../../../functions/core/gitlab/gitlab.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { inboxItem } from '../../../../functions/core/ledger/items.ts';
import {
  ANNOUNCED_SK,
  type Key,
  ledgerKeys,
  RECORD_SK,
  ROLLUP_SK,
} from '../../../../functions/core/store/keys.ts';
import { type Item, itemBytes, SK, TTL_ATTRIBUTE } from '../../../../functions/core/store/operation.ts';
import { hintText } from '../../../../functions/core/truth/webhook-hints.ts';
import { placeBy } from '../../../../functions/core/usage/contribution.ts';
import { rollUp } from '../../../../functions/core/usage/roll-up.ts';
import { DynamoRollupStore, rollupKeys } from '../../../../functions/core/usage/rollup-store.ts';
import type { Decision } from '../../../../policies/decision.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { withRuns } from '../../../../policies/run-history.ts';
import { createLogger, logEvents } from '../../../../relay/monitoring/log.ts';
import { JOB_NAMES, PROJECTS, ROOT_GROUPS } from '../../../cli/cost/assumptions.ts';
import type { JobUnits } from '../../../cli/cost/units.ts';
import { handClock } from '../../../local/clock.ts';
import { policyDocument, rulesFrom } from '../bench-rules.ts';
import { CountingTable, writeUnitsOf } from './counting-table.ts';

interface JobOptions {
  /** Jobs of one project that are admitted together. */
  readonly batch: number;
  /** Job ends in one call of the settlement. */
  readonly settleBatch: number;
  /** Records in one call of the rollup. */
  readonly rollupBatch: number;
  readonly counters: number;
  readonly outcome: 'admitted' | 'rejected';
}

const INSTANCE = 'gitlab.example.com';
const START_MS = Date.UTC(2026, 10, 21, 9);
const JOB_MS = 240_000;
const DAY_SECONDS = 86_400;
/** Fits the first job of a root group; all others exceed it. */
const ONE_JOB = 0.25;
/** functions/settle remembers a delivery for this long. */
const INBOX_DAYS = 3;
const LATENCY_MS = 23;

const keys = ledgerKeys(INSTANCE);
const names = rollupKeys(INSTANCE);

/** Measures each project once, after lists and histories of all projects have reached their full length. */
export async function measureJob(options: JobOptions): Promise<JobUnits> {
  const { batch, outcome } = options;
  const sample = await sampleDeployment(options);
  let batches = 0;
  while (batches < PROJECTS) batches += await sample.run(batches);
  const before = sample.units();
  const warm = batches;
  while (batches - warm < PROJECTS) batches += await sample.run(batches);
  const after = sample.units();
  const jobs = (batches - warm) * batch;
  const each = (name: keyof typeof after): number => (after[name] - before[name]) / jobs;
  const { request, decision, endMs } = sample.last();
  if (decision.outcome !== outcome)
    throw new Error(`a sample job was ${decision.outcome}: expected ${outcome}`);
  const record = sample.item(keys.record(request.jobId));
  const contribution = sample.item(names.contribution(request.jobId));
  const estimates = sample.item(names.estimates(request.projectId ?? 0));
  const inbox = sampleInbox(request, outcome === 'rejected', endMs);
  const kept = (item: Item) => ({
    bytes: itemBytes(item),
    days: (Number(item[TTL_ATTRIBUTE]?.N ?? 0) - endMs / 1000) / DAY_SECONDS,
  });
  return {
    writeUnits: {
      hold: each('hold'),
      announced: each('announced'),
      inbox: writeUnitsOf(inbox),
      settle: each('settle'),
      dueIndex: each('dueIndex'),
      rollup: each('rollup'),
      estimates: each('estimates'),
      top: each('top'),
    },
    readUnits: {
      // Admission reads them eventually consistent, once a batch.
      estimates: Math.max(1, Math.ceil(itemBytes(estimates) / 4096)) / 2 / batch,
      ledger: each('ledgerReads'),
      rollup: each('rollupReads'),
    },
    kept: [kept(record), kept(contribution), kept(inbox)],
    decisionLineBytes: decisionLineBytes(request, decision),
  };
}

/** Groups the items of the table by the unit counts that {@link measureJob} reports. */
function kindOf({ pk, sk }: Key): string {
  if (sk !== ROLLUP_SK) return sk === ANNOUNCED_SK ? 'announced' : 'ledger';
  if (pk.includes('#estimates#')) return 'estimates';
  return pk.includes('#top#') || pk.includes('#rejections#') ? 'top' : 'rollup';
}

async function sampleDeployment({ batch, settleBatch, rollupBatch, counters, outcome }: JobOptions) {
  const rejected = outcome === 'rejected';
  const rules = rejected ? sampleRules(Math.max(1, counters), ONE_JOB) : sampleRules(counters);
  const clock = handClock(START_MS);
  const random = (): number => 0.5;
  let written: Item[] = [];
  const table = new CountingTable({
    kindOf,
    onWritten: (item) => {
      if (item[SK]?.S === RECORD_SK) written.push(item);
    },
  });
  const deps = { table, instance: INSTANCE, clock, random };
  const ledger = createLedger({ store: new DynamoStore(deps), clock, random });
  const rollup = new DynamoRollupStore(deps);
  const runs = sampleRuns().map((run) => ({ ...run, runnerClass: 'medium', endedAtMs: START_MS }));
  for (let project = 0; project < PROJECTS; project += 1) {
    const estimates = { history: withRuns(new Map(), runs), rev: 0 };
    await rollup.writeEstimates(idsOf(project).project, estimates, START_MS);
  }
  const placeOf = placeBy(rules.directory, 'UTC');
  const countWritten = async (): Promise<void> => {
    const records = written.splice(0);
    for (const part of inParts(records, rollupBatch)) {
      const Records = part.map((item, index) => ({
        eventName: 'MODIFY',
        dynamodb: { SequenceNumber: String(index), Keys: { sk: { S: RECORD_SK } }, NewImage: item },
      }));
      await rollUp({ Records }, { store: rollup, keys, clock, random, log: silentLog, placeOf });
    }
  };
  written = [];

  /** Adds the ledger's write units of `act` to a phase. */
  const phases = { hold: 0, settle: 0 };
  const during = async <T>(phase: keyof typeof phases, act: () => Promise<T>): Promise<T> => {
    const before = table.units('ledger').writes;
    const result = await act();
    phases[phase] += table.units('ledger').writes - before;
    return result;
  };

  let jobId = 0;
  let last:
    | { readonly request: AdmissionRequest; readonly decision: Decision; readonly endMs: number }
    | undefined;
  /** Admits batches of different projects until the largest of the three batches is full; then all jobs end. */
  const run = async (first: number): Promise<number> => {
    const batches = Math.ceil(Math.max(batch, settleBatch, rollupBatch) / batch);
    const jobs: { readonly request: AdmissionRequest; readonly decision: Decision }[] = [];
    for (let index = first; index < first + batches; index += 1) {
      const requests = Array.from({ length: batch }, () => {
        jobId += 1;
        return sampleRequest(jobId, index % PROJECTS, 1 + index);
      });
      const deciding = { ledger, currentRules: async () => rules, clock, log: silentLog };
      const decisions = await during('hold', () => decide(requests, clock.monotonicMs() + 60_000, deciding));
      for (const [at, request] of requests.entries()) {
        const decision = decisions[at];
        if (decision !== undefined) jobs.push({ request, decision });
      }
    }
    await countWritten();
    clock.advance(JOB_MS);
    const endedAtMs = clock.nowMs();
    await during('settle', async () => {
      for (const ends of inParts(jobs, settleBatch)) {
        const idsWith = (isRejected: boolean): readonly number[] =>
          ends.flatMap(({ request, decision }) =>
            (decision.outcome === 'rejected') === isRejected ? [request.jobId] : [],
          );
        await ledger.release(idsWith(true).map((id) => ({ jobId: id, cause: 'job_router_failure' })));
        await ledger.settle(
          idsWith(false).map((id) => ({
            ...{ jobId: id, durationSeconds: JOB_MS / 1000, endedAtMs },
            ...{ outcome: 'success', retryCount: 0, queuedSeconds: 60 + (id % 240) },
          })),
        );
      }
    });
    await countWritten();
    const job = jobs.at(-1);
    last = job && { ...job, endMs: endedAtMs };
    return batches;
  };

  const units = () => {
    const [ledgerUnits, sums, estimates, top] = ['ledger', 'rollup', 'estimates', 'top'].map((kind) => ({
      ...table.units(kind),
    }));
    if (!ledgerUnits || !sums || !estimates || !top) throw new Error('no units');
    return {
      ...phases,
      announced: table.units('announced').writes,
      ledgerReads: ledgerUnits.reads,
      dueIndex: ledgerUnits.indexWrites,
      rollup: sums.writes,
      rollupReads: sums.reads + estimates.reads + top.reads,
      estimates: estimates.writes,
      top: top.writes,
    };
  };
  return {
    run,
    units,
    last: () => {
      if (last === undefined) throw new Error('no sample job was decided');
      return last;
    },
    item: (key: Key): Item => {
      const item = table.item(key);
      if (item === undefined) throw new Error(`a sample job left no item ${key.pk}, ${key.sk}`);
      return item;
    },
  };
}

const inParts = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );

const idsOf = (project: number) => {
  const root = (project % PROJECTS) % ROOT_GROUPS;
  return { root: 1000 + root, group: 2000 + root, project: 30_000 + (project % PROJECTS) };
};

type Level = 'root' | 'group' | 'project' | 'instance';

/** Limits in the order in which installations add them: two budgets and the jobs of a project come first. */
function limitKinds(): readonly (readonly [Level, Readonly<Record<string, unknown>>])[] {
  const monthly = { money: 900_000_000, per: 'month' };
  const jobs = { jobs: 1_000_000_000 };
  const others = [
    { money: 900_000_000, per: 'day' },
    { minutes: 900_000_000, per: 'month' },
    { minutes: 900_000_000, per: 'day' },
    { money: 900_000_000, per: 'week' },
  ];
  const levels: readonly Level[] = ['root', 'group', 'project', 'instance'];
  return [
    ['root', monthly],
    ['group', monthly],
    ['project', jobs],
    ['instance', monthly],
    ['project', monthly],
    ['root', jobs],
    ['group', jobs],
    ['instance', jobs],
    ...others.flatMap((kind) => levels.map((level) => [level, kind] as const)),
  ];
}

/**
 * Returns rules under which every job counts on `counters` counters.
 *
 * @param firstLimit - money of a root group per month; jobs beyond it are rejected.
 */
export function sampleRules(counters: number, firstLimit?: number): Rules {
  const projects = Array.from({ length: PROJECTS }, (_, index) => idsOf(index));
  const limits = limitKinds()
    .slice(0, counters)
    .flatMap(([level, limit], index): readonly unknown[] => {
      const amount = index === 0 && firstLimit !== undefined ? { ...limit, money: firstLimit } : limit;
      if (level === 'instance') return [{ on: 'instance', ...amount }];
      const kind = level === 'project' ? 'project' : 'group';
      return [...new Set(projects.map((each) => each[level]))].map((id) => ({
        on: { [kind]: id },
        ...amount,
      }));
    });
  return rulesFrom({
    policy: policyDocument(),
    limits: { limits },
    directory: {
      groups: projects.slice(0, ROOT_GROUPS).flatMap(({ root, group }) => [
        { id: root, path: `company-${root}` },
        { id: group, parent: root, path: `company-${root}/payments` },
      ]),
    },
  });
}

const jobName = (index: number): string => `test:integration ${index % JOB_NAMES}`;

function sampleRequest(jobId: number, project: number, pipelineId: number): AdmissionRequest {
  const { root, group, project: projectId } = idsOf(project);
  return {
    jobId,
    jobName: jobName(jobId),
    pipelineId,
    projectId,
    projectPath: `company-${root}/payments/service-${projectId}`,
    namespaceId: group,
    rootNamespaceId: root,
    userId: 1_234,
    image: 'registry.example.com/company/build/node:24',
    ref: 'feature/cheaper-checkout',
    pipelineSource: 'merge_request_event',
    runnerTags: ['linux', 'medium'],
    timeoutSeconds: 3_600,
  };
}

/** GitLab's webhook about the end of the job, as functions/settle stores it. */
function sampleInbox(request: AdmissionRequest, rejected: boolean, atMs: number): Item {
  const { jobId, projectId = 0, projectPath = '', pipelineId = 0 } = request;
  const truth: JobTruth = {
    jobId,
    projectId,
    status: rejected ? 'failed' : 'success',
    projectPath,
    jobName: jobName(jobId),
    jobStage: 'test',
    pipelineId,
    userId: 1_234,
    ref: 'feature/cheaper-checkout',
    createdAtMs: atMs - 300_000,
    finishedAtMs: atMs,
    ...(rejected
      ? { failureReason: 'job_router_failure' }
      : {
          runnerId: 41,
          runnerTags: ['linux', 'medium'],
          startedAtMs: atMs - 240_000,
          durationSeconds: 240.123456,
          ...{ retryCount: 0, queuedSeconds: 60.123456 },
          failureReason: 'unknown_failure',
        }),
  };
  const delivery = {
    id: `delivery ${jobId}`,
    body: hintText({ groupId: request.rootNamespaceId ?? 1, truth }),
    receivedAtMs: atMs,
    untilMs: atMs + INBOX_DAYS * DAY_SECONDS * 1000,
  };
  return inboxItem(delivery, keys);
}

const sampleRuns = (): readonly { readonly jobName: string; readonly seconds: number }[] =>
  Array.from({ length: JOB_NAMES * 20 }, (_, index) => ({
    jobName: jobName(index),
    seconds: 180 + ((index * 37) % 120),
  }));

/** The size of the relay's log line about the decision, with its line break. */
function decisionLineBytes(request: AdmissionRequest, decision: Decision): number {
  let line = '';
  const log = createLogger('info', {
    write: (text) => {
      line += text;
    },
  });
  const rejected = decision.outcome === 'rejected';
  logEvents(
    log,
    handClock(),
  )({
    type: 'answered',
    answer: rejected ? { outcome: 'rejected', reason: decision.text } : { outcome: 'admitted' },
    via: 'ledger',
    latencyMs: LATENCY_MS,
    heard: true,
    request,
    decision,
  });
  return Buffer.byteLength(line);
}
