/**
 * A rival: rate-limiter-flexible's store on DynamoDB, one `consume` for each limit of a job, all at once. It keeps no record of
 * a job, gives nothing back where one of several limits refuses, and knows no end of a job: less work than ours.
 *
 * @see https://github.com/animir/node-rate-limiter-flexible/wiki/DynamoDB
 */
import { RateLimiterDynamo } from 'rate-limiter-flexible';
import type { Clock } from '../../local/clock/clock.ts';
import { logNormal } from '../../local/workload/draw-pipeline.ts';
import { CONTENTION } from './contention-constants.ts';
import type { sides } from './sides.ts';

interface RivalCounts {
  /** One for each write, also for one that a condition refuses. */
  units: number;
  throttles: number;
}

interface Rival {
  readonly ask: ReturnType<ReturnType<typeof sides>['naive']>;
  readonly counts: RivalCounts;
}

/** As many as a job of the bench counts on: of its root, its group, its project. */
const LEVELS = ['root', 'group', 'project'] as const;
const POINTS_MAX = 1_000_000_000;
const PERIOD_SECONDS = 30 * 86_400;
/** The SDK's own: three tries, and pauses of at most so long. */
const TRIES_MAX = 3;
const PAUSE_MS = 50;

export function rateLimiterRival(time: Pick<Clock, 'monotonicMs' | 'sleep'>, random: () => number): Rival {
  const counts: RivalCounts = { units: 0, throttles: 0 };
  const limiters = LEVELS.map(
    (level) =>
      new RateLimiterDynamo({
        storeClient: { updateItem: modelledUpdates(time, random, counts) },
        tableName: 'rival',
        tableCreated: true,
        ttlSet: true,
        keyPrefix: level,
        points: POINTS_MAX,
        duration: PERIOD_SECONDS,
      }),
  );
  return {
    counts,
    ask: async ({ rootNamespaceId, namespaceId, projectId }) => {
      const ids = [rootNamespaceId, namespaceId, projectId];
      const consumed = await Promise.allSettled(
        limiters.map((limiter, level) => limiter.consume(`${ids[level]}`, 1)),
      );
      return consumed.every(({ status }) => status === 'fulfilled');
    },
  };
}

/** What the store asks of its client. */
interface RivalUpdate {
  readonly Key: { readonly key: { readonly S: string } };
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, { readonly N: string }>>;
}

/** Single updates never conflict, but an item takes only so many write units a second. */
function modelledUpdates(
  time: Pick<Clock, 'monotonicMs' | 'sleep'>,
  random: () => number,
  counts: RivalCounts,
) {
  const items = new Map<string, { points: number; budget: number; atMs: number }>();
  const perSecond = CONTENTION.itemWriteUnitsPerSecond;
  const once = async ({ Key, ConditionExpression, ExpressionAttributeValues: given }: RivalUpdate) => {
    await time.sleep(CONTENTION.networkMs + logNormal(CONTENTION.updateMs, CONTENTION.updateSigma, random));
    const known = items.get(Key.key.S);
    const item = known ?? { points: 0, budget: perSecond, atMs: time.monotonicMs() };
    const nowMs = time.monotonicMs();
    item.budget = Math.min(perSecond, item.budget + ((nowMs - item.atMs) * perSecond) / 1000);
    item.atMs = nowMs;
    const isThrottled = item.budget < 1;
    if (!isThrottled) {
      item.budget -= 1;
      counts.units += 1;
    }
    await time.sleep(CONTENTION.networkMs);
    if (isThrottled) throw failure('ProvisionedThroughputExceededException');
    // The first of its two tries: for an entry that is not there, or has expired.
    const wantsNone = ConditionExpression?.includes('attribute_not_exists') === true;
    if (wantsNone === (known !== undefined)) throw failure('ConditionalCheckFailedException');
    item.points += Number(given[':new_points']?.N);
    items.set(Key.key.S, item);
    return {
      Attributes: { key: Key.key, points: { N: String(item.points) }, expire: { N: `${Date.now()}` } },
    };
  };
  return async (update: RivalUpdate): Promise<unknown> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(update);
      } catch (error) {
        const isThrottled = error instanceof Error && error.name === 'ProvisionedThroughputExceededException';
        if (!isThrottled) throw error;
        counts.throttles += 1;
        if (tries === TRIES_MAX) throw error;
        await time.sleep(random() * PAUSE_MS * 2 ** (tries - 1));
      }
    }
  };
}

const failure = (name: string): Error => Object.assign(new Error(name), { name });
