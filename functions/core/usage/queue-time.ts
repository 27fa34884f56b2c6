/** Queue times of jobs, counted in buckets, because buckets add up and quantiles do not. */
import type { UsageTally } from './tally.ts';

/** Upper bounds, seconds; of the last there is none. Never change: the index is the name, and jobs keep their seconds alone. */
export const QUEUE_BOUNDS_SECONDS = [10, 60, 300, 900, 3_600, Number.POSITIVE_INFINITY] as const;

export const QUEUE_BUCKETS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** GitLab's values about one job's queue. Undefined: not sent. */
interface QueueFacts {
  readonly isRetry: boolean | undefined;
  readonly queuedSeconds: number | undefined;
  /** The job's charge. */
  readonly micros: number;
}

/** Missing values are not counted: known jobs are `firstRuns` with `retries`, and the sum of the buckets. */
export function queueCounts({ isRetry, queuedSeconds, micros }: QueueFacts): readonly [string, number][] {
  const counts: [string, number][] = [];
  if (isRetry !== undefined) counts.push([isRetry ? 'retries' : 'firstRuns', 1]);
  if (isRetry === true) counts.push(['retryMicros', micros]);
  if (queuedSeconds !== undefined)
    counts.push([queueBucket(queuedSeconds), 1], ['queuedSeconds', queuedSeconds]);
  return counts.filter(([, count]) => count !== 0);
}

const queueBucket = (queuedSeconds: number): string =>
  `p${QUEUE_BOUNDS_SECONDS.findIndex((bound) => queuedSeconds <= bound)}`;

/**
 * Encodes one job's counts compactly: `0,64` is a first run after 64 s, `1,` a retry with an unknown queue
 * time. Full names would double the size of a contribution.
 *
 * @returns undefined if there is nothing, or if the tally does not fit this form.
 */
export function queueLine(tally: UsageTally): string | undefined {
  const facts = {
    isRetry: tally.has('retries') ? true : tally.has('firstRuns') ? false : undefined,
    queuedSeconds: QUEUE_BUCKETS.some((name) => tally.has(name))
      ? (tally.get('queuedSeconds') ?? 0)
      : undefined,
    micros: microsOf(tally),
  };
  const counts = queueCounts(facts);
  const told = QUEUE_NAMES.filter((name) => tally.has(name));
  if (counts.length === 0 || told.length !== counts.length) return undefined;
  if (counts.some(([name, count]) => tally.get(name) !== count)) return undefined;
  const tried = facts.isRetry === undefined ? '' : facts.isRetry ? '1' : '0';
  return `${tried},${facts.queuedSeconds ?? ''}`;
}

/** @param tally - of the same job, without these counts. */
export function readQueueLine(text: string, tally: UsageTally): readonly [string, number][] {
  const [tried = '', seconds = ''] = text.split(',');
  return queueCounts({
    isRetry: tried === '' ? undefined : tried === '1',
    queuedSeconds: seconds === '' ? undefined : Number(seconds),
    micros: microsOf(tally),
  });
}

const microsOf = (tally: UsageTally): number => tally.get('settledMicros') ?? 0;

const QUEUE_NAMES = ['firstRuns', 'retries', 'retryMicros', 'queuedSeconds', ...QUEUE_BUCKETS] as const;

export const isQueueName = (name: string): boolean => QUEUE_NAMES.some((each) => each === name);
