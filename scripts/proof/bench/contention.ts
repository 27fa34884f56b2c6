import { RateLimiterDynamo } from 'rate-limiter-flexible';
import { VirtualTime } from '../../local/clock.ts';
import { logNormal, seededRandom } from '../../local/random.ts';
import { CONTENTION, itemBudgets, MODELLED_TRANSACTION_MS, type ModelTime } from './contention-model.ts';
import type { StoreCounts } from './counting-store.ts';
import type { Figure } from './figure.ts';
import { type Ask, closedLoop, deployment, type Load, type LoadPoint, measureLoad } from './load.ts';

const MODELLED_MS = 2_000;
const IN_FLIGHT = 64;
/** Several jobs of each of 64 groups, or there would be nothing to commit together. */
const IN_FLIGHT_MANY = 64 * 8;

type Modelled = Load & { readonly counts: StoreCounts; readonly inFlight: number };

async function load(roots: number, relays: number | 'naive', inFlight: number): Promise<Modelled> {
  const { clock, store, asking } = deployment(roots);
  const done = closedLoop(asking(relays), { clock, forMs: MODELLED_MS, inFlight, roots });
  return { inFlight, ...(await clock.run(done)), counts: store.counts };
}

const perSecond = ({ admitted, seconds }: Load): number => admitted / seconds;
const units = ({ admitted, counts }: Modelled): number => (counts.tableUnits + counts.indexUnits) / admitted;

export async function contentionFigures(): Promise<readonly Figure[]> {
  const hot = await load(1, 1, IN_FLIGHT);
  const many = await load(64, 1, IN_FLIGHT_MANY);
  // The model repeats exactly: guards stand about a tenth from its values.
  return [
    overNaive('one hot group', hot, await load(1, 'naive', IN_FLIGHT), 40),
    overNaive('64 groups', many, await load(64, 'naive', IN_FLIGHT_MANY), 5),
    await overRival('one hot group', hot, 1, 9),
    await overRival('64 groups', many, 64, 1.35),
    ...costs('one relay', hot, { conflicts: 0.02, units: 3.3 }),
    ...costs('two relays', await load(1, 2, IN_FLIGHT), { conflicts: 0.06, units: 5.3 }),
  ];
}

const overOther = (
  name: string,
  grouped: Modelled,
  other: Load,
  theirs: number,
  atLeast: number,
  more = '',
): Figure => ({
  name: `group commit ÷ ${name}`,
  value: perSecond(grouped) / perSecond(other),
  ...{ must: { atLeast }, unit: '×', kind: 'modelled' },
  note: `${perSecond(grouped).toFixed(0)}/s against ${perSecond(other).toFixed(0)}/s, ${grouped.inFlight} in flight; write units per job ${units(grouped).toFixed(1)} against ${theirs.toFixed(1)}${more}`,
});

const overNaive = (groups: string, grouped: Modelled, naive: Modelled, atLeast: number): Figure =>
  overOther(`one transaction per job, ${groups}`, grouped, naive, units(naive), atLeast);

async function overRival(groups: string, grouped: Modelled, roots: number, atLeast: number): Promise<Figure> {
  const clock = new VirtualTime(Date.UTC(2026, 10, 21));
  const { ask, counts } = rateLimiterRival(clock, seededRandom(1));
  const { inFlight } = grouped;
  const rival = await clock.run(closedLoop(ask, { clock, forMs: MODELLED_MS, inFlight, roots }));
  const asked = rival.latenciesMs.length;
  const undecided = ((asked - rival.admitted) / asked) * 100;
  const more = `; theirs keep no record of a job, and ${undecided.toFixed(1)} % of them were throttled`;
  const name = `rate-limiter-flexible on DynamoDB, ${groups}`;
  return overOther(name, grouped, rival, counts.units / rival.admitted, atLeast, more);
}

function costs(
  relays: string,
  run: Modelled,
  atMost: { readonly conflicts: number; readonly units: number },
): readonly Figure[] {
  const figure = (what: string, value: number, most: number): Figure => ({
    name: `${what} per admitted job, hot, 3 counters, ${relays}`,
    ...{ value, must: { atMost: most }, unit: 'per job', kind: 'modelled' },
  });
  return [
    figure('conflicts', run.counts.conflicts / run.admitted, atMost.conflicts),
    figure('write units', units(run), atMost.units),
  ];
}

