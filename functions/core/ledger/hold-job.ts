/** The state of one job during a hold, and how its decision becomes a record and an outcome. */
import { counterName } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import { COUNTERS_PER_JOB_MAX } from '../../../policies/limits/counters-per-job.ts';
import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { TRANSACTION_ITEMS_MAX } from '../store/operation.ts';
import { type CounterMerge, fitsBound, type KnownCounter } from './counter.ts';
import type { HoldOutcome, HoldRequest, JobRecord, RecordClaim } from './ledger.ts';

export interface HoldJob {
  readonly ask: HoldRequest;
  /** `counterName` of each claim, same order. */
  readonly names: readonly string[];
  /** The claims and violations of the same job under its break-glass. */
  readonly underBreakGlass?: Pick<HoldJob, 'ask' | 'names'>;
  prior: JobRecord | undefined;
  /** The record is known: it was read, or a refused write showed it or that it is unchanged. */
  isRecordKnown: boolean;
  outcome: HoldOutcome | undefined;
  sought: boolean;
}

export const isOpen = ({ outcome }: HoldJob): boolean => outcome === undefined;

export const newJob = (ask: HoldRequest): HoldJob => ({
  ask,
  names: counterNames(ask),
  ...(ask.breakGlass !== undefined && { underBreakGlass: exempted(ask, ask.breakGlass) }),
  prior: undefined,
  isRecordKnown: false,
  sought: false,
  outcome:
    isLawful(ask.claims, ask) && isLawful(ask.breakGlass?.claims ?? [], ask)
      ? undefined
      : { outcome: 'undecided', cause: 'error' },
});

const counterNames = ({ claims }: Pick<HoldRequest, 'claims'>): readonly string[] =>
  claims.map((claim) => counterName(claim.counter));

const exempted = (
  { jobId, facts }: HoldRequest,
  breakGlass: NonNullable<HoldRequest['breakGlass']>,
): Pick<HoldJob, 'ask' | 'names'> => ({
  ask: { jobId, facts, ...breakGlass, unchecked: 'exempt' },
  names: counterNames(breakGlass),
});

/** The sums of a whole pack must stay safe integers. */
const AMOUNT_MAX = Math.floor(Number.MAX_SAFE_INTEGER / TRANSACTION_ITEMS_MAX);

const isLawful = (claims: HoldRequest['claims'], { jobId }: HoldRequest): boolean =>
  isAmount(jobId) &&
  claims.length <= COUNTERS_PER_JOB_MAX &&
  claims.every(
    ({ amount, bound, soft, grace }) =>
      isAmount(amount) &&
      amount <= AMOUNT_MAX &&
      [bound, soft?.bound, grace?.bound].every((each) => each === undefined || Number.isSafeInteger(each)),
  );

const isAmount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

export interface WeighedJob {
  readonly job: HoldJob;
  readonly violations: readonly Violation[];
  /** Violations that would reject it in mode `enforce`, and soft limits it passed. */
  readonly shadow: readonly Violation[];
  /** Claims that the job will hold; for a rejected one they only name its counters. */
  readonly claims: readonly RecordClaim[];
  readonly reserved: boolean;
  readonly ask: Pick<HoldJob, 'ask' | 'names'>;
  /** It does not fit, and whether its pipeline's grace lets it in has not been looked up. */
  readonly graceUnknown: boolean;
  /** The job may wait this long: the least of all limits that refuse it. Absent: one of them allows no wait. */
  readonly waitMs?: number;
  readonly awaited?: readonly string[];
}

export interface WeighingResult {
  readonly weighedJobs: readonly WeighedJob[];
  readonly merges: ReadonlyMap<string, CounterMerge>;
}

/** Returns true if others wait for this claim and its limit has a wait queue. */
export const isBehind = ({ ask, names }: Pick<HoldJob, 'ask' | 'names'>, index: number): boolean =>
  ask.wait !== undefined &&
  ask.claims[index]?.waitMs !== undefined &&
  ask.wait.behind.has(names[index] ?? '');

export const isCharged = (record: JobRecord | undefined): record is JobRecord =>
  record?.state === 'EXPIRED' && record.claims.some(({ corrected }) => corrected !== 0);

/** A job may run until its timeout; GitLab's own clean-up and late webhooks take up to this much longer. */
export const GRACE_SECONDS = 15 * 60;

