/** One run: load and faults side by side, then quiet, then the books against what was asked. */
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog, systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, DynamoStore, type JobRecord } from '../../../functions/core/ledger/index.ts';
import { dynamoClient, dynamoTable } from '../../../functions/core/store/index.ts';
import { settleTruths } from '../../../functions/core/truth/index.ts';
import { METRIC_UNMETERED_QUEUED } from '../../../relay/names.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { until } from '../conformance/until.ts';
import { DecisionLog } from './decision-log.ts';
import { drawFaults } from './faults.ts';
import { ChaosLoad, outcomeOf, type ToldJob } from './load.ts';
import { OverLimit } from './over-limit.ts';
import { roomError } from './room-error.ts';
import { CHAOS_INSTANCE, CHAOS_TABLE, type ChaosScene, openScene } from './scene.ts';
import { SettlementReader } from './settlement-reader.ts';

interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly perSecond: number;
  /** Told of each fault as it begins. */
  readonly tell: (text: string) => void;
}

export interface ChaosResult {
  readonly asked: number;
  readonly answered: Readonly<Record<string, number>>;
  readonly decisions: DecisionLog['counts'];
  readonly faults: Readonly<Record<string, number>>;
  readonly commits: number;
  readonly overLimits: OverLimit['figures'];
  readonly ledgerOver: number;
  readonly roomError: ReturnType<typeof roomError>;
  /** Jobs that really ran at once, at most, under the shared cap. */
  readonly runningMost: number;
  /** Neither admitted nor rejected, though the relay and the connection that had it lived on. */
  readonly unanswered: readonly string[];
  /** Asked of a relay that was killed, or on a connection that was cut. */
  readonly cut: number;
  /** In no books, not declared lost, and not waiting in a relay when that was killed. */
  readonly nowhere: readonly string[];
  /** Rejected by a relay that was killed before it could deliver the decision: nothing ran, so nothing is charged. */
  readonly diedWithRelay: number;
  readonly declaredLost: number;
  /** The books say another thing than the router heard. */
  readonly wrong: readonly string[];
  readonly drift: number;
  readonly counters: number;
  /** How late this process was for its own questions, at most. */
  readonly lateMs: number;
  /** Settled only when GitLab was asked. */
  readonly swept: number;
  readonly liveLeft: number;
}

const FAULT_MS = { min: 1_200, spread: 1_800 };
const CALM_MS = { min: 500, spread: 1_000 };
/** After a fault of three seconds a decision is delivered within this: a second to gather, then three retries. */
const DELIVERED_MS_MAX = 15_000;
const QUIET_MS_MAX = 90_000;
const LOOK_MS = 1_000;

export async function runChaos({ seed, minutes, perSecond, tell }: ChaosOptions): Promise<ChaosResult> {
  const random = seededRandom(seed);
  const log = new DecisionLog();
  tell('starting table, functions, router and relays …');
  const scene = await openScene(seededRandom(seed + 1), log.hear);
  const client = dynamoClient(scene.table.endpoint);
  const store = new DynamoStore({
    table: dynamoTable(client, CHAOS_TABLE),
    instance: CHAOS_INSTANCE,
    clock: systemClock,
    random: Math.random,
  });
  const over = new OverLimit();
  const reader = new SettlementReader(scene.table.endpoint, scene.settle, over.look);
  try {
    await reader.start();
    const load = new ChaosLoad(scene.router, store, seededRandom(seed + 2));
    const end = new AbortController();
    const loaded = load.run(perSecond, end.signal);
    const { faults, cuts } = await breakThings(scene, random, minutes, tell);
    end.abort();
    tell('all is well again; waiting for the last jobs and the books …');
    await loaded;
    await quiet(scene, reader, load);
    const swept = await sweep(store, load);
    const records = await recordsIn(store);
    const { drift, counters } = await createLedger({ store }).rebuild({ repair: false });
    const cut = (job: ToldJob): boolean =>
      cuts.some(({ fromMs, toMs }) => job.askedAtMs <= toMs && job.answeredAtMs >= fromMs);
    const told = load.asked.filter(({ result }) => result === 'admitted' || result === 'rejected');
    const missing = told.filter(({ jobId }) => !records.has(jobId) && !log.lostJobs.has(jobId));
    // An admitted job ends, and its end is charged as bypass: only a rejection may be in no books.
    const died = ({ jobId, result, answeredAtMs }: ToldJob): boolean =>
      result === 'rejected' &&
      scene.relays.some(
        ({ killedAtMs }, relay) =>
          (log.relayOf.get(jobId) ?? relay) === relay &&
          killedAtMs.some((atMs) => atMs >= answeredAtMs && atMs - answeredAtMs <= DELIVERED_MS_MAX),
      );
    const named = (jobs: readonly ToldJob[]): readonly string[] =>
      jobs.map(
        ({ jobId, result, failure }) =>
          `job ${jobId}: ${result}${failure === undefined ? '' : `, ${failure}`}; ${log.byJob.get(jobId) ?? 'no relay logged it'}`,
      );
    return {
      asked: load.asked.length,
      answered: countsOf(load.asked.map(({ result }) => result)),
      decisions: log.counts,
      faults,
      commits: reader.commits,
      overLimits: over.figures,
      ledgerOver: over.broken,
      roomError: roomError(load.runs, (jobId) => log.byLedger.has(jobId)),
      runningMost: load.runningMost,
      unanswered: named(load.asked.filter((job) => !told.includes(job) && !cut(job))),
      cut: load.asked.filter((job) => !told.includes(job) && cut(job)).length,
      nowhere: named(missing.filter((job) => !died(job))),
      diedWithRelay: missing.filter(died).length,
      declaredLost: log.lostJobs.size,
      wrong: told.flatMap((job) => wrongOf(job, records.get(job.jobId))),
      drift: drift.length,
      counters,
      lateMs: Math.round(load.lateMs),
      swept,
      liveLeft: liveIn(records).length,
    };
  } finally {
    await reader.stop();
    client.destroy();
    await scene.close();
  }
}

