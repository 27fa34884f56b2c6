import { MemoryStore } from '../../functions/ledger/memory-store.ts';
import { seededRandom } from '../pipeline/seeded-random.ts';
import { contendedStore } from './contended-store.ts';
import { countingStore, type StoreCounts } from './counting-store.ts';
import type { Figure } from './figure.ts';
import { closedLoop, type Load, sides } from './sides.ts';
import { VirtualTime } from './virtual-time.ts';

const INSTANCE = 'bench.example.com';
const IN_FLIGHT = 64;
/** Modelled, so it costs what the work costs and not this long. */
const MODELLED_MS = 2_000;

/** A modelled deployment: a table with the service's contention rules, and the two ways to it. */
export function deployment(roots: number) {
  const time = new VirtualTime();
  const random = seededRandom(1);
  const memory = new MemoryStore({ instance: INSTANCE });
  const store = countingStore(contendedStore(memory, time, random), INSTANCE);
  const clock = {
    nowMs: () => Date.UTC(2026, 10, 21) + time.nowMs(),
    monotonicMs: () => time.nowMs(),
    sleep: (ms: number) => time.sleep(ms),
    after: (delayMs: number, run: () => void) => time.after(delayMs, run),
  };
  const defer = (run: () => void): void => void time.after(0, run);
  return {
    time,
    clock,
    random,
    store,
    counts: store.counts,
    ...sides({ store, clock, random, defer, roots }),
  };
}

type Modelled = Load & { readonly counts: StoreCounts };

async function load(roots: number, relays: number | 'naive'): Promise<Modelled> {
  const { time, clock, counts, naive, grouped } = deployment(roots);
  const ask = relays === 'naive' ? naive() : grouped(relays);
  const done = closedLoop(ask, { clock, forMs: MODELLED_MS, inFlight: IN_FLIGHT, roots, firstJobId: 1 });
  return { ...(await time.run(done)), counts };
}

/** The contention figures: group commit against one transaction per job, and what an admission costs. */
export async function contentionFigures(): Promise<readonly Figure[]> {
  const naiveHot = await load(1, 'naive');
  const groupedHot = await load(1, 1);
  const naiveCold = await load(64, 'naive');
  const groupedCold = await load(64, 1);
  return [
    ratio('one hot group', groupedHot, naiveHot, 15),
    ratio('64 groups', groupedCold, naiveCold, 0.8),
    ...costs('one relay', groupedHot, { conflicts: 0.1, units: 4 }),
    ...costs('two relays', await load(1, 2), { conflicts: 0.2, units: 6 }),
  ];
}

const perSecond = ({ admitted, seconds }: Load): number => admitted / seconds;
const units = ({ admitted, counts }: Modelled): number => (counts.tableUnits + counts.indexUnits) / admitted;

function ratio(groups: string, grouped: Modelled, naive: Modelled, atLeast: number): Figure {
  const speeds = [grouped, naive].map((run) => `${perSecond(run).toFixed(0)}/s`).join(' against ');
  return {
    name: `group commit ÷ one transaction per job, ${groups}`,
    value: perSecond(grouped) / perSecond(naive),
    must: { atLeast },
    unit: '×',
    kind: 'modelled',
    note: `${speeds}, ${IN_FLIGHT} in flight; write units per job ${units(grouped).toFixed(1)} against ${units(naive).toFixed(1)}`,
  };
}

function costs(
  relays: string,
  run: Modelled,
  atMost: { readonly conflicts: number; readonly units: number },
): readonly Figure[] {
  const common = { unit: 'per job', kind: 'modelled' } as const;
  return [
    {
      name: `conflicts per admitted job, hot, 3 counters, ${relays}`,
      value: run.counts.conflicts / run.admitted,
      must: { atMost: atMost.conflicts },
      ...common,
    },
    {
      name: `write units per admitted job, hot, 3 counters, ${relays}`,
      value: units(run),
      must: { atMost: atMost.units },
      ...common,
    },
  ];
}