/** Guards stand about a tenth above the model's values. `npm run capacity` has the whole curves. */
const GUARDED: readonly (LoadPoint & { readonly p99Max: number })[] = [
  { roots: 1, relays: 1, isShared: false, perSecond: 1_000, p99Max: 6 },
  { roots: 50, relays: 2, isShared: false, perSecond: 1_000, p99Max: 5 },
  { roots: 1_000, relays: 2, isShared: false, perSecond: 1_000, p99Max: 3 },
  { roots: 64, relays: 2, isShared: true, perSecond: 400, p99Max: 22 },
  { roots: 1_000, relays: 2, isShared: true, perSecond: 1_000, p99Max: 14 },
  { roots: 64, relays: 2, isShared: true, perSecond: 3_000, p99Max: 75 },
];

export async function openLoopFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { p99Max, ...point } of GUARDED) {
    const { asked, undecidedShare, p99Ms, unitsPerJob } = await measureLoad(point);
    const at = `${point.perSecond} jobs/s by schedule, ${point.isShared ? 'a shared limit' : 'own limits'}, roots: ${point.roots}, relays: ${point.relays}`;
    const note = `${p99Ms.toFixed(0)} ms of ${asked} questions, ${unitsPerJob.toFixed(1)} write units a job, settlement included`;
    figures.push(
      {
        ...{ name: `p99 at ${at}`, value: p99Ms / MODELLED_TRANSACTION_MS, must: { atMost: p99Max } },
        ...{ unit: 'tx', kind: 'modelled', note },
      },
      {
        ...{ name: `undecided at ${at}`, value: undecidedShare, must: { atMost: 0.001 } },
        ...{ unit: 'per job', kind: 'modelled' },
      },
    );
  }
  return figures;
}

const LEVELS = ['root', 'group', 'project'] as const;
const TRIES_MAX = 3;
const PAUSE_MS = 50;

/**
 * rate-limiter-flexible's store on DynamoDB, one `consume` for each limit of a job in parallel. It does less work: no
 * record of a job, nothing given back if one of several limits refuses, and no end of a job.
 *
 * @see https://github.com/animir/node-rate-limiter-flexible/wiki/DynamoDB
 */
function rateLimiterRival(time: ModelTime, random: () => number) {
  const counts = { units: 0 };
  const storeClient = { updateItem: modelledUpdates(time, random, counts) };
  const limiters = LEVELS.map(
    (keyPrefix) =>
      new RateLimiterDynamo({
        ...{ storeClient, tableName: 'rival', tableCreated: true, ttlSet: true, keyPrefix },
        ...{ points: 1_000_000_000, duration: 30 * 86_400 },
      }),
  );
  const ask: Ask = async ({ rootNamespaceId, namespaceId, projectId }) => {
    const ids = [rootNamespaceId, namespaceId, projectId];
    const consumed = await Promise.allSettled(
      limiters.map((limiter, level) => limiter.consume(`${ids[level]}`, 1)),
    );
    return consumed.every(({ status }) => status === 'fulfilled');
  };
  return { ask, counts };
}

interface RivalUpdate {
  readonly Key: { readonly key: { readonly S: string } };
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, { readonly N: string }>>;
}

function modelledUpdates(time: ModelTime, random: () => number, counts: { units: number }) {
  const points = new Map<string, number>();
  const budgets = itemBudgets(time);
  const once = async ({ Key, ConditionExpression, ExpressionAttributeValues: given }: RivalUpdate) => {
    await time.sleep(CONTENTION.networkMs + logNormal(CONTENTION.updateMs, CONTENTION.updateSigma, random));
    const known = points.get(Key.key.S);
    const isThrottled = !budgets.has(Key.key.S, 1);
    if (!isThrottled) {
      budgets.take(Key.key.S, 1);
      counts.units += 1;
    }
    await time.sleep(CONTENTION.networkMs);
    if (isThrottled) throw failure('ProvisionedThroughputExceededException');
    // The store first tries to create the entry, then to add to it.
    const wantsNone = ConditionExpression?.includes('attribute_not_exists') === true;
    if (wantsNone === (known !== undefined)) throw failure('ConditionalCheckFailedException');
    const sum = (known ?? 0) + Number(given[':new_points']?.N);
    points.set(Key.key.S, sum);
    return { Attributes: { key: Key.key, points: { N: String(sum) }, expire: { N: `${Date.now()}` } } };
  };
  return async (update: RivalUpdate): Promise<unknown> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(update);
      } catch (error) {
        const isThrottled = error instanceof Error && error.name === 'ProvisionedThroughputExceededException';
        if (!isThrottled || tries === TRIES_MAX) throw error;
        await time.sleep(random() * PAUSE_MS * 2 ** (tries - 1));
      }
    }
  };
}

const failure = (name: string): Error => Object.assign(new Error(name), { name });