export function draftRecord(weighed: WeighedJob, nowMs: number): JobRecord {
  const { decidedAtMs = nowMs } = weighed.job.ask;
  const { ask } = weighed.ask;
  const { claims, violations, shadow } = weighed;
  const rejected = violations.length > 0;
  return {
    ...nextRecord(weighed.job.prior, ask, decidedAtMs),
    ...{ state: rejected ? 'REJECTED' : 'HELD', claims, violations, shadow, answered: 'ledger' },
    ...withoutAbsent({ unchecked: ask.unchecked }),
    ...(rejected ? { endedAtMs: decidedAtMs } : { dueAtMs: dueAtMs(decidedAtMs, ask.facts.timeoutSeconds) }),
  };
}

/** Fields of the record of a new decision that follow from the record before. */
export const nextRecord = (
  prior: JobRecord | undefined,
  { jobId, facts }: HoldRequest,
  decidedAtMs: number,
) => ({
  ...{ jobId, facts, decidedAtMs, flagged: false },
  generation: (prior?.generation ?? 0) + 1,
  rev: (prior?.rev ?? 0) + 1,
  entries: prior?.entries ?? 0,
});

export const dueAtMs = (heldAtMs: number, timeoutSeconds: number): number =>
  heldAtMs + (timeoutSeconds + GRACE_SECONDS) * 1000;

export function decided(weighed: WeighedJob): HoldOutcome {
  const { shadow, violations, job } = weighed;
  const decision = { generation: (job.prior?.generation ?? 0) + 1, repeated: false, shadow };
  const [first, ...rest] = violations;
  return first === undefined
    ? { outcome: 'admitted', ...decision }
    : { outcome: 'rejected', ...decision, violations: [first, ...rest] };
}

const REJECTION_STANDS_MS = 60_000;

/**
 * Returns the earlier decision, or undefined to evaluate the job again with generation + 1.
 *
 * | record | repeated request |
 * | --- | --- |
 * | HELD, RUNNING, SETTLED | the same decision always |
 * | REJECTED | the same decision for 60 s, then a new evaluation |
 * | RELEASED, EXPIRED, RESERVED | a new evaluation |
 */
export function answerFromRecord(record: JobRecord, nowMs: number): HoldOutcome | undefined {
  const { generation, shadow } = record;
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
    case 'SETTLED':
      return { outcome: 'admitted', generation, repeated: true, shadow };
    case 'REJECTED': {
      const [first, ...rest] = record.violations;
      // The fallback may have rejected without a reason of ours: then there is no answer to repeat.
      if (first === undefined || !stillStands(record.decidedAtMs, nowMs)) return undefined;
      return { outcome: 'rejected', generation, repeated: true, violations: [first, ...rest], shadow };
    }
    case 'RELEASED':
    case 'EXPIRED':
    case 'RESERVED':
      return undefined;
  }
}

/** Two writers' clocks may differ: a rejection from a little in the future stands as well. */
const stillStands = (decidedAtMs: number, nowMs: number): boolean =>
  Math.abs(nowMs - decidedAtMs) < REJECTION_STANDS_MS;

// The last known amounts of the busiest counters: a hint to read before a write, never a reason to refuse.

const COUNTERS_MAX = 10_000;

type Seen = Pick<KnownCounter, 'committed' | 'fitted'>;

const NOTHING: Seen = { committed: 0, fitted: 0 };

export class SeenCounters {
  readonly #counters = new Map<string, Seen>();

  see(name: string, { committed, fitted }: Seen): void {
    keepLatest(this.#counters, name, { committed, fitted }, COUNTERS_MAX);
  }

  /** Applies our own write. A counter never seen stays unknown. */
  move(name: string, committed: number, fitted: number): void {
    const seen = this.#counters.get(name);
    if (seen !== undefined)
      this.see(name, { committed: seen.committed + committed, fitted: seen.fitted + fitted });
  }

  /** The counters of jobs that may be refused: all of such a job, so that its rejection reports every violation. */
  nearlyFull(jobs: readonly HoldJob[]): ReadonlySet<string> {
    const sums = new Map<string, number>();
    const named = new Set<string>();
    for (const { ask, names } of jobs) {
      const rejected = ask.violations.some(({ mode }) => mode === 'enforce');
      let full = rejected;
      for (const [index, claim] of ask.claims.entries()) {
        const name = names[index] ?? '';
        const seen = this.#counters.get(name) ?? NOTHING;
        const sum = sums.get(name) ?? 0;
        if (!rejected) sums.set(name, sum + claim.amount);
        // The lowest bound at which the counter must be known: above the soft part it warns, above `own` it borrows.
        const bound = claim.own ?? claim.soft?.bound ?? claim.bound;
        if (bound === undefined) continue;
        if (isBehind({ ask, names }, index)) full = true;
        const taken = sum + (claim.mode === 'enforce' ? seen.committed : seen.fitted);
        if (!fitsBound(taken, claim.amount, bound)) full = true;
      }
      if (full) for (const name of names) named.add(name);
    }
    return named;
  }
}
