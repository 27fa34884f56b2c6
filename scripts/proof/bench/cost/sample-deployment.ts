import { decide } from '../../../../functions/core/admission/index.ts';
import { silentLog } from '../../../../functions/core/environment/index.ts';
import {
  createLedger,
  inboxItem,
  type JobRecord,
  MemoryStore,
  recordItem,
} from '../../../../functions/core/ledger/index.ts';
import { ledgerKeys, RECORD_SK } from '../../../../functions/core/store/index.ts';
import { hintText } from '../../../../functions/core/truth/index.ts';
import { MemoryRollupStore, placeBy, rollUp, rollupKeys } from '../../../../functions/core/usage/index.ts';
import type { Decision } from '../../../../policies/decision.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { withRuns } from '../../../../policies/run-history.ts';
import { PROJECTS } from '../../../cli/cost/assumptions.ts';
import { handClock } from '../../../local/clock/hand-clock.ts';
import { type CountingStore, countingStore } from '../counting-store.ts';
import { countingRollupStore } from './counting-rollup-store.ts';
import { sampleProjectId, sampleRequest, sampleRules, sampleRuns, sampleTruth } from './sample-jobs.ts';

export interface RunOptions {
  /** Jobs of one project that are admitted together. */
  readonly batch: number;
  /** Ends that one call of the settlement gets. */
  readonly settleBatch: number;
  /** Records that one call of the rollup gets. */
  readonly rollupBatch: number;
  readonly counters: number;
  readonly outcome: 'admitted' | 'rejected';
}

const INSTANCE = 'gitlab.example.com';
const START_MS = Date.UTC(2026, 10, 21, 9);
const JOB_MS = 240_000;
const DAY_SECONDS = 86_400;
/** Fits the first job of a root group; all others are over it. */
const ONE_JOB = 0.25;

/** So far, of all jobs. */
export type SampleUnits = Record<
  | 'hold'
  | 'announced'
  | 'settle'
  | 'ledgerReads'
  | 'dueIndex'
  | 'rollup'
  | 'rollupReads'
  | 'estimates'
  | 'top',
  number
>;
/** The last job of a run, and how many batches of admissions it had. */
export type SampleRun = Awaited<ReturnType<Awaited<ReturnType<typeof sampleDeployment>>['run']>>;

