import { RateLimiterDynamo } from 'rate-limiter-flexible';
import { VirtualTime } from '../../local/clock.ts';
import { logNormal, seededRandom } from '../../local/random.ts';
import {
  CONTENTION,
  itemBudgets,
  MODELLED_TRANSACTION_MS,
  type ModelTime,
  OTHER_TIMES,
  TRANSACTION_TIME,
  type TransactionTime,
  timeText,
} from './contention-model.ts';
import { type Figure, modelFigure } from './figure.ts';
import { type Admit, closedLoop, deployment, type LoadOutcome, type LoadPoint, measureLoad } from './load.ts';

const MODELLED_MS = 2_000;
const IN_FLIGHT = 64;
/** Several jobs of each of 64 groups, or there would be nothing to commit together. */
const IN_FLIGHT_MANY = 64 * 8;

type Load = Omit<Awaited<ReturnType<typeof ownLoad>>, 'conflictsPerJob'>;

async function ownLoad(roots: number, relays: number | 'naive', inFlight: number, time: TransactionTime) {
  const { clock, store, openRelays } = deployment(roots, { time });
  const load = closedLoop(openRelays(relays), { clock, forMs: MODELLED_MS, inFlight, roots });
  const { admitted, perSecond } = await clock.run(load);
  const { unitsPerJob, conflictsPerJob } = store.perJob(admitted);
  return { perSecond, unitsPerJob, conflictsPerJob, more: '' };
}

const TIMES = [TRANSACTION_TIME, ...OTHER_TIMES];
const otherwise = (values: readonly (number | string)[]): string =>
  OTHER_TIMES.map((time, index) => `${values[index + 1]} with ${timeText(time)}`).join(', ');
const rounded = (value: number): number => Number(value.toPrecision(3));

export async function contentionFigures(): Promise<readonly Figure[]> {
  const loads = (roots: number, relays: number | 'naive', inFlight: number) =>
    Promise.all(TIMES.map((time) => ownLoad(roots, relays, inFlight, time)));
  const hot = await loads(1, 1, IN_FLIGHT);
  const many = await loads(64, 1, IN_FLIGHT_MANY);
  const two = await loads(1, 2, IN_FLIGHT);
  const compare = (
    other: string,
    grouped: readonly Load[],
    theirs: readonly Load[],
    atLeast: number,
  ): Figure => {
    const ratios = grouped.map(
      ({ perSecond }, index) => perSecond / (theirs[index]?.perSecond ?? Number.NaN),
    );
    const [[own, rival] = []] = grouped.map((each, index) => [each, theirs[index]]);
    return modelFigure(
      `group commit ÷ ${other}`,
      ratios[0] ?? Number.NaN,
      ...[{ atLeast }, '×' as const],
      `${own?.perSecond.toFixed(0)}/s against ${rival?.perSecond.toFixed(0)}/s, ${grouped === hot ? IN_FLIGHT : IN_FLIGHT_MANY} in flight; write units per job ${own?.unitsPerJob.toFixed(1)} against ${rival?.unitsPerJob.toFixed(1)}${rival?.more}; ${otherwise(ratios.map(rounded))}`,
    );
  };
  const naive = 'one transaction per job';
  const rival = 'rate-limiter-flexible on DynamoDB';
  const each = 'per admitted job, hot, 3 counters';
  const cost = (name: string, values: readonly number[], atMost: number): Figure =>
    modelFigure(name, values[0] ?? Number.NaN, { atMost }, 'per job', otherwise(values.map(rounded)));
  const conflicts = (of: typeof hot) => of.map(({ conflictsPerJob }) => conflictsPerJob);
  const units = (of: typeof hot) => of.map(({ unitsPerJob }) => unitsPerJob);
  // Theirs are single updates, which have no further items.
  const rivals = async (roots: number, inFlight: number) => {
    const load = await rivalLoad(roots, inFlight);
    return TIMES.map(() => load);
  };
  // The model repeats exactly: guards stand about a tenth from its values.
  return [
    compare(`${naive}, one hot group`, hot, await loads(1, 'naive', IN_FLIGHT), 14),
    compare(`${naive}, 64 groups`, many, await loads(64, 'naive', IN_FLIGHT_MANY), 1.3),
    compare(`${rival}, one hot group`, hot, await rivals(1, IN_FLIGHT), 3.1),
    compare(`${rival}, 64 groups`, many, await rivals(64, IN_FLIGHT_MANY), 0.36),
    cost(`conflicts ${each}, one relay`, conflicts(hot), 0.02),
    cost(`write units ${each}, one relay`, units(hot), 3.3),
    cost(`conflicts ${each}, two relays`, conflicts(two), 0.08),
    cost(`write units ${each}, two relays`, units(two), 6.6),
  ];
}

/** Guards stand about a tenth above the model's values. `npm run capacity` has the whole curves. */
const GUARDED: readonly (LoadPoint & { readonly p99Max: number; readonly undecidedMax?: number })[] = [
  { roots: 1, relays: 1, isShared: false, perSecond: 1_000, p99Max: 15.5 },
  { roots: 50, relays: 2, isShared: false, perSecond: 1_000, p99Max: 4.3 },
  { roots: 1_000, relays: 2, isShared: false, perSecond: 1_000, p99Max: 3.2 },
  { roots: 64, relays: 2, isShared: true, perSecond: 400, p99Max: 55 },
  { roots: 64, relays: 2, isShared: true, perSecond: 1_000, p99Max: 91 },
  { roots: 1_000, relays: 2, isShared: true, perSecond: 1_000, p99Max: 146 },
  { roots: 64, relays: 2, isShared: true, perSecond: 3_000, p99Max: 225, undecidedMax: 0.47 },
];

export async function openLoopFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { p99Max, undecidedMax = 0.001, ...point } of GUARDED) {
    const loads: LoadOutcome[] = [];
    for (const time of TIMES) loads.push(await measureLoad({ ...point, time }));
    const [{ jobs, undecidedShare, p99Ms, unitsPerJob } = NOT_MEASURED] = loads;
    const at = `${point.perSecond} jobs/s by schedule, ${point.isShared ? 'a shared limit' : 'own limits'}, roots: ${point.roots}, relays: ${point.relays}`;
    const note = `${p99Ms.toFixed(0)} ms of ${jobs} jobs, ${unitsPerJob.toFixed(1)} write units a job, settlement included; ms: ${otherwise(loads.map((each) => each.p99Ms.toFixed(0)))}`;
    const undecided = loads.map((each) => `${rounded(each.undecidedShare * 100)} %`);
    figures.push(
      modelFigure(`p99 at ${at}`, p99Ms / MODELLED_TRANSACTION_MS, { atMost: p99Max }, 'tx', note),
      modelFigure(
        `undecided at ${at}`,
        undecidedShare,
        { atMost: undecidedMax },
        'per job',
        otherwise(undecided),
      ),
    );
  }
  return figures;
}

const NOT_MEASURED = { jobs: 0, undecidedShare: Number.NaN, p99Ms: Number.NaN, unitsPerJob: Number.NaN };

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