/** One fault after the other, each at a relay of its own choice, with a calm between. */
async function breakThings(
  scene: ChaosScene,
  random: () => number,
  minutes: number,
  tell: ChaosOptions['tell'],
) {
  const startedMs = performance.now();
  const faults: Record<string, number> = {};
  const cuts: { readonly fromMs: number; readonly toMs: number }[] = [];
  for (const fault of drawFaults(random)) {
    const leftMs = minutes * 60_000 - (performance.now() - startedMs);
    if (leftMs <= 0) break;
    await pause(CALM_MS.min + random() * CALM_MS.spread);
    const relay = Math.floor(random() * scene.relays.length);
    const lastsMs = FAULT_MS.min + random() * FAULT_MS.spread;
    tell(
      `${Math.round((performance.now() - startedMs) / 1_000)} s: ${fault.name} for ${Math.round(lastsMs)} ms`,
    );
    faults[fault.name] = (faults[fault.name] ?? 0) + 1;
    const fromMs = performance.now();
    await fault.begin(scene, relay);
    if (fault.cuts) cuts.push({ fromMs, toMs: performance.now() });
    await pause(lastsMs);
    await fault.end(scene, relay);
  }
  return { faults, cuts };
}

/** Until every relay has told what it knew, and every end of a job is worked off. */
async function quiet(scene: ChaosScene, reader: SettlementReader, load: ChaosLoad): Promise<void> {
  const isQuiet = async (): Promise<boolean> => {
    const waiting = await Promise.all(
      scene.relays.map(({ relay }) => relay?.gauge(METRIC_UNMETERED_QUEUED) ?? 0),
    );
    return waiting.every((count) => count === 0) && reader.taken >= load.told;
  };
  if (!(await until(isQuiet, QUIET_MS_MAX))) return;
  // Journal items are worked off beside the ends of jobs.
  for (let taken = -1; taken !== reader.taken; await pause(LOOK_MS)) taken = reader.taken;
}

/** Ends live jobs by their outcomes at GitLab, as the sweep does: a webhook alone never frees what the router rejected. */
async function sweep(store: DynamoStore, load: ChaosLoad): Promise<number> {
  const live = new Set(liveIn(await recordsIn(store)));
  const jobs = load.asked.filter(({ jobId }) => live.has(jobId));
  await settleTruths(
    jobs.map((job) => outcomeOf(job)),
    {
      ...{ ledger: createLedger({ store }), clock: systemClock, log: silentLog },
      currentRules: () => Promise.reject(new Error('a live job has a record')),
    },
  );
  return jobs.length;
}

async function recordsIn(store: DynamoStore): Promise<ReadonlyMap<number, JobRecord>> {
  const records = new Map<number, JobRecord>();
  for await (const item of store.scan())
    if (item.kind === 'record') records.set(item.record.jobId, item.record);
  return records;
}

const liveIn = (records: ReadonlyMap<number, JobRecord>): readonly number[] =>
  [...records.values()].flatMap(({ jobId, state }) =>
    state === 'HELD' || state === 'RUNNING' ? [jobId] : [],
  );

/** An admitted job ran and is charged; a rejected one never ran and is not. */
function wrongOf({ jobId, result }: ToldJob, record: JobRecord | undefined): readonly string[] {
  if (record === undefined) return [];
  const { state } = record;
  const right = result === 'admitted' ? state === 'SETTLED' : state === 'REJECTED' || state === 'RELEASED';
  return right ? [] : [`job ${jobId}: ${result}, and ${state} in the books`];
}

function countsOf(values: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