/** The functions as they are deployed, over a table in memory that counts. */
export async function sampleDeployment({ batch, settleBatch, rollupBatch, counters, outcome }: RunOptions) {
  const rejected = outcome === 'rejected';
  /** Batches that must have come before the largest of the three is full. */
  const gathered = Math.ceil(Math.max(batch, settleBatch, rollupBatch) / batch);
  const rules = rejected ? sampleRules(Math.max(1, counters), ONE_JOB) : sampleRules(counters);
  const keys = ledgerKeys(INSTANCE);
  let [jobId, holds, settles, announced] = [0, 0, 0, 0];
  const clock = handClock(START_MS);
  let written: JobRecord[] = [];
  /** As the table has them, by job: a program of the deployment would pay for reading them. */
  const records = new Map<number, JobRecord>();
  const counting = countingStore(new MemoryStore({ instance: INSTANCE }), INSTANCE, (writes, { outcome }) => {
    if (outcome !== 'committed') return;
    for (const write of writes) {
      if (write.kind !== 'record') continue;
      written.push(write.record);
      records.set(write.record.jobId, write.record);
    }
  });
  const store: CountingStore = {
    ...counting,
    announce: (announcement, options) => {
      announced += 1;
      return counting.announce(announcement, options);
    },
  };
  const ledger = createLedger({ store, clock, random: () => 0.5 });
  const names = rollupKeys(INSTANCE);
  const rollup = countingRollupStore(new MemoryRollupStore({ instance: INSTANCE }), names);
  await learnHistories(rollup);
  const rollupDeps = {
    store: rollup,
    keys,
    clock,
    random: () => 0.5,
    log: silentLog,
    placeOf: placeBy(rules.directory, 'UTC'),
  };
  const countWritten = async (): Promise<void> => {
    for (const records of inParts(written, rollupBatch))
      await rollUp({ Records: records.map(streamRecord) }, rollupDeps);
    written = [];
  };
  const streamRecord = (record: JobRecord, index: number) => ({
    eventName: 'MODIFY',
    dynamodb: {
      SequenceNumber: String(index),
      Keys: { sk: { S: RECORD_SK } },
      NewImage: recordItem(record, keys),
    },
  });

  const admit = async (index: number) => {
    const requests = Array.from({ length: batch }, () => {
      jobId += 1;
      return sampleRequest(jobId, index % PROJECTS, 1 + index);
    });
    const unitsBefore = counting.counts.tableUnits;
    const deps = { ledger, currentRules: async () => rules, clock, log: silentLog };
    const decisions = await decide(requests, clock.monotonicMs() + 60_000, deps);
    holds += counting.counts.tableUnits - unitsBefore;
    return { requests, decisions };
  };

  /** Some batches of different projects one after the other, and then their ends. */
  const run = async (first: number) => {
    const admitted = [];
    for (let more = 0; more < gathered; more += 1) admitted.push(await admit(first + more));
    await countWritten();
    clock.advance(JOB_MS);
    const endedAtMs = clock.nowMs();
    const unitsBefore = counting.counts.tableUnits;
    const refused = new Set(
      admitted.flatMap(({ requests, decisions }) =>
        requests.flatMap((request, index) =>
          decisions[index]?.outcome === 'rejected' ? [request.jobId] : [],
        ),
      ),
    );
    for (const ends of inParts(
      admitted.flatMap(({ requests }) => requests.map((request) => request.jobId)),
      settleBatch,
    )) {
      await ledger.release(
        ends.filter((id) => refused.has(id)).map((id) => ({ jobId: id, cause: 'job_router_failure' })),
      );
      await ledger.settle(
        ends
          .filter((id) => !refused.has(id))
          .map((id) => ({
            ...{ jobId: id, durationSeconds: JOB_MS / 1000, endedAtMs },
            ...{ outcome: 'success', retryCount: 0, queuedSeconds: 60 + (id % 240) },
          })),
      );
    }
    settles += counting.counts.tableUnits - unitsBefore;
    await countWritten();
    return { ...lastOf(admitted), batches: gathered };
  };

  const lastOf = (admitted: readonly Awaited<ReturnType<typeof admit>>[]) => {
    const { requests, decisions } = admitted.at(-1) ?? { requests: [], decisions: [] };
    const request: AdmissionRequest | undefined = requests.at(-1);
    const decision: Decision | undefined = decisions.at(-1);
    const record = request && records.get(request.jobId);
    if (request === undefined || decision === undefined || record === undefined)
      throw new Error('a sample job left no record');
    const nowMs = clock.nowMs();
    const truth = sampleTruth(request, rejected, nowMs);
    const inbox = inboxItem(
      {
        id: `delivery ${request.jobId}`,
        body: hintText({ groupId: request.rootNamespaceId ?? 1, truth }),
        receivedAtMs: nowMs,
        untilMs: nowMs + INBOX_DAYS * DAY_SECONDS * 1000,
      },
      keys,
    );
    return { request, decision, record: recordItem(record, keys), inbox, endMs: nowMs };
  };

  const units = (): SampleUnits => {
    const { counts } = rollup;
    return {
      hold: holds,
      announced,
      settle: settles,
      ledgerReads: counting.counts.itemsRead,
      dueIndex: counting.counts.indexUnits,
      rollup: counts.contributions + counts.usage,
      rollupReads: counts.reads,
      estimates: counts.estimates,
      top: counts.top,
    };
  };
  return { rollup, run, units };
}

/** As long as functions/settle remembers a delivery. */
const INBOX_DAYS = 3;

async function learnHistories(store: ReturnType<typeof countingRollupStore>): Promise<void> {
  const runs = sampleRuns().map((run) => ({ ...run, runnerClass: 'medium', endedAtMs: START_MS }));
  for (let project = 0; project < PROJECTS; project += 1)
    await store.writeEstimates(
      sampleProjectId(project),
      { history: withRuns(new Map(), runs), rev: 0 },
      START_MS,
    );
}

const inParts = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
