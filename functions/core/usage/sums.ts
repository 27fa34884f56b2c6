import { dayIn, dayNumber } from '../../../policies/limits/calendar.ts';
import { periodAt } from '../../../policies/limits/period.ts';
import {
  ASKED_ON_PREFIX,
  isRunnerName,
  OTHER_RUNNERS,
  UNASKED_ON_PREFIX,
  UNKNOWN_RUNNER,
  type UsageTally,
} from './usage.ts';

const USED = ['settledMicros', 'heldMicros', 'seconds', 'jobs'] as const;
export type UsedInMonth = Readonly<Record<(typeof USED)[number], number>>;

const sumUsed = (of: (name: keyof UsedInMonth) => number): UsedInMonth =>
  Object.fromEntries(USED.map((name) => [name, of(name)])) as UsedInMonth;

export const usedTogether = (days: readonly UsedInMonth[]): UsedInMonth =>
  sumUsed((name) => days.reduce((total, day) => total + day[name], 0));

export const firstOfMonth = (zone: string, nowMs: number): number =>
  dayNumber(dayIn(zone, periodAt('month', zone, nowMs).startMs));

// Counts the jobs that ran with and without an admission request. It uses usage items, so each job counts
// once.

/** Jobs that have ended. One that was rejected and ran all the same was asked about. */
export interface CoverageCounts {
  readonly ran: number;
  readonly unasked: number;
  readonly lastUnaskedDay?: string;
}

/** A runner id; `other`: the day had no space for its id; `unknown`: no id was sent. */
type CoveredRunner = number | 'other' | 'unknown';

export interface Coverage extends CoverageCounts {
  readonly ranRejected: number;
  /** Empty for projects, runner classes, and the instance except for jobs without a group. */
  readonly runners: ReadonlyMap<CoveredRunner, CoverageCounts>;
}

/** @param days - of one subject, or of several that share no job; in any order */
export function sumCoverage(days: Iterable<{ readonly day: string; readonly tally: UsageTally }>): Coverage {
  let whole: CoverageCounts = { ran: 0, unasked: 0 };
  const runners = new Map<CoveredRunner, CoverageCounts>();
  let ranRejected = 0;
  for (const { day, tally } of days) {
    whole = withJobs(whole, day, tally.get('ran') ?? 0, tally.get('unasked') ?? 0);
    ranRejected += tally.get('ranRejected') ?? 0;
    for (const [name, jobs] of tally) {
      if (!isRunnerName(name)) continue;
      const runner = runnerIn(name);
      const unasked = name.startsWith(UNASKED_ON_PREFIX) ? jobs : 0;
      runners.set(runner, withJobs(runners.get(runner), day, jobs, unasked));
    }
  }
  return { ...whole, ranRejected, runners };
}

function runnerIn(name: string): CoveredRunner {
  const runner = name.slice(ASKED_ON_PREFIX.length);
  if (runner === OTHER_RUNNERS) return 'other';
  return runner === UNKNOWN_RUNNER ? 'unknown' : Number(runner);
}

const withJobs = (
  { ran, unasked, lastUnaskedDay = '' }: CoverageCounts = { ran: 0, unasked: 0 },
  day: string,
  more: number,
  moreUnasked: number,
): CoverageCounts => {
  const lastDay = moreUnasked > 0 && day > lastUnaskedDay ? day : lastUnaskedDay;
  return {
    ...{ ran: ran + more, unasked: unasked + moreUnasked },
    ...(lastDay !== '' && { lastUnaskedDay: lastDay }),
  };
};
