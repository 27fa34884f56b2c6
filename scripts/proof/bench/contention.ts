import { RateLimiterDynamo } from 'rate-limiter-flexible';
import { VirtualTime } from '../../local/clock.ts';
import { logNormal, seededRandom } from '../../local/random.ts';
import { CONTENTION, itemBudgets, MODELLED_TRANSACTION_MS, type ModelTime } from './contention-model.ts';
import { type Figure, modelFigure } from './figure.ts';
import { type Admit, closedLoop, deployment, type LoadPoint, measureLoad } from './load.ts';

const MODELLED_MS = 2_000;
const IN_FLIGHT = 64;
/** Several jobs of each of 64 groups, or there would be nothing to commit together. */
const IN_FLIGHT_MANY = 64 * 8;

type Load = Omit<Awaited<ReturnType<typeof ownLoad>>, 'conflictsPerJob'>;

async function ownLoad(roots: number, relays: number | 'naive', inFlight: number, itemMs?: number) {
  const { clock, store, openRelays } = deployment(roots, itemMs);
  const load = closedLoop(openRelays(relays), { clock, forMs: MODELLED_MS, inFlight, roots });
  const { admitted, perSecond } = await clock.run(load);
  const { unitsPerJob, conflictsPerJob } = store.perJob(admitted);
  return { perSecond, unitsPerJob, conflictsPerJob, more: '' };
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
  const compare = (other: string, grouped: typeof hot, theirs: Load, atLeast: number): Figure => {
    const [ratio, others] = grouped(({ perSecond }) => perSecond / theirs.perSecond);
    const [units] = grouped(({ unitsPerJob }) => unitsPerJob);
    return modelFigure(
      `group commit ÷ ${other}`,
      ratio,
      ...[{ atLeast }, '×' as const],
      `${(ratio * theirs.perSecond).toFixed(0)}/s against ${theirs.perSecond.toFixed(0)}/s, ${grouped === hot ? IN_FLIGHT : IN_FLIGHT_MANY} in flight; write units per job ${units.toFixed(1)} against ${theirs.unitsPerJob.toFixed(1)}${theirs.more}; ${others}`,
    );
  };
  const naive = 'one transaction per job';
  const rival = 'rate-limiter-flexible on DynamoDB';
  const each = 'per admitted job, hot, 3 counters';
  const cost = (of: typeof hot, key: 'conflictsPerJob' | 'unitsPerJob', relays: string, atMost: number) => {
    const [value, others] = of((load) => load[key]);
    const name = key === 'unitsPerJob' ? 'write units' : 'conflicts';
    return modelFigure(`${name} ${each}, ${relays}`, value, { atMost }, 'per job', others);
  };
  // The model repeats exactly: guards stand about a tenth from its values.
  return [
    compare(`${naive}, one hot group`, hot, await ownLoad(1, 'naive', IN_FLIGHT), 12),
    compare(`${naive}, 64 groups`, many, await ownLoad(64, 'naive', IN_FLIGHT_MANY), 1.17),
    compare(`${rival}, one hot group`, hot, await rivalLoad(1, IN_FLIGHT), 3.1),
    compare(`${rival}, 64 groups`, many, await rivalLoad(64, IN_FLIGHT_MANY), 0.36),
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

/**
 * rate-limiter-flexible's store on DynamoDB, one `consume` for each limit of a job in parallel. It does less work: no
 * record of a job, nothing given back if one of several limits refuses, and no end of a job.
 *
 * @see https://github.com/animir/node-rate-limiter-flexible/wiki/DynamoDB
 */
async function rivalLoad(roots: number, inFlight: number): Promise<Load> {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const counts = { units: 0 };
  const storeClient = { updateItem: modelledUpdates(clock, seededRandom(1), counts) };
  const [root, group, project] = ['root', 'group', 'project'].map(
    (keyPrefix) =>
      new RateLimiterDynamo({
        ...{ storeClient, tableName: 'rival', tableCreated: true, ttlSet: true, keyPrefix },
        ...{ points: 1_000_000_000, duration: 30 * 86_400 },
      }),
  );
  const admit: Admit = async ({ rootNamespaceId, namespaceId, projectId }) => {
    const consumed = await Promise.allSettled([
      root?.consume(`${rootNamespaceId}`, 1),
      group?.consume(`${namespaceId}`, 1),
      project?.consume(`${projectId}`, 1),
    ]);
    return consumed.every(({ status }) => status === 'fulfilled');
  };
  const load = closedLoop(admit, { clock, forMs: MODELLED_MS, inFlight, roots });
  const { admitted, perSecond, latenciesMs } = await clock.run(load);
  const throttled = (1 - admitted / latenciesMs.length) * 100;
  const more = `; theirs keep no record of a job, and ${throttled.toFixed(1)} % of them were throttled`;
  return { perSecond, unitsPerJob: counts.units / admitted, more };
}

const TRIES_MAX = 3;
const PAUSE_MS = 50;
const THROTTLED = 'ProvisionedThroughputExceededException';

interface RivalUpdate {
  readonly Key: { readonly key: { readonly S: string } };
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, { readonly N: string }>>;
}

/** UpdateItem under the contention model, with retries like the SDK's if it is throttled. */
function modelledUpdates(time: ModelTime, random: () => number, counts: { units: number }) {
  const points = new Map<string, number>();
  const takeUnits = itemBudgets(time);
  const { networkMs, updateMs, sigma } = CONTENTION;
  const fail = (name: string): never => {
    throw Object.assign(new Error(name), { name });
  };
  return async function update(call: RivalUpdate, tries = 1): Promise<unknown> {
    const { Key, ConditionExpression, ExpressionAttributeValues: values } = call;
    await time.sleep(networkMs + logNormal(updateMs, sigma, random));
    const known = points.get(Key.key.S);
    const isThrottled = takeUnits([Key.key.S], 1).length > 0;
    if (!isThrottled) counts.units += 1;
    await time.sleep(networkMs);
    if (isThrottled) {
      if (tries === TRIES_MAX) fail(THROTTLED);
      await time.sleep(random() * PAUSE_MS * 2 ** (tries - 1));
      return update(call, tries + 1);
    }
    // The store first tries to create the entry, then to add to it.
    const mustBeNew = ConditionExpression?.includes('attribute_not_exists') === true;
    if (mustBeNew === (known !== undefined)) fail('ConditionalCheckFailedException');
    const sum = (known ?? 0) + Number(values[':new_points']?.N);
    points.set(Key.key.S, sum);
    return { Attributes: { key: Key.key, points: { N: String(sum) }, expire: { N: `${Date.now()}` } } };
  };
}
