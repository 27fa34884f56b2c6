import type { Claim, CounterKey, LimitClaim } from '../../../policies/claim.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { JobFacts, RanOutcome } from '../../../policies/request/recorded.ts';
import type { Unit } from '../../../policies/unit.ts';

export type { JobFacts };

/**
 * The ledger: holds at admission, settlement at the end, on counters that never pass their bound.
 *
 * Refusals are values; only a broken store is a failure, and inside a batch even that is a value (`undecided`) so that
 * one bad pack does not take its neighbours along. Every call is idempotent per job: a caller that timed out asks again.
 */
export interface Ledger {
  /**
   * Decides a batch. One outcome per ask, in order; two asks with the same job id get the same outcome.
   * Never starts a transaction with less than 150 ms before `deadlineMs` (on {@link LedgerClock.monotonicMs}).
   */
  hold(
    asks: readonly HoldRequest[],
    deadlineMs: number,
    options?: HoldOptions,
  ): Promise<readonly HoldOutcome[]>;
  /** The later of two ends counts; at the same time the longer. */
  settle(ends: readonly JobEnd[], accepts?: AcceptsEnd<JobEnd>): Promise<readonly EndOutcome[]>;
  /** The job never ran (rejected elsewhere, canceled before start): its claims go back. */
  release(jobs: readonly GoneJob[], accepts?: AcceptsEnd<GoneJob>): Promise<readonly EndOutcome[]>;
  /** For jobs that GitLab no longer knows. `hold` keeps the held amount as a flagged entry, `nothing` frees it. */
  expire(
    jobs: readonly (GoneJob & { readonly charge: 'hold' | 'nothing' })[],
  ): Promise<readonly EndOutcome[]>;
  recordUnmetered(
    asks: readonly UnmeteredHold[],
    deadlineMs: number,
  ): Promise<readonly ('recorded' | 'undecided')[]>;

  /** Live jobs due before then, oldest first, from an index that may lag. @throws {LedgerError} `ledger_unavailable` */
  dueJobs(beforeMs: number, limit: number): Promise<readonly DueJob[]>;
  /** Gives live jobs another due time. `unchanged`: the job ended, or is due then already. */
  postpone(jobs: readonly DueJob[], accepts?: AcceptsEnd<DueJob>): Promise<readonly EndOutcome[]>;
  /** Charges jobs that ran without a record: SETTLED, unchecked, cause `bypass`. A record that exists by now is settled instead. */
  recordBypass(asks: readonly BypassRequest[]): Promise<readonly EndOutcome[]>;

  /** Keeps room for a rejected job that is about to be retried, under its own record and the conditions of an admission. */
  reserve(ask: ReserveRequest): Promise<ReserveOutcome>;
  /** Moves a reservation to the retry of the job, or ends it if that one was already decided. `unchanged`: there was none. */
  handOver(jobId: number, newJobId: number): Promise<EndOutcome>;
  /** Ends these jobs' reservations that are due by `dueByMs`, Unix ms; absent: all of them. */
  endReservations(jobIds: readonly number[], dueByMs?: number): Promise<readonly EndOutcome[]>;

  readCounters(keys: readonly CounterKey[]): Promise<readonly Counter[]>;
  readRecord(jobId: number): Promise<JobRecord | undefined>;
  /** One per job id, same order. Consistent. @throws {LedgerError} `ledger_unavailable` */
  readRecords(jobIds: readonly number[]): Promise<readonly (JobRecord | undefined)[]>;
  rebuild(options: { readonly repair: boolean }): Promise<RebuildReport>;
  announceOnce(
    keys: readonly string[],
    options: { readonly ttlMs: number; readonly timeoutMs: number },
  ): Promise<readonly boolean[]>;
}

export interface HoldRequest {
  readonly jobId: number;
  /** Unix ms: the periods of its claims are those of this instant. Absent: when it is written. */
  readonly decidedAtMs?: number;
  readonly facts: JobFacts;
  /** Violations known without counters. An `enforce` one rejects the job; the others are recorded. */
  readonly violations: readonly Violation[];
  readonly claims: readonly LimitClaim[];
  /** Counted by cause when claims have no bound. */
  readonly unchecked?: UncheckedCause;
  /** Used if the job would be rejected: claims without limits. If that is full, the original reason rejects it. */
  readonly breakGlass?: Pick<HoldRequest, 'violations' | 'claims'>;
  /** The relay can keep the job waiting. Absent: a job that does not fit is rejected. */
  readonly wait?: WaitAsk;
}

