import { decide } from '../../../../functions/core/admission/decide.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { type Key, ledgerKeys, RECORD_SK, ROLLUP_SK } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import {
  type Answers,
  type Item,
  type ItemTable,
  itemBytes,
  keyOf,
  type Operations,
  SK,
} from '../../../../functions/core/store/operation.ts';
import { inParts } from '../../../../functions/core/store/parts.ts';
import { placeRecords } from '../../../../functions/core/usage/contribution.ts';
import { rollUp } from '../../../../functions/core/usage/roll-up.ts';
import { DynamoRollupStore, rollupKeys } from '../../../../functions/core/usage/rollup-store.ts';
import { DUE_AT, DUE_PK } from '../../../../functions/names.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { withRuns } from '../../../../policies/run-history.ts';
import { handClock } from '../../../../scripts/local/clock.ts';
import { type BenchPlace, benchRequest, placedRules } from '../../../../scripts/proof/bench/bench-rules.ts';

const INSTANCE = 'gitlab.example.com';
const START_MS = Date.UTC(2026, 10, 21, 9);
const JOB_SECONDS = 240;
const PROJECTS = 60;
const ROOT_GROUPS = 6;
/** Job names of a project that have run lately: they make the size of its run histories. */
const JOB_NAMES = 10;

const keys = ledgerKeys(INSTANCE);

/**
 * Counts the units of a job on three counters. Each project runs one batch to fill lists and histories, and one that is counted.
 *
 * @param batch - jobs that are admitted, and end, together.
 * @param rollupBatch - records in one call of the rollup.
 */
export async function measureJob(batch: number, rollupBatch: number) {
  const places = Array.from({ length: PROJECTS }, (_, project) => placeAt(project));
  const rules = placedRules(places);
  const clock = handClock(START_MS);
  const random = (): number => 0.5;
  const table = new CountingTable();
  const deps = { table, instance: INSTANCE, clock, random };
  const ledger = createLedger({ store: new DynamoStore(deps), clock, random });
  const rollup = new DynamoRollupStore(deps);
  const runs = Array.from({ length: JOB_NAMES * 20 }, (_, index) => ({
    ...{ jobName: jobName(index), seconds: 180 + ((index * 37) % 120), runnerClass: 'medium' },
    endedAtMs: START_MS,
  }));
  const estimates = { history: withRuns(new Map(), runs), rev: 0 };
  for (const { project } of places) await rollup.writeEstimates(project, estimates, START_MS);
  const rollupDeps = { store: rollup, keys, clock, random, log: silentLog };
  const placeOf = placeRecords(rules.directory, 'UTC');
  const during = async (phase: 'hold' | 'settle', work: () => Promise<void>): Promise<void> => {
    table.phase = phase;
    await work();
    table.phase = 'rollup';
    for (const part of inParts(table.records.splice(0), rollupBatch)) {
      const Records = part.map((item, index) => ({
        eventName: 'MODIFY',
        dynamodb: { SequenceNumber: String(index), Keys: { sk: { S: RECORD_SK } }, NewImage: item },
      }));
      await rollUp({ Records }, { ...rollupDeps, placeOf });
    }
  };
  const batchesEach = Math.ceil(Math.max(batch, rollupBatch) / batch);
  let jobs = 0;
  const run = async (firstBatch: number): Promise<void> => {
    const jobIds: number[] = [];
    await during('hold', async () => {
      for (let index = firstBatch; index < firstBatch + batchesEach; index += 1) {
        const requests = Array.from({ length: batch }, () => sampleRequest(++jobs, index));
        const using = { ledger, currentRules: async () => rules, clock, log: silentLog };
        const decisions = await decide(requests, clock.monotonicMs() + 60_000, using);
        if (decisions.some((decision) => decision?.outcome !== 'admitted'))
          throw new Error('a sample job was not admitted');
        jobIds.push(...requests.map((request) => request.jobId));
      }
    });
    clock.advance(JOB_SECONDS * 1_000);
    await during('settle', async () => {
      for (const part of inParts(jobIds, batch))
        await ledger.settle(
          part.map((jobId) => ({
            ...{ jobId, durationSeconds: JOB_SECONDS, endedAtMs: clock.nowMs(), outcome: 'success' },
            ...{ retryCount: 0, queuedSeconds: 60 + (jobId % 240) },
          })),
        );
    });
  };
  let batches = 0;
  const runAll = async (): Promise<void> => {
    for (const end = batches + PROJECTS; batches < end; batches += batchesEach) await run(batches);
  };
  await runAll();
  const before = { ...table.counts };
  const jobsBefore = jobs;
  await runAll();
  const perJob = Object.fromEntries(
    Object.entries(table.counts).map(([name, count]) => {
      const units = (count - before[name as keyof typeof before]) / (jobs - jobsBefore);
      return [name, Math.round(units * 1e6) / 1e6];
    }),
  ) as typeof before;
  const [record, note] = [keys.record(jobs), rollupKeys(INSTANCE).contribution(jobs)];
  return { ...perJob, recordBytes: bytesOf(await table.read(record)) + bytesOf(await table.read(note)) };
}

