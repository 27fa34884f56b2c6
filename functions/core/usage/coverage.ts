/**
 * Counts the jobs that ran with and without an admission request. It uses usage items, so each job counts
 * once.
 */
import {
  ASKED_ON_PREFIX,
  isRunnerName,
  OTHER_RUNNERS,
  UNASKED_ON_PREFIX,
  UNKNOWN_RUNNER,
} from './runner-names.ts';
import type { UsageTally } from './tally.ts';

/** Jobs that have ended. One that was rejected and ran all the same was asked about. */
export interface CoverageCounts {
  readonly ran: number;
  /** Part of `ran`: they passed Tollgate by. */
  readonly unasked: number;
  /** Last day on which a job passed Tollgate by; absent: none did. */
  readonly lastUnaskedDay?: string;
}

/** A runner id; `other`: the day had no space for its id; `unknown`: no id was sent. */
export type CoveredRunner = number | 'other' | 'unknown';

export interface Coverage extends CoverageCounts {
  /** Jobs that were rejected and ran; part of the requested ones. */
  readonly ranRejected: number;
  /**
   * Empty for subjects without runners: projects, runner classes, and the instance except for jobs without a
   * group.
   */
  readonly runners: ReadonlyMap<CoveredRunner, CoverageCounts>;
}

/** @param days - of one subject, or of several that share no job; in any order */
export function coverageOfDays(
  days: Iterable<{ readonly day: string; readonly tally: UsageTally }>,
): Coverage {
  const whole = new CoverageSum();
  const runners = new Map<CoveredRunner, CoverageSum>();
  let ranRejected = 0;
  for (const { day, tally } of days) {
    whole.add(day, tally.get('ran') ?? 0, tally.get('unasked') ?? 0);
    ranRejected += tally.get('ranRejected') ?? 0;
    for (const [name, jobs] of tally) {
      if (!isRunnerName(name)) continue;
      const runner = runnerIn(name);
      const sum = runners.get(runner) ?? new CoverageSum();
      runners.set(runner, sum);
      sum.add(day, jobs, name.startsWith(UNASKED_ON_PREFIX) ? jobs : 0);
    }
  }
  return {
    ...whole.counts(),
    ranRejected,
    runners: new Map([...runners].map(([runner, sum]) => [runner, sum.counts()])),
  };
}

function runnerIn(name: string): CoveredRunner {
  const runner = name.slice(ASKED_ON_PREFIX.length);
  if (runner === OTHER_RUNNERS) return 'other';
  return runner === UNKNOWN_RUNNER ? 'unknown' : Number(runner);
}

class CoverageSum {
  #ran = 0;
  #unasked = 0;
  #lastUnaskedDay: string | undefined;

  add(day: string, ran: number, unasked: number): void {
    this.#ran += ran;
    this.#unasked += unasked;
    if (unasked > 0 && day > (this.#lastUnaskedDay ?? '')) this.#lastUnaskedDay = day;
  }

  counts(): CoverageCounts {
    return {
      ran: this.#ran,
      unasked: this.#unasked,
      ...(this.#lastUnaskedDay !== undefined && { lastUnaskedDay: this.#lastUnaskedDay }),
    };
  }
}
