import { MODELLED_TRANSACTION_MS } from './contention-constants.ts';
import type { Figure } from './figure.ts';
import { type LoadPoint, measureLoad } from './open-loop.ts';

/** The model repeats exactly, so a guard is about a tenth above its value. `npm run capacity` has the whole curves. */
const GUARDED: readonly (LoadPoint & { readonly p99Max: number })[] = [
  { roots: 1, relays: 1, isShared: false, perSecond: 1_000, p99Max: 6 },
  { roots: 50, relays: 2, isShared: false, perSecond: 1_000, p99Max: 5 },
  { roots: 1_000, relays: 2, isShared: false, perSecond: 1_000, p99Max: 3 },
  { roots: 64, relays: 2, isShared: true, perSecond: 400, p99Max: 22 },
  { roots: 1_000, relays: 2, isShared: true, perSecond: 1_000, p99Max: 14 },
  { roots: 64, relays: 2, isShared: true, perSecond: 3_000, p99Max: 75 },
];

/** Open loop, settlement running: the slowest hundredth in undisturbed transactions, and who was not decided in time. */
export async function openLoopFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { p99Max, ...point } of GUARDED) {
    const { asked, undecidedShare, p99Ms, unitsPerJob } = await measureLoad(point);
    const load = `${point.perSecond} jobs/s by schedule, ${point.isShared ? 'a shared limit' : 'own limits'}, roots: ${point.roots}, relays: ${point.relays}`;
    figures.push(
      {
        name: `p99 at ${load}`,
        value: p99Ms / MODELLED_TRANSACTION_MS,
        must: { atMost: p99Max },
        unit: 'tx',
        kind: 'modelled',
        note: `${p99Ms.toFixed(0)} ms of ${asked} questions, ${unitsPerJob.toFixed(1)} write units a job, settlement included`,
      },
      {
        name: `undecided at ${load}`,
        value: undecidedShare,
        must: { atMost: 0.001 },
        unit: 'per job',
        kind: 'modelled',
      },
    );
  }
  return figures;
}
