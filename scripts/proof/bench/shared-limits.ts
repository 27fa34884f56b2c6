import { decide } from '../../../functions/core/admission/index.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, type JobEnd, MemoryStore } from '../../../functions/core/ledger/index.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import { quantile } from '../../local/quantile.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { benchRequest, sharedRules } from './bench-rules.ts';
import { contendedStore } from './contended-store.ts';
import { countingStore, type StoreCounts } from './counting-store.ts';
import { type Figure, median } from './figure.ts';

const INSTANCE = 'bench.example.com';
const RELAYS = 2;
const DEADLINE_MS = 2_000;
/** One way between relay and function. */
const CALL_MS = 3;
/** So large a share of the jobs is of one root; the others take theirs from all roots alike. */
const BUSY_SHARE = 0.2;
/** Short, so that as many jobs end as begin while it is measured; exponential. */
const JOB_MS_MEAN = 2_000;

/** The table's stream as it is deployed: each shard hands over so many ends, or what came within so long. */
const STREAM_BATCH = 100;
const STREAM_WINDOW_MS = 1_000;
/** A shard stands for a partition, and a job from question to end writes about twelve units besides the index. */
const SHARD_JOBS_PER_SECOND = 80;
/** An end that was not taken comes again. */
const STREAM_PAUSE_MS = 100;

interface SharedLoad {
  readonly seed: number;
  readonly roots: number;
  /** Arrivals a second, one rate after the other. */
  readonly phases: readonly { readonly perSecond: number; readonly forMs: number }[];
}

interface AskedJob {
  readonly askedAtMs: number;
  readonly latencyMs: number;
  readonly undecided: boolean;
}

/**
 * Jobs of many roots under one limit of the whole instance, asked by two relays in an open loop: they come when they come,
 * however long others wait. Real group commit, real hold and real settlement; the table's contention, the time on the wire
 * and the function's processes are modelled.
 */
async function sharedLoad({ seed, roots, phases }: SharedLoad) {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(seed);
  const memory = new MemoryStore({ instance: INSTANCE });
  const table = contendedStore(memory, clock, random);
  const store = countingStore(table, INSTANCE);
  const rules = sharedRules(roots);
  const newLedger = () => createLedger({ store, clock, random });

  // Each process of the function has one call at a time; the one that was used last is used first.
  const idle: ReturnType<typeof newLedger>[] = [];
  const commits = Array.from({ length: RELAYS }, () => {
    const lanes = createLanes(clock);
    return createGroupCommit({
      clock,
      observe: () => {},
      lanes,
      defer: (run) => void clock.after(0, run),
      send: async (jobs, remainingMs) => {
        const deadlineMs = clock.monotonicMs() + remainingMs - 2 * CALL_MS;
        await clock.sleep(CALL_MS);
        const ledger = idle.pop() ?? newLedger();
        const rootOf = new Map(jobs.map(({ request, root }) => [request.jobId, root]));
        const onContended = (counter: string, jobIds: readonly number[]): void =>
          lanes.noteContended(
            counter,
            jobIds.map((jobId) => rootOf.get(jobId) ?? ''),
          );
        const deps = { ledger, currentRules: async () => rules, clock, log: silentLog, onContended };
        const decisions = await decide(
          jobs.map(({ request }) => request),
          deadlineMs,
          deps,
        );
        idle.push(ledger);
        await clock.sleep(CALL_MS);
        return decisions;
      },
    });
  });

  const ending = countingStore(table, INSTANCE);
  const perSecondMax = Math.max(...phases.map(({ perSecond }) => perSecond));
  const shards = Array.from({ length: Math.ceil(perSecondMax / SHARD_JOBS_PER_SECOND) }, (): JobEnd[] => []);
  let stopped = false;
  const settle = async (ends: JobEnd[]): Promise<void> => {
    const ledger = createLedger({ store: ending, clock, random });
    while (!stopped) {
      if (ends.length === 0) await clock.sleep(STREAM_PAUSE_MS * (0.5 + random()));
      else if (ends.length < STREAM_BATCH) await clock.sleep(STREAM_WINDOW_MS);
      const batch = ends.splice(0, STREAM_BATCH);
      if (batch.length === 0) continue;
      const outcomes = await ledger.settle(batch);
      const again = batch.filter((_, index) => outcomes[index] === 'undecided');
      if (again.length > 0) await clock.sleep(STREAM_PAUSE_MS);
      ends.unshift(...again);
    }
  };

  const asked: Promise<AskedJob>[] = [];
  const ask = async (jobId: number): Promise<AskedJob> => {
    const askedAtMs = clock.monotonicMs();
    const root = random() < BUSY_SHARE ? 0 : Math.floor(random() * roots);
    const commit = commits[Math.floor(random() * RELAYS)];
    const verdict = await commit?.decide(benchRequest(jobId, root), askedAtMs + DEADLINE_MS);
    if (verdict?.outcome === 'admitted') {
      clock.after(exponential(JOB_MS_MEAN, random), () => {
        shards[Math.floor(random() * shards.length)]?.push({
          jobId,
          durationSeconds: 240,
          endedAtMs: clock.nowMs(),
        });
      });
    }
    return {
      askedAtMs,
      latencyMs: clock.monotonicMs() - askedAtMs,
      undecided: verdict?.outcome === 'undecided',
    };
  };

  const arrive = async (): Promise<void> => {
    for (const { perSecond, forMs } of phases) {
      const untilMs = clock.monotonicMs() + forMs;
      for (;;) {
        await clock.sleep(exponential(1000 / perSecond, random));
        if (clock.monotonicMs() >= untilMs) break;
        asked.push(ask(asked.length + 1));
      }
    }
  };

  for (const ends of shards) void settle(ends);
  const jobs = await clock.run(arrive().then(() => Promise.all(asked)));
  stopped = true;
  return { jobs, counts: store.counts, ending: ending.counts };
}

