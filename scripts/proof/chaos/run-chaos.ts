/** One run: load and faults, then quiet, then the ledger is compared with the requests. */
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { dynamoClient, dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { settleTruths } from '../../../functions/core/truth/settle-truths.ts';
import { METRIC_UNMETERED_QUEUED } from '../../../relay/names.ts';
import { seededRandom } from '../../local/random.ts';
import { until } from '../relay-process.ts';
import { drawFaults } from './faults.ts';
import { type AskedJob, ChaosLoad, outcomeOf } from './load.ts';
import { DecisionLog, OverLimit, roomError, SettlementReader } from './observe.ts';
import { CHAOS_INSTANCE, CHAOS_TABLE, type ChaosScene, chaosCapOf, openScene, SHARED_CAP } from './scene.ts';

interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly perSecond: number;
  readonly onProgress: (text: string) => void;
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
  /** The most jobs that ran at the same time under the shared cap. */
  readonly runningMost: number;
  /** Without a decision, although their relay and connection lived. */
  readonly unanswered: readonly string[];
  /** Without a decision, because their relay was killed or their connection cut. */
  readonly cut: number;
  /** Not in the ledger, not declared lost, and not waiting in a relay that was killed. */
  readonly nowhere: readonly string[];
  /** Rejected by a relay that was killed before it delivered the decision: nothing ran, so nothing is charged. */
  readonly diedWithRelay: number;
  readonly declaredLost: number;
  /** The ledger contradicts the router's result. */
  readonly wrong: readonly string[];
  readonly drift: number;
  readonly counters: number;
  /** The largest delay of a request by this process. */
  readonly lateMs: number;
  /** Settled only by asking GitLab. */
  readonly swept: number;
  readonly liveLeft: number;
}

const FAULT_MS = { min: 1_200, spread: 1_800 };
const CALM_MS = { min: 500, spread: 1_000 };
/** After a fault of three seconds a decision is delivered within this: a second to gather, then three retries. */
const DELIVERED_MS_MAX = 15_000;
const QUIET_MS_MAX = 90_000;
const LOOK_MS = 1_000;

