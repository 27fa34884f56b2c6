/** The claims of a job on counters: all limits from the instance and its root group to its project, and of its runner class. */
import {
  boundAt,
  type CountedUnit,
  costOf,
  groupChainOf,
  periodName,
  priceAt,
  QUARTER_MS,
  type RuleSet,
  type WrittenLimit,
} from './rule-set.ts';

export interface AskedJob {
  readonly jobId: number;
  readonly jobName: string;
  readonly projectId: number;
  readonly runnerClass: string;
  readonly timeoutSeconds: number;
}

export interface ExpectedClaim {
  readonly counter: string;
  readonly unit: CountedUnit;
  readonly amount: number;
  /** The highest amount that the counter may show afterwards; absent: the job is exempt and does not ask. */
  readonly bound?: number;
  readonly mode: 'enforce' | 'shadow';
  readonly waitMs?: number;
}

export interface ExpectedAsk {
  readonly atMs: number;
  readonly claims: readonly ExpectedClaim[];
  readonly exempt: boolean;
  readonly estimateSeconds: number;
  readonly priceVersion: string;
  readonly microsPerMinute: number;
  readonly paidBySeconds: number;
  readonly groupIds: readonly number[];
}

export class AskedClaims {
  readonly #ruleSet: RuleSet;
  /** Each limit with its counter in the quarter of an hour that was asked about last. */
  readonly #limits = new Map<string, { limit: WrittenLimit; quarter: number; counter: string }[]>();

  constructor(ruleSet: RuleSet) {
    this.#ruleSet = ruleSet;
    for (const limit of ruleSet.limits) {
      const ofSubject = this.#limits.get(limit.subject) ?? [];
      this.#limits.set(limit.subject, [...ofSubject, { limit, quarter: Number.NaN, counter: '' }]);
    }
  }

  of(job: AskedJob, groupId: number, atMs: number, estimateSeconds: number): ExpectedAsk {
    const { prices, byMinute, parentOf, exemptions } = this.#ruleSet;
    const groupIds = groupChainOf(groupId, parentOf);
    const { version, rates } = priceAt(prices, atMs);
    const microsPerMinute = rates[job.runnerClass] ?? 0;
    const paidBySeconds = byMinute.includes(job.runnerClass) ? 60 : 1;
    const exempt = exemptions.some(
      (each) => each.jobName === job.jobName && groupIds.includes(each.groupId) && atMs < each.untilMs,
    );
    const amounts: Readonly<Record<CountedUnit, number>> = {
      micros: costOf(estimateSeconds, microsPerMinute, paidBySeconds),
      seconds: estimateSeconds,
      starts: 1,
      jobs: 1,
    };
    const subjects = [
      'instance',
      ...groupIds.map((id) => `group/${id}`),
      `project/${job.projectId}`,
      `runner-class/${job.runnerClass}`,
    ];
    const claims: ExpectedClaim[] = [];
    for (const each of subjects.flatMap((subject) => this.#limits.get(subject) ?? [])) {
      const { unit, mode, waitSeconds } = each.limit;
      const bound = boundAt(each.limit, this.#ruleSet, atMs);
      if (bound === undefined) continue;
      const quarter = Math.floor(atMs / QUARTER_MS);
      if (each.quarter !== quarter) {
        each.quarter = quarter;
        each.counter = `${each.limit.subject}|${each.limit.id}|${periodName(each.limit, atMs)}`;
      }
      const asks = !exempt || unit === 'starts' || unit === 'jobs';
      claims.push({
        ...{ counter: each.counter, unit, mode, amount: amounts[unit] },
        ...(asks && { bound }),
        ...(waitSeconds !== undefined && { waitMs: waitSeconds * 1_000 }),
      });
    }
    return {
      ...{ atMs, claims, exempt, estimateSeconds, priceVersion: version },
      ...{ microsPerMinute, paidBySeconds, groupIds },
    };
  }
}

export interface Sums {
  readonly committed: number;
  readonly fitted: number;
}

interface ExpectedVerdict {
  readonly refusedBy: readonly string[];
  readonly fitted: readonly boolean[];
}

/**
 * Every enforced limit needs room for all of the job; a shadow limit refuses no job.
 *
 * @param awaited - counters that other jobs wait for: limits that wait give the job nothing there
 */
export function expectedVerdict(
  claims: readonly ExpectedClaim[],
  shows: (counter: string) => Sums,
  awaited: ReadonlySet<string>,
): ExpectedVerdict {
  const refusedBy: string[] = [];
  const fitted = claims.map(({ counter, bound, mode, amount, waitMs }) => {
    if (bound === undefined) return true;
    const before = shows(counter);
    if (mode === 'shadow') return bound > 0 && before.fitted + amount <= bound;
    const isAwaited = waitMs !== undefined && awaited.has(counter);
    if (bound === 0 || before.committed + amount > bound || isAwaited) refusedBy.push(counter);
    return true;
  });
  return { refusedBy, fitted };
}

/**
 * How much longer a refused job may wait: the shortest time of the limits that refuse it. 0 where one of them has no
 * wait, or can never have room.
 */
export function expectedWaitMs(
  claims: readonly ExpectedClaim[],
  refusedBy: readonly string[],
  waitedMs: number,
): number {
  const refusing = claims.filter(({ counter }) => refusedBy.includes(counter));
  if (refusing.length === 0) return 0;
  const waits = refusing.map((claim) => (neverFits(claim) ? 0 : (claim.waitMs ?? 0)));
  return Math.max(0, Math.min(...waits) - waitedMs);
}

export const neverFits = ({ bound, amount }: ExpectedClaim): boolean =>
  bound !== undefined && (bound === 0 || amount > bound);

export type EstimateBasis = 'history' | 'default';

const RUNS = 20;
const RUNS_MIN = 3;
const OUTLIER = 4;
const SECONDS_MIN = 30;

/**
 * Estimates of run times: the 90th percentile of the last 20 runs of a job name on a runner class in a project, from the
 * third run on, at most four medians, at least half a minute. Else the default. Never more than the timeout.
 */
export class RunEstimates {
  readonly #by: EstimateBasis;
  readonly #defaultSeconds: number;
  readonly #runs = new Map<string, number[]>();

  constructor(by: EstimateBasis, defaultSeconds: number) {
    this.#by = by;
    this.#defaultSeconds = defaultSeconds;
  }

  ran(job: AskedJob, seconds: number): void {
    if (this.#by !== 'history' || seconds <= 0) return;
    this.#runs.set(nameOf(job), [...(this.#runs.get(nameOf(job)) ?? []), seconds].slice(-RUNS));
  }

  secondsOf(job: AskedJob): number {
    return Math.min(this.#byRuns(job) ?? this.#defaultSeconds, job.timeoutSeconds);
  }

  #byRuns(job: AskedJob): number | undefined {
    const sorted = (this.#runs.get(nameOf(job)) ?? []).toSorted((a, b) => a - b);
    if (sorted.length < RUNS_MIN) return undefined;
    const rank = (percent: number): number => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0;
    return Math.max(SECONDS_MIN, Math.min(rank(90), OUTLIER * rank(50)));
  }
}

const nameOf = ({ projectId, runnerClass, jobName }: AskedJob): string =>
  `${projectId} ${runnerClass} ${jobName}`;