const exponential = (mean: number, random: () => number): number => -mean * Math.log(1 - random());

/** Of jobs asked within a span: how many were left to the fallback, percent, and how long the slowest hundredth waited. */
function waitingOf(jobs: readonly AskedJob[]) {
  const latenciesMs = jobs.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b);
  return {
    undecidedPercent: (100 * jobs.filter(({ undecided }) => undecided).length) / jobs.length,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  };
}

const ROOTS = [64, 1_000];
/** Percentiles are the middle one of these runs: one draw of chances says little about a hundredth of them. */
const SEEDS = [1, 2, 3];
/** Relays that know nothing yet need some fights to learn who goes together: what is left to the fallback counts from the start. */
const LEARNING_MS = 1_000;
/** What each of these rates must come to, be it of few roots or of many. */
const RATES = [
  { perSecond: 400, forMs: 8_000, undecidedPercent: 0.1, p99Ms: 120 },
  { perSecond: 1_000, forMs: 6_000, undecidedPercent: 0.1, p99Ms: 160 },
  { perSecond: 3_000, forMs: 5_000, undecidedPercent: 0.2, p99Ms: 300 },
];
/** Per job at the first of the rates. */
const COSTS = { conflicts: 0.2, units: 8 };

/** Twice the jobs for a while, and then as before. */
const BURST = { roots: 200, perSecond: 150, timesMore: 2, forMs: 3_000, calmMs: 2_000, afterMs: 10_000 };
const CALM_AGAIN_SECONDS = 5;

/** What a limit that all roots share does to them, at growing rates and after a burst. */
export async function sharedFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const roots of ROOTS) {
    for (const [index, { perSecond, forMs, undecidedPercent, p99Ms }] of RATES.entries()) {
      const loads: Awaited<ReturnType<typeof sharedLoad>>[] = [];
      for (const seed of SEEDS) loads.push(await sharedLoad({ seed, roots, phases: [{ perSecond, forMs }] }));
      const jobs = loads.flatMap((load) => load.jobs);
      const perJob = (sumOf: (load: (typeof loads)[number]) => number): string =>
        meanOf(loads, sumOf, jobs.length).toFixed(2);
      const units = meanOf(loads, ({ counts }) => unitsOf(counts), jobs.length);
      const p99sMs = (isOf: (job: AskedJob) => boolean): number =>
        median(loads.map((load) => waitingOf(load.jobs.filter(isOf)).p99Ms).toSorted((a, b) => a - b));
      const load = `${roots} roots at ${perSecond}/s`;
      figures.push(
        modelled(`${load}, left to the fallback`, waitingOf(jobs).undecidedPercent, undecidedPercent, '%'),
        {
          ...modelled(
            `${load}, p99`,
            p99sMs(({ askedAtMs }) => askedAtMs >= LEARNING_MS),
            p99Ms,
            'ms',
          ),
          note: `p50 ${waitingOf(jobs).p50Ms.toFixed(0)} ms, p99 of the first second ${p99sMs(({ askedAtMs }) => askedAtMs < LEARNING_MS).toFixed(0)} ms; per job ${perJob(({ counts }) => counts.transactions)} transactions, ${perJob(({ counts }) => counts.conflicts)} conflicts, ${units.toFixed(1)} write units; for its end ${perJob(({ ending }) => ending.conflicts)} and ${perJob(({ ending }) => unitsOf(ending))}`,
        },
      );
      if (index > 0) continue;
      const conflicts = meanOf(loads, ({ counts }) => counts.conflicts, jobs.length);
      figures.push(
        modelled(`${load}, conflicts`, conflicts, COSTS.conflicts, 'per job'),
        modelled(`${load}, write units`, units, COSTS.units, 'per job'),
      );
    }
  }
  return [...figures, await burstOverFigure()];
}

const unitsOf = ({ tableUnits, indexUnits }: StoreCounts): number => tableUnits + indexUnits;

const meanOf = <Load>(loads: readonly Load[], sumOf: (load: Load) => number, jobs: number): number =>
  loads.reduce((sum, load) => sum + sumOf(load), 0) / jobs;

/** How long after its burst a crowd is still too large for its limit; jobs that go on coming must not keep it so. */
async function burstOverFigure(): Promise<Figure> {
  const { roots, perSecond, timesMore, forMs, calmMs, afterMs } = BURST;
  const { jobs } = await sharedLoad({
    seed: 1,
    roots,
    phases: [
      { perSecond, forMs: calmMs },
      { perSecond: timesMore * perSecond, forMs },
      { perSecond, forMs: afterMs },
    ],
  });
  const lastMs = Math.max(0, ...jobs.filter(({ undecided }) => undecided).map(({ askedAtMs }) => askedAtMs));
  return modelled(
    'a burst: until the last job left to the fallback',
    Math.max(0, lastMs - calmMs - forMs) / 1000,
    CALM_AGAIN_SECONDS,
    's',
  );
}

const modelled = (what: string, value: number, atMost: number, unit: Figure['unit']): Figure => ({
  name: `a limit that all roots share, ${what}`,
  value,
  must: { atMost },
  unit,
  kind: 'modelled',
});
