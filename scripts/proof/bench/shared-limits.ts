import { quantile } from '../../local/quantile.ts';
import type { StoreCounts } from './counting-store.ts';
import { type Figure, median } from './figure.ts';
import { type LoadJob, sharedLoad } from './shared-load.ts';

const isUndecided = ({ outcome }: LoadJob): boolean => outcome === 'undecided';

/** How many jobs of a span were left to the fallback, percent, and how long the slowest hundredth of them waited. */
function waitingOf(jobs: readonly LoadJob[]) {
  const latenciesMs = jobs.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b);
  return {
    undecidedPercent: (100 * jobs.filter(isUndecided).length) / jobs.length,
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
      const p99sMs = (isOf: (job: LoadJob) => boolean): number =>
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
  for (const roots of ROOTS) figures.push(await fullFigure(roots));
  return [...figures, await burstOverFigure()];
}

const unitsOf = ({ tableUnits, indexUnits }: StoreCounts): number => tableUnits + indexUnits;

const meanOf = <Load>(loads: readonly Load[], sumOf: (load: Load) => number, jobs: number): number =>
  loads.reduce((sum, load) => sum + sumOf(load), 0) / jobs;

/** Far more jobs than slots, which are given back by the ends of jobs alone: about a quarter of the jobs find one. */
const FULL = { slots: 300, perSecond: 400, forMs: 8_000, unusedMs: 250 };

/** Whether a limit that is always full is used to its last slot. A limit that was passed reaches nothing. */
async function fullFigure(roots: number): Promise<Figure> {
  const { slots, unusedMs, ...phase } = FULL;
  const loads: Awaited<ReturnType<typeof sharedLoad>>[] = [];
  for (const seed of SEEDS) loads.push(await sharedLoad({ seed, roots, slots, phases: [phase] }));
  const jobs = loads.flatMap((load) => load.jobs);
  const rejected = jobs.filter(({ outcome }) => outcome === 'rejected');
  const wrongly = rejected.filter(({ slotFreeMs }) => slotFreeMs >= unusedMs);
  const most = Math.max(...loads.map(({ slotsMost }) => slotsMost));
  const longestMs = Math.max(...rejected.map(({ slotFreeMs }) => slotFreeMs));
  const { undecidedPercent, p50Ms, p99Ms } = waitingOf(jobs);
  return {
    ...modelled(
      `${roots} roots at ${phase.perSecond}/s for ${slots} slots, rejected while one was free for ${unusedMs} ms`,
      rejected.length === 0 || most > slots ? Number.NaN : (100 * wrongly.length) / rejected.length,
      0,
      '%',
    ),
    note: `${rejected.length} of ${jobs.length} rejected, with a slot free for at most ${longestMs.toFixed(0)} ms; at most ${most} at once; ${undecidedPercent.toFixed(2)} % left to the fallback, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`,
  };
}

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
  const lastMs = Math.max(0, ...jobs.filter(isUndecided).map(({ askedAtMs }) => askedAtMs));
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
