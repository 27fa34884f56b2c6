/** What a job asks of which counter: all limits on the way from its root group to its project and of its runner class. */
import {
  type CountedUnit,
  costOf,
  type Edition,
  groupChainOf,
  priceAt,
  type WrittenGrant,
  type WrittenLimit,
} from './edition.ts';
import { periodName } from './period-name.ts';

/** What the rules may know of a job when it asks. */
export interface AskedJob {
  readonly jobId: number;
  readonly jobName: string;
  readonly projectId: number;
  /** The group its project is in. */
  readonly groupId: number;
  readonly runnerClass: string;
  readonly timeoutSeconds: number;
}

export interface ExpectedClaim {
  /** `group/101|money-month|2026-11`. */
  readonly counter: string;
  readonly unit: CountedUnit;
  readonly amount: number;
  /** What the counter may show afterwards; absent: it does not ask, because the job is exempt. */
  readonly bound?: number;
  readonly mode: 'enforce' | 'shadow';
  /** How long a job that it refuses may be kept waiting. Absent: not at all. */
  readonly waitMs?: number;
}

export interface ExpectedAsk {
  readonly atMs: number;
  readonly claims: readonly ExpectedClaim[];
  /** A budget that asks about it is told to let it pass. */
  readonly exempt: boolean;
  readonly estimateSeconds: number;
  readonly microsPerMinute: number;
  /** Root first. */
  readonly groupIds: readonly number[];
}

/** A limit, its grants, and the counter it counts on in the quarter of an hour that was asked about last. */
interface Asking {
  readonly limit: WrittenLimit;
  readonly grants: readonly WrittenGrant[];
  quarter: number;
  counter: string;
}

/** Periods of all zones begin at quarters of an hour. */
const QUARTER_MS = 900_000;

export class AskedClaims {
  readonly #edition: Edition;
  readonly #asking = new Map<string, Asking[]>();

  constructor(edition: Edition) {
    this.#edition = edition;
    for (const limit of edition.limits) {
      const { subject, id } = limit;
      const grants = edition.grants.filter((grant) => grant.subject === subject && grant.limit === id);
      const asking = { limit, grants, quarter: Number.NaN, counter: '' };
      const known = this.#asking.get(subject);
      if (known === undefined) this.#asking.set(subject, [asking]);
      else known.push(asking);
    }
  }

  of(job: AskedJob, atMs: number, estimateSeconds: number): ExpectedAsk {
    const { prices, parentOf } = this.#edition;
    const groupIds = groupChainOf(job.groupId, parentOf);
    const microsPerMinute = priceAt(prices, atMs).rates[job.runnerClass] ?? 0;
    const exempt = this.#isExempt(job, groupIds, atMs);
    const amounts: Readonly<Record<CountedUnit, number>> = {
      micros: costOf(estimateSeconds, microsPerMinute),
      seconds: estimateSeconds,
      starts: 1,
      jobs: 1,
    };
    const subjects = [
      ...groupIds.map((id) => `group/${id}`),
      `project/${job.projectId}`,
      `runner-class/${job.runnerClass}`,
    ];
    const claims: ExpectedClaim[] = [];
    for (const subject of subjects) {
      for (const asking of this.#asking.get(subject) ?? []) {
        const { unit, mode, amount: written, waitSeconds } = asking.limit;
        if (written === 'unlimited') continue;
        const isAsked = !exempt || unit === 'starts' || unit === 'jobs';
        claims.push({
          counter: counterAt(asking, atMs),
          unit,
          mode,
          amount: amounts[unit],
          ...(isAsked && { bound: written + grantedAt(asking.grants, atMs) }),
          ...(waitSeconds !== undefined && { waitMs: waitSeconds * 1_000 }),
        });
      }
    }
    return { atMs, claims, exempt, estimateSeconds, microsPerMinute, groupIds };
  }

  #isExempt({ jobName }: AskedJob, groupIds: readonly number[], atMs: number): boolean {
    return this.#edition.exemptions.some(
      (each) => each.jobName === jobName && groupIds.includes(each.groupId) && atMs < each.untilMs,
    );
  }
}

function counterAt(asking: Asking, atMs: number): string {
  const quarter = Math.floor(atMs / QUARTER_MS);
  if (asking.quarter !== quarter) {
    const { limit } = asking;
    asking.quarter = quarter;
    asking.counter = `${limit.subject}|${limit.id}|${periodName(limit, atMs)}`;
  }
  return asking.counter;
}

/** Those in force add up. */
const grantedAt = (grants: readonly WrittenGrant[], atMs: number): number =>
  grants
    .filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)
    .reduce((sum, { amount }) => sum + amount, 0);