/**
 * A table in memory that adds up the units DynamoDB would charge.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
class CountingTable implements ItemTable {
  readonly tableName = 'counted';
  readonly counts = { hold: 0, settle: 0, rollup: 0, dueIndex: 0, usage: 0, ledgerReads: 0, usageReads: 0 };
  phase: 'hold' | 'settle' | 'rollup' = 'rollup';
  readonly records: Item[] = [];
  /** Prepare and commit double the units of transactional writes. */
  #writeFactor = 1;
  readonly #table = new MemoryTable({
    onWritten: (changes) => {
      for (const { before, after } of changes) {
        const item = after ?? before;
        if (item === undefined) continue;
        const isUsage = keyOf(item).sk === ROLLUP_SK;
        const units = Math.ceil(Math.max(bytesOf(before), bytesOf(after)) / 1024);
        this.counts[isUsage ? 'usage' : this.phase] += this.#writeFactor * units;
        if (!isUsage) this.counts.dueIndex += indexWrites(before, after);
        if (after?.[SK]?.S === RECORD_SK) this.records.push(after);
      }
    },
  });

  read(key: Key): Promise<Item | undefined> {
    return this.#table.send('GetItem', { key, consistent: true });
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    this.#writeFactor = name === 'TransactWriteItems' ? 2 : 1;
    const answer = await this.#table.send(name, operation);
    type Read = { readonly consistent: boolean; readonly key: Key; readonly keys?: readonly Key[] };
    const { consistent, key, keys: readKeys = [key] } = operation as unknown as Read;
    const count = (bytes: number, sk?: string): void => {
      const units = Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);
      this.counts[sk === ROLLUP_SK ? 'usageReads' : 'ledgerReads'] += units;
    };
    if (name === 'Query')
      count((answer as Answers['Query']).items.reduce((sum, item) => sum + itemBytes(item), 0));
    if (name === 'GetItem' || name === 'BatchGetItem')
      for (const each of readKeys) count(bytesOf(await this.read(each)), each.sk);
    return answer;
  }
}

const bytesOf = (item: Item | undefined): number => (item === undefined ? 0 : itemBytes(item));

/** The index holds keys only: one unit to remove an entry, one to add the new one. */
function indexWrites(before: Item | undefined, after: Item | undefined): number {
  const [from, to] = [before, after].map((item) => item?.[DUE_PK] && `${item[DUE_PK].S} ${item[DUE_AT]?.N}`);
  if (from === to) return 0;
  return (from === undefined ? 0 : 1) + (to === undefined ? 0 : 1);
}

const placeAt = (batch: number): BenchPlace => {
  const project = batch % PROJECTS;
  const root = project % ROOT_GROUPS;
  return { root: 1000 + root, group: 2000 + root, project: 30_000 + project };
};

const jobName = (index: number): string => `test:integration ${index % JOB_NAMES}`;

function sampleRequest(jobId: number, project: number): AdmissionRequest {
  const { root, group, project: projectId } = placeAt(project);
  return {
    ...{ ...benchRequest(jobId, 0), projectId, namespaceId: group, rootNamespaceId: root },
    ...{ jobName: jobName(jobId), pipelineId: 1 + project },
    projectPath: `company-${root}/payments/service-${projectId}`,
    ref: 'feature/cheaper-checkout',
    pipelineSource: 'merge_request_event',
  };
}
