/** How long jobs were queued before a runner took them, counted in buckets, because buckets add up and quantiles do not. */
import type { UsageTally } from './tally.ts';

/** Upper bounds, seconds; of the last there is none. Never change: the index is the name, and jobs keep their seconds alone. */
export const QUEUE_BOUNDS_SECONDS = [10, 60, 300, 900, 3_600, Number.POSITIVE_INFINITY] as const;

export const QUEUE_BUCKETS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** What GitLab told of one job's way to a runner; undefined: it did not tell. */
interface QueueFacts {
  readonly isRetry: boolean | undefined;
  readonly queuedSeconds: number | undefined;
  /** What the job is charged. */
  readonly micros: number;
}

/** What is not told is in no count: the jobs that are known are `firstRuns` with `retries`, and the sum of the buckets. */
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
 * The same of one job in a few letters: `0,64` a first run after 64 s, `1,` a retry of which the queue is not known. By their names these
 * counts would take as much room as all else that is kept of a job's usage.
 *
 * @returns undefined: nothing is told, or the tally has what this cannot say.
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
