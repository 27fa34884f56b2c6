import { MODELLED_TRANSACTION_MS } from './contention-model.ts';
import { type Figure, modelFigure } from './figure.ts';
import { closedLoop, deployment, type LoadPoint, measureLoad } from './load.ts';

const MODELLED_MS = 2_000;
const IN_FLIGHT = 64;
/** Several jobs of each of 64 groups, or there would be nothing to commit together. */
const IN_FLIGHT_MANY = 64 * 8;

async function ownLoad(roots: number, relays: number | 'naive', inFlight: number, itemMs?: number) {
  const { clock, store, openRelays } = deployment(roots, itemMs);
  const load = closedLoop(openRelays(relays), { clock, forMs: MODELLED_MS, inFlight, roots });
  const { admitted, perSecond } = await clock.run(load);
  const { unitsPerJob, conflictsPerJob } = store.perJob(admitted);
  return { perSecond, unitsPerJob, conflictsPerJob };
}

/** The time of an item is an estimate, so each figure is also given with others. */
const OTHER_ITEM_MS = [0, 0.15, 0.6] as const;

async function atEachItemMs<T>(measure: (itemMs?: number) => Promise<T>) {
  const first = await measure();
  const loads: T[] = [];
  for (const itemMs of OTHER_ITEM_MS) loads.push(await measure(itemMs));
  return (value: (load: T) => number): readonly [number, string] => {
    const others = loads.map((load) => Number(value(load).toPrecision(3)));
    return [value(first), `${others.join(', ')} at ${OTHER_ITEM_MS.join(', ')} ms an item`];
  };
}

export async function contentionFigures(): Promise<readonly Figure[]> {
  const hot = await atEachItemMs((itemMs) => ownLoad(1, 1, IN_FLIGHT, itemMs));
  const many = await atEachItemMs((itemMs) => ownLoad(64, 1, IN_FLIGHT_MANY, itemMs));
  const two = await atEachItemMs((itemMs) => ownLoad(1, 2, IN_FLIGHT, itemMs));
  // Their transactions of four items and updates of one take the same time with each.
  const compare = (
    where: string,
    grouped: typeof hot,
    theirs: Awaited<ReturnType<typeof ownLoad>>,
    atLeast: number,
  ): Figure => {
    const [ratio, others] = grouped(({ perSecond }) => perSecond / theirs.perSecond);
    const [units] = grouped(({ unitsPerJob }) => unitsPerJob);
    return modelFigure(
      `group commit ÷ one transaction per job, ${where}`,
      ratio,
      ...[{ atLeast }, '×' as const],
      `${(ratio * theirs.perSecond).toFixed(0)}/s against ${theirs.perSecond.toFixed(0)}/s, ${grouped === hot ? IN_FLIGHT : IN_FLIGHT_MANY} in flight; write units per job ${units.toFixed(1)} against ${theirs.unitsPerJob.toFixed(1)}; ${others}`,
    );
  };
  const each = 'per admitted job, hot, 3 counters';
  const cost = (of: typeof hot, key: 'conflictsPerJob' | 'unitsPerJob', relays: string, atMost: number) => {
    const [value, others] = of((load) => load[key]);
    const name = key === 'unitsPerJob' ? 'write units' : 'conflicts';
    return modelFigure(`${name} ${each}, ${relays}`, value, { atMost }, 'per job', others);
  };
  // The model repeats exactly: guards stand about a tenth from its values.
  return [
    compare('one hot group', hot, await ownLoad(1, 'naive', IN_FLIGHT), 12),
    compare('64 groups', many, await ownLoad(64, 'naive', IN_FLIGHT_MANY), 1.17),
    cost(hot, 'conflictsPerJob', 'one relay', 0.02),
    cost(hot, 'unitsPerJob', 'one relay', 3.3),
    cost(two, 'conflictsPerJob', 'two relays', 0.08),
    cost(two, 'unitsPerJob', 'two relays', 6.6),
  ];
}

/** Guards stand about a tenth above the model's values. `npm run capacity` has the whole curves. */
const GUARDED: readonly (LoadPoint & { readonly p99Max: number; readonly undecidedMax?: number })[] = [
  { roots: 1, relays: 1, isShared: false, perSecond: 1_000, p99Max: 13 },
  { roots: 50, relays: 2, isShared: false, perSecond: 1_000, p99Max: 4.5 },
  { roots: 1_000, relays: 2, isShared: false, perSecond: 1_000, p99Max: 3.2 },
  { roots: 64, relays: 2, isShared: true, perSecond: 400, p99Max: 24 },
  { roots: 1_000, relays: 2, isShared: true, perSecond: 1_000, p99Max: 144 },
  { roots: 64, relays: 2, isShared: true, perSecond: 3_000, p99Max: 225, undecidedMax: 0.18 },
];

export async function openLoopFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { p99Max, undecidedMax = 0.001, ...point } of GUARDED) {
    const load = await atEachItemMs((itemMs) => measureLoad({ ...point, itemMs }));
    const at = `${point.perSecond} jobs/s by schedule, ${point.isShared ? 'a shared limit' : 'own limits'}, roots: ${point.roots}, relays: ${point.relays}`;
    const [tx, otherTx] = load(({ p99Ms }) => p99Ms / MODELLED_TRANSACTION_MS);
    const [undecided, otherUndecided] = load(({ undecidedShare }) => undecidedShare);
    const [settled, otherSettled] = load(({ settledShare }) => settledShare);
    figures.push(
      modelFigure(`p99 at ${at}`, tx, { atMost: p99Max }, 'tx', otherTx),
      modelFigure(`undecided at ${at}`, undecided, { atMost: undecidedMax }, 'per job', otherUndecided),
      modelFigure(`settled at ${at}`, settled, { atLeast: 0.98 }, 'per job', otherSettled),
    );
  }
  return figures;
}