export interface WaitAsk {
  readonly waitedMs: number;
  readonly last: boolean;
  /** Counters, by name, for which other jobs wait before it: it takes nothing from limits with a wait queue there. */
  readonly behind: ReadonlySet<string>;
}

export interface HoldOptions {
  /** Called once, before the first rejection that an edit could change. False: such jobs are `stale_limits`. True on a timeout. */
  readonly limitsAreCurrent?: (timeoutMs: number) => Promise<boolean>;
  /** Called at the end with each counter shared by root groups that was in conflict, and its jobs. */
  readonly onContended?: (counter: string, jobIds: readonly number[]) => void;
  /** Number of transactions that decided the jobs, without tries. */
  readonly onPacked?: (transactions: number) => void;
}

export type UncheckedCause = 'exempt' | 'unmetered' | 'bypass';

export type HoldOutcome =
  | {
      readonly outcome: 'admitted';
      readonly generation: number;
      readonly repeated: boolean;
      readonly shadow: readonly Violation[];
    }
  | {
      readonly outcome: 'rejected';
      readonly generation: number;
      readonly repeated: boolean;
      readonly violations: readonly [Violation, ...Violation[]];
      readonly shadow: readonly Violation[];
      readonly unwritten?: true;
    }
  /** Only limits with a wait queue refuse it, and time is left. No record is written. Only for asks with a `wait`. */
  | {
      readonly outcome: 'waiting';
      readonly leftMs: number;
      readonly counters: readonly string[];
      readonly violations: readonly [Violation, ...Violation[]];
    }
  | {
      readonly outcome: 'undecided';
      readonly cause: HoldCause;
    };

/** `error`: the request is invalid. `stale_limits`: it would be rejected and the limits have changed; evaluate it again. */
type HoldCause = 'deadline' | 'contended' | 'unavailable' | 'error' | 'stale_limits';

export interface UnmeteredHold extends HoldRequest {
  readonly answered: 'admitted' | 'rejected';
  readonly cause: string;
  readonly answeredAtMs: number;
}

/** Called with the record that the write replaces. False: the outcome is `unchanged`. */
export type AcceptsEnd<Job> = (record: JobRecord, job: Job) => boolean;

export interface JobEnd {
  readonly jobId: number;
  /** GitLab's build_duration, else finished − started; the ledger charges no more than the job can have run. */
  readonly durationSeconds: number;
  readonly endedAtMs: number;
  readonly runnerId?: number;
  readonly outcome?: RanOutcome;
  readonly retryCount?: number;
  readonly queuedSeconds?: number;
  /** GitLab's REST API reported it: it replaces an end that was reported in any other way. */
  readonly final?: true;
}

export interface BypassRequest extends HoldRequest, JobEnd {}

export interface GoneJob {
  readonly jobId: number;
  readonly cause: string;
}

export interface ReserveRequest {
  readonly jobId: number;
  /** The claims that the retried job will make. Only those that are enforced, on what is given back, are kept. */
  readonly claims: readonly LimitClaim[];
  readonly untilMs: number;
}

/** `full`: there is no room by now. `unchanged`: the job is not rejected, or nothing of its claims can be kept. */
export type ReserveOutcome = 'reserved' | 'full' | 'unchanged' | 'undecided';

/** `unchanged`: no write was needed, or `accepts` returned false. `unknown`: no record of this job (a bypass, for the caller to charge). */
export type EndOutcome = 'applied' | 'corrected' | 'unchanged' | 'unknown' | 'undecided';

/** `RESERVED`: a reservation is kept for a retry that was not asked about yet. */
export type JobState = 'HELD' | 'RUNNING' | 'SETTLED' | 'RELEASED' | 'EXPIRED' | 'REJECTED' | 'RESERVED';

