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
import { DecisionLog, SettlementReader } from './observe.ts';
import { CHAOS_INSTANCE, CHAOS_TABLE, type ChaosScene, openScene, SHARED_CAP } from './scene.ts';

interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly perSecond: number;
  readonly onProgress: (text: string) => void;
}

export type ChaosResult = Awaited<ReturnType<typeof runChaos>>;

const FAULT_MS = { min: 1_200, spread: 1_800 };
const CALM_MS = { min: 500, spread: 1_000 };
/** After a fault of three seconds a decision is delivered within this: a second to gather, then three retries. */
const DELIVERED_MS_MAX = 15_000;
const QUIET_MS_MAX = 90_000;
const LOOK_MS = 1_000;

export async function runChaos({ seed, minutes, perSecond, onProgress }: ChaosOptions) {
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
  const reader = new SettlementReader(scene.table.endpoint, scene.settle);
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
          (log.byJob.get(jobId)?.relay ?? relay) === relay &&
          killedAtMs.some((atMs) => atMs >= answeredAtMs && atMs - answeredAtMs <= DELIVERED_MS_MAX),
      );
    const silent = load.asked.filter((job) => !told.includes(job));
    const counted = (samples: readonly string[], got = samples.length) => ({
      got,
      samples: samples.slice(0, SAMPLES_MAX),
    });
    const named = (jobs: readonly AskedJob[]) =>
      counted(
        jobs.map(
          ({ jobId, result, failure = '' }) =>
            `job ${jobId}: ${result} ${failure}; ${log.byJob.get(jobId)?.text ?? 'no relay logged it'}`,
        ),
      );
    /** Number of violations of each promise with some examples: each must be 0. */
    const promises: Readonly<Record<string, ReturnType<typeof counted>>> = {
      'questions that nobody answered': named(silent.filter((job) => !cut(job))),
      'commits at which the ledger itself was over a limit': counted([], reader.over.broken),
      'questions in no books, not declared lost, and not gone with a killed relay': named(
        missing.filter((job) => !died(job)),
      ),
      'jobs whose books say another thing than the router heard': counted(
        told.flatMap((job) => wrongOf(job, records.get(job.jobId))),
      ),
      'counters that differ from a recount': counted([], drift.length),
      'holds left': counted([], liveIn(records).length),
    };
    return {
      faults,
      asked: load.asked.length,
      answered: countsOf(load.asked.map(({ result }) => result)),
      decisions: log.counts,
      // Without a decision, because their relay was killed or their connection cut.
      cut: silent.filter(cut).length,
      // Rejected by a relay that was killed before it delivered the decision: nothing ran, so nothing is charged.
      diedWithRelay: missing.filter(died).length,
      declaredLost: log.lostJobs.size,
      ...{ swept, counters, commits: reader.over.commits, mostOver: reader.over.mostOver },
      ...{ runningMost: load.runningMost, lateMs: Math.round(load.lateMs) },
      promises,
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
  await until(isQuiet, QUIET_MS_MAX);
  // Journal items may still be on their way.
  await pause(LOOK_MS);
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

const SAMPLES_MAX = 5;
/** Half of the router's timeout. */
const LATE_MS_MAX = 5_000;

export const chaosHolds = ({ promises }: ChaosResult): boolean =>
  Object.values(promises).every(({ got }) => got === 0);

export function chaosText(result: ChaosResult): string {
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const { asked, answered, cut, declaredLost, diedWithRelay, swept, lateMs } = result;
  return [
    `Faults      ${list(result.faults)}`,
    ...(lateMs > LATE_MS_MAX
      ? [`Machine     too busy: questions were asked up to ${Math.round(lateMs / 1_000)} s late`]
      : []),
    `Questions   ${asked}: ${list(answered)}; ${cut} of them cut off with their relay or connection`,
    `Answers     ${list(result.decisions)}`,
    `Afterwards  ${declaredLost} declared lost, ${diedWithRelay} rejections gone with a killed relay, ${swept} ended by asking GitLab`,
    `Books       ${result.counters} counters, ${result.commits} commits; over a limit at most ${(100 * result.mostOver).toFixed(1)} %, by fallbacks`,
    `At once     ${result.runningMost} jobs really ran, of ${SHARED_CAP} under the shared cap`,
    '',
    ...Object.entries(result.promises).map(
      ([what, { got, samples }]) =>
        `${got === 0 ? 'holds ' : 'BROKEN'}  ${what}: ${got}${samples.length === 0 ? '' : ` (${samples.join('; ')})`}`,
    ),
  ].join('\n');
}