export async function runChaos({ seed, minutes, perSecond, onProgress }: ChaosOptions): Promise<ChaosResult> {
  const random = seededRandom(seed);
  const log = new DecisionLog();
  onProgress('starting table, functions, router and relays …');
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
    const { faults, cuts } = await breakThings(scene, random, minutes, onProgress);
    end.abort();
    onProgress('no more faults; waiting for the last jobs and the ledger …');
    await loaded;
    await quiet(scene, reader, load);
    const swept = await sweep(store, load);
    const records = await recordsIn(store);
    const { drift, counters } = await createLedger({ store }).rebuild({ repair: false });
    const cut = (job: AskedJob): boolean =>
      cuts.some(({ fromMs, toMs }) => job.askedAtMs <= toMs && job.answeredAtMs >= fromMs);
    const told = load.asked.filter(({ result }) => result === 'admitted' || result === 'rejected');
    const missing = told.filter(({ jobId }) => !records.has(jobId) && !log.lostJobs.has(jobId));
    // The end of an admitted job is charged as bypass, so only a rejection may be missing.
    const died = ({ jobId, result, answeredAtMs }: AskedJob): boolean =>
      result === 'rejected' &&
      scene.relays.some(
        ({ killedAtMs }, relay) =>
          (log.relayOf.get(jobId) ?? relay) === relay &&
          killedAtMs.some((atMs) => atMs >= answeredAtMs && atMs - answeredAtMs <= DELIVERED_MS_MAX),
      );
    const named = (jobs: readonly AskedJob[]): readonly string[] =>
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

/** Runs one fault after the other, each at a random relay, with pauses. */
async function breakThings(
  scene: ChaosScene,
  random: () => number,
  minutes: number,
  onProgress: ChaosOptions['onProgress'],
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
    onProgress(
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

/** Waits until every relay has delivered its decisions, and every job end is processed. */
async function quiet(scene: ChaosScene, reader: SettlementReader, load: ChaosLoad): Promise<void> {
  const isQuiet = async (): Promise<boolean> => {
    const waiting = await Promise.all(
      scene.relays.map(({ running }) => running?.gauge(METRIC_UNMETERED_QUEUED) ?? 0),
    );
    return waiting.every((count) => count === 0) && reader.taken >= load.reported;
  };
  if (!(await until(isQuiet, QUIET_MS_MAX))) return;
  // Journal items may still be on their way.
  for (let taken = -1; taken !== reader.taken; await pause(LOOK_MS)) taken = reader.taken;
}

/** Ends live jobs by their outcome in GitLab, as the sweep does: a webhook alone never frees a rejected job. */
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

function wrongOf({ jobId, result }: AskedJob, record: JobRecord | undefined): readonly string[] {
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

interface ChaosPromise {
  readonly what: string;
  readonly got: number;
  /** Examples. */
  readonly samples: readonly (number | string)[];
}

const SAMPLES_MAX = 5;
/** Half of the router's timeout. */
const LATE_MS_MAX = 5_000;

/** Each must be 0. */
export function promisesOf(result: ChaosResult): readonly ChaosPromise[] {
  const counted = (what: string, samples: readonly (number | string)[]): ChaosPromise => ({
    what,
    got: samples.length,
    samples: samples.slice(0, SAMPLES_MAX),
  });
  const plain = (what: string, got: number): ChaosPromise => ({ what, got, samples: [] });
  return [
    counted('questions that nobody answered', result.unanswered),
    plain('commits at which the ledger itself was over a limit', result.ledgerOver),
    plain(
      "jobs over a cap beyond what relays admitted alone, the room's error",
      result.roomError.unexplained,
    ),
    counted('questions in no books, not declared lost, and not gone with a killed relay', result.nowhere),
    counted('jobs whose books say another thing than the router heard', result.wrong),
    plain('counters that differ from a recount', result.drift),
    plain('holds left', result.liveLeft),
  ];
}

const overText = (what: string, over: number, limit: number): string =>
  `  ${what.padEnd(36)} ${over} of ${limit} (${((100 * over) / limit).toFixed(1)} %)`;

export function chaosText(result: ChaosResult): string {
  const { decisions, answered } = result;
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const lines = [
    `Faults      ${list(result.faults)}`,
    ...(result.lateMs > LATE_MS_MAX
      ? [
          `Machine     too busy: questions were asked up to ${Math.round(result.lateMs / 1_000)} s late, and so may answers be that count as none`,
        ]
      : []),
    `Questions   ${result.asked}: ${list(answered)}; ${result.cut} of them cut off with their relay or connection`,
    `Answers     by the ledger ${decisions.ledger}; by the fallback ${decisions.admitted} admitted, ${decisions.rejected} rejected; ` +
      `${decisions.withheld} not rejected before the schema was proven`,
    `Afterwards  ${result.declaredLost} declared lost, ${result.diedWithRelay} rejections gone with a killed relay, ` +
      `${result.swept} ended by asking GitLab`,
    `Books       ${result.counters} counters, ${result.commits} commits looked at`,
    `At once     ${result.runningMost} jobs really ran, of ${SHARED_CAP} under the shared cap`,
    "Room's error  jobs that really ran beyond a cap, at most, outage and recovery included",
    ...Object.entries(result.roomError.most).map(([subject, most]) =>
      overText(subject, most, chaosCapOf(subject) ?? 0),
    ),
    'In the books  over a limit at most: ends that were not worked off yet come on top',
    ...result.overLimits.map(({ counter, limit, mostOver }) => overText(counter, mostOver, limit)),
    '',
    ...promisesOf(result).map(
      ({ what, got, samples }) =>
        `${got === 0 ? 'holds ' : 'BROKEN'}  ${what}: ${got}${samples.length === 0 ? '' : ` (${samples.join('; ')})`}`,
    ),
  ];
  return lines.join('\n');
}