export interface RecordClaim {
  readonly counter: CounterKey;
  readonly unit: Claim['unit'];
  readonly held: number;
  /** The amount it counts in `committed` now: the hold, then the settled amount; 0 when given back. */
  readonly counted: number;
  /** The sum of its correction entries so far: the job is charged `counted + corrected`. */
  readonly corrected: number;
  readonly fitted: boolean;
  /** True if it was checked; unchecked amounts also count under the record's `unchecked` cause. */
  readonly checked: boolean;
}

export interface JobRecord {
  readonly jobId: number;
  readonly state: JobState;
  /** Starts at 1; + 1 on each new evaluation. */
  readonly generation: number;
  readonly rev: number;
  readonly facts: JobFacts;
  readonly claims: readonly RecordClaim[];
  readonly violations: readonly Violation[];
  readonly shadow: readonly Violation[];
  /** Source of the response to the router, which may differ from the ledger's decision. */
  readonly answered: 'ledger' | 'fallback' | 'unknown';
  readonly unchecked?: UncheckedCause;
  /** Rejected but ran (dry run, bypass), or EXPIRED with its hold charged. */
  readonly flagged: boolean;
  readonly decidedAtMs: number;
  /** Present while the job is live: when the sweep must ask GitLab. */
  readonly dueAtMs?: number;
  readonly endedAtMs?: number;
  readonly durationSeconds?: number;
  /** GitLab's impossible duration; {@link durationSeconds} is its cut value. */
  readonly reportedSeconds?: number;
  readonly entries: number;
}

export interface Counter {
  readonly key: CounterKey;
  readonly committed: number;
  /** Like committed, without the claims a shadow bound refused. */
  readonly fitted: number;
  readonly settled: number;
  /** The part of `committed` that was checked against no bound, by cause. */
  readonly unchecked: Readonly<Record<UncheckedCause, number>>;
  readonly rev: number;
  /** Until then this counter of a cohort refuses borrowers, because a member wants its own back. Unix ms. */
  readonly reclaimedUntilMs?: number;
  /** The last recount found that it does not show what its records make: its period is not closed. */
  readonly drifts?: true;
  /** Jobs that are being retried and whose new id is unknown: part of `committed` is reserved for them. */
  readonly reserved?: readonly ReservedPipeline[];
}

export interface ReservedPipeline {
  readonly jobId: number;
  readonly pipelineId: number;
}

export type CounterAmounts = Pick<Counter, 'committed' | 'fitted' | 'settled' | 'unchecked'>;

export interface Drift {
  readonly key: CounterKey;
  readonly counter: CounterAmounts;
  readonly recount: CounterAmounts;
}

export interface RebuildReport {
  readonly records: number;
  readonly counters: number;
  readonly drift: readonly Drift[];
  readonly repaired: number;
  /** Differences of periods whose records may be gone: nothing says which figure is right. Never repaired. */
  readonly unproven: readonly Drift[];
  /** Items a newer program wrote. Above 0 nothing is proven: nothing is repaired and nothing marked. */
  readonly passedOver: number;
}

export interface DueJob {
  readonly jobId: number;
  readonly dueAtMs: number;
}

/** A late correction of one job: written once, never edited. The record keeps the sum of its entries in `corrected`. */
export interface CorrectionEntry {
  readonly jobId: number;
  readonly number: number;
  readonly generation: number;
  readonly cause: EntryCause;
  readonly atMs: number;
  readonly deltas: readonly EntryDelta[];
  readonly unchecked?: UncheckedCause;
}

export type EntryCause =
  | 'duration'
  | 'late'
  | 'expired'
  /** A new admission request for an expired, charged job: the charge is returned before the new hold. */
  | 'reopened';

export interface EntryDelta {
  readonly counter: CounterKey;
  readonly unit: Unit;
  readonly delta: number;
  readonly fitted: boolean;
  readonly checked: boolean;
}

/** Amounts of a closed period. A later correction adds to them and causes a new closing entry. */
export interface ClosingEntry extends CounterAmounts {
  readonly key: CounterKey;
  readonly closedAtMs: number;
  /** Credits by hand that an older version counted in it. */
  readonly adjusted?: number;
}
