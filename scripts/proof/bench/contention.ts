import { MemoryStore } from '../../../functions/core/ledger/index.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { contendedStore } from './contended-store.ts';
import { countingStore, type StoreCounts } from './counting-store.ts';
import type { Figure } from './figure.ts';
import { rateLimiterRival } from './rate-limiter-rival.ts';
import { closedLoop, type Load, sides } from './sides.ts';

const INSTANCE = 'bench.example.com';
const IN_FLIGHT = 64;
/** Per group, where there are many. */
const IN_FLIGHT_EACH = 8;
/** Modelled, so it costs what the work costs and not this long. */
const MODELLED_MS = 2_000;

/** A modelled deployment: a table with the service's contention rules, and the two ways to it. */
export function deployment(
  roots: number,
  options: Pick<Parameters<typeof sides>[0], 'isShared' | 'deadlineMs'> = {},
) {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const random = seededRandom(1);
  const memory = new MemoryStore({ instance: INSTANCE });
  const store = countingStore(contendedStore(memory, clock, random), INSTANCE);
  const defer = (run: () => void): void => void clock.after(0, run);
  return {
    clock,
    random,
    store,
    counts: store.counts,
    ...sides({ store, clock, random, defer, roots, ...options }),
  };
}

type Modelled = Load & { readonly counts: StoreCounts; readonly inFlight: number };

async function load(roots: number, relays: number | 'naive', inFlight = IN_FLIGHT): Promise<Modelled> {
  const { clock, counts, naive, grouped } = deployment(roots);
  const ask = relays === 'naive' ? naive() : grouped(relays);
  const done = closedLoop(ask, { clock, forMs: MODELLED_MS, inFlight, roots, firstJobId: 1 });
  return { inFlight, ...(await clock.run(done)), counts };
}

/** The contention figures: group commit against one transaction per job, and what an admission costs. */
export async function contentionFigures(): Promise<readonly Figure[]> {
  const naiveHot = await load(1, 'naive');
  const groupedHot = await load(1, 1);
  // One question of each group at a time would leave nothing to put together.
  const naive64 = await load(64, 'naive', 64 * IN_FLIGHT_EACH);
  const grouped64 = await load(64, 1, 64 * IN_FLIGHT_EACH);
  // The model repeats exactly: guards stand a tenth or so beside its values.
  return [
    ratio('one hot group', groupedHot, naiveHot, 40),
    ratio('64 groups', grouped64, naive64, 5),
    ...(await rivalFigures({ hot: groupedHot, many: grouped64 })),
    ...costs('one relay', groupedHot, { conflicts: 0.02, units: 3.3 }),
    ...costs('two relays', await load(1, 2), { conflicts: 0.06, units: 5.3 }),
  ];
}

/** The same questions in the same model, put to what many would take off the shelf. */
async function rivalFigures(ours: Readonly<Record<'hot' | 'many', Modelled>>): Promise<readonly Figure[]> {
  const against = async (
    groups: string,
    grouped: Modelled,
    roots: number,
    atLeast: number,
  ): Promise<Figure> => {
    const clock = new VirtualTime(Date.UTC(2026, 10, 21));
    const { ask, counts } = rateLimiterRival(clock, seededRandom(1));
    const { inFlight } = grouped;
    const done = closedLoop(ask, { clock, forMs: MODELLED_MS, inFlight, roots, firstJobId: 1 });
    const rival = await clock.run(done);
    const speeds = [grouped, rival].map((run) => `${perSecond(run).toFixed(0)}/s`).join(' against ');
    const asked = rival.latenciesMs.length;
    const undecided = ((asked - rival.admitted) / asked) * 100;
    return {
      name: `group commit ÷ rate-limiter-flexible on DynamoDB, ${groups}`,
      value: perSecond(grouped) / perSecond(rival),
      must: { atLeast },
      unit: '×',
      kind: 'modelled',
      note: `${speeds}, ${inFlight} in flight; write units per job ${units(grouped).toFixed(1)} against ${(counts.units / rival.admitted).toFixed(1)}; theirs keep no record of a job, and ${undecided.toFixed(1)} % of them were throttled`,
    };
  };
  return [await against('one hot group', ours.hot, 1, 9), await against('64 groups', ours.many, 64, 1.35)];
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
    note: `${speeds}, ${grouped.inFlight} in flight; write units per job ${units(grouped).toFixed(1)} against ${units(naive).toFixed(1)}`,
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
