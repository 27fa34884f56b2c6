import { decide } from '../../../functions/core/admission/index.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, type JobEnd, MemoryStore } from '../../../functions/core/ledger/index.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import { quantile } from '../../local/quantile.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { benchRequest, sharedRules } from './bench-rules.ts';
import { contendedStore } from './contended-store.ts';
import { countingStore, type StoreCounts } from './counting-store.ts';
import type { Figure } from './figure.ts';

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
async function sharedLoad({ roots, phases }: SharedLoad) {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(roots);
  const memory = new MemoryStore({ instance: INSTANCE });
  const table = contendedStore(memory, clock, random);
  const store = countingStore(table, INSTANCE);
  const rules = sharedRules(roots);
  const newLedger = () => createLedger({ store, clock, random });

  // Each process of the function has one call at a time; the one that was used last is used first.
  const idle: ReturnType<typeof newLedger>[] = [];
  const commits = Array.from({ length: RELAYS }, () =>
    createGroupCommit({
      clock,
      observe: () => {},
      defer: (run) => void clock.after(0, run),
      send: async (jobs, remainingMs) => {
        const deadlineMs = clock.monotonicMs() + remainingMs - 2 * CALL_MS;
        await clock.sleep(CALL_MS);
        const ledger = idle.pop() ?? newLedger();
        const deps = { ledger, currentRules: async () => rules, clock, log: silentLog };
        const decisions = await decide(
          jobs.map(({ request }) => request),
          deadlineMs,
          deps,
        );
        idle.push(ledger);
        await clock.sleep(CALL_MS);
        return decisions;
      },
    }),
  );

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
/** The model repeats exactly: guards stand a tenth or so beside its values. */
const RATES = [
  { perSecond: 400, forMs: 8_000, undecidedPercent: 45, p99Ms: 1_700 },
  { perSecond: 1_000, forMs: 4_000, undecidedPercent: 75, p99Ms: 1_900 },
  { perSecond: 3_000, forMs: 3_000, undecidedPercent: 85, p99Ms: 2_000 },
];
/** Per job at the first of the rates. */
const COSTS = { conflicts: 7.5, units: 60 };

/** Twice the jobs for a while, and then as before. */
const BURST = { roots: 200, perSecond: 150, timesMore: 2, forMs: 3_000, calmMs: 2_000, afterMs: 10_000 };
const CALM_AGAIN_SECONDS = 10;

/** What a limit that all roots share does to them, at growing rates and after a burst. */
export async function sharedFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const roots of ROOTS) {
    for (const [index, { perSecond, forMs, undecidedPercent, p99Ms }] of RATES.entries()) {
      const { jobs, counts, ending } = await sharedLoad({ roots, phases: [{ perSecond, forMs }] });
      const waiting = waitingOf(jobs);
      const load = `${roots} roots at ${perSecond}/s`;
      const perJob = (sum: number): number => sum / jobs.length;
      const unitsOf = ({ tableUnits, indexUnits }: StoreCounts): number => perJob(tableUnits + indexUnits);
      figures.push(
        modelled(`${load}, left to the fallback`, waiting.undecidedPercent, undecidedPercent, '%'),
        {
          ...modelled(`${load}, p99`, waiting.p99Ms, p99Ms, 'ms'),
          note: `p50 ${waiting.p50Ms.toFixed(0)} ms; per job ${perJob(counts.transactions).toFixed(2)} transactions, ${perJob(counts.conflicts).toFixed(2)} conflicts, ${unitsOf(counts).toFixed(1)} write units; for its end ${perJob(ending.conflicts).toFixed(2)} and ${unitsOf(ending).toFixed(1)}`,
        },
      );
      if (index > 0) continue;
      figures.push(
        modelled(`${load}, conflicts`, perJob(counts.conflicts), COSTS.conflicts, 'per job'),
        modelled(`${load}, write units`, unitsOf(counts), COSTS.units, 'per job'),
      );
    }
  }
  return [...figures, await burstOverFigure()];
}

async function burstOverFigure(): Promise<Figure> {
  const { roots, perSecond, timesMore, forMs, calmMs, afterMs } = BURST;
  const { jobs } = await sharedLoad({
    roots,
    phases: [
      { perSecond, forMs: calmMs },
      { perSecond: timesMore * perSecond, forMs },
      { perSecond, forMs: afterMs },
    ],
  });
  const lastMs = Math.max(0, ...jobs.filter(({ undecided }) => undecided).map(({ askedAtMs }) => askedAtMs));
  return modelled(
    `${roots} roots, ${forMs / 1000} s at ${timesMore * perSecond}/s, then ${perSecond}/s: from the burst's end to the last job left to the fallback`,
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
