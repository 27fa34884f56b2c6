import type { Claim, CounterKey, LimitClaim } from '../../../policies/claim.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { JobFacts, RanOutcome } from '../../../policies/request/recorded.ts';

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
  hold(asks: readonly HoldAsk[], deadlineMs: number, options?: HoldOptions): Promise<readonly HoldOutcome[]>;
  /** The job ended: its claims become what it really used. The later of two ends counts, and the longer of two at once. */
  settle(ends: readonly JobEnd[], accepts?: AcceptsEnd<JobEnd>): Promise<readonly EndOutcome[]>;
  /** The job never ran (rejected elsewhere, canceled before start): its claims go back. */
  release(jobs: readonly GoneJob[], accepts?: AcceptsEnd<GoneJob>): Promise<readonly EndOutcome[]>;
  /** Nobody knows the job any more. `charge: 'hold'` keeps the held amount as a flagged entry, `'nothing'` frees it. */
  expire(
    jobs: readonly (GoneJob & { readonly charge: 'hold' | 'nothing' })[],
  ): Promise<readonly EndOutcome[]>;
  /** Charges answers that were given without the ledger, unchecked and flagged. */
  recordUnmetered(
    asks: readonly UnmeteredAsk[],
    deadlineMs: number,
  ): Promise<readonly ('recorded' | 'undecided')[]>;

  /**
   * Live jobs due before `beforeMs`, oldest first, at most `limit`; with a time beyond every due time: all live jobs.
   * Read from the due index, which may lag. @throws {LedgerError} `ledger_unavailable`
   */
  dueJobs(beforeMs: number, limit: number): Promise<readonly DueJob[]>;
  /** Gives live jobs another due time. `unchanged`: the job ended, or is due then already. */
  postpone(jobs: readonly DueJob[], accepts?: AcceptsEnd<DueJob>): Promise<readonly EndOutcome[]>;
  /**
   * Charges jobs that ran and are unknown here (`settle` said so): SETTLED at once, unchecked, cause `bypass`. A job that
   * has a record by now is settled on that instead. Never `unknown`.
   */
  recordBypass(asks: readonly BypassAsk[]): Promise<readonly EndOutcome[]>;

  /**
   * Keeps room for a job that was rejected and is about to be retried, under its own record: its counters count it, by the
   * conditions of an admission, those of its cohorts included. A reservation that stands already lasts until then.
   */
  reserve(ask: ReserveAsk): Promise<ReserveOutcome>;
  /**
   * The job was retried as `newJobId`: what is kept for it is kept for that one, until it is asked about. Whoever asked about that
   * one before has what it has, and the reservation ends. `unchanged`: nothing is kept for the job.
   */
  handOver(jobId: number, newJobId: number): Promise<EndOutcome>;
  /** Gives back what is kept for these jobs, if its time is over by an instant, Unix ms; absent: whenever it is over. */
  endReservations(jobIds: readonly number[], dueByMs?: number): Promise<readonly EndOutcome[]>;

  readCounters(keys: readonly CounterKey[]): Promise<readonly Counter[]>;
  readRecord(jobId: number): Promise<JobRecord | undefined>;
  /** One per job id, same order. Consistent. @throws {LedgerError} `ledger_unavailable` */
  readRecords(jobIds: readonly number[]): Promise<readonly (JobRecord | undefined)[]>;
  /**
   * Recounts every counter from closing entries and job records, in two passes. What garbage collection may have begun to
   * take is neither compared nor repaired.
   */
  rebuild(options: RebuildOptions): Promise<RebuildReport>;
  /**
   * Which of these things (any texts) nobody has said within the last `ttlMs`; from now on they are said. One per key,
   * same order; only the first of equal keys can be new. A table that does not answer makes everything new. A `ttlMs` of 0
   * or less only asks and leaves nothing behind.
   */
  announceOnce(
    keys: readonly string[],
    options: { readonly ttlMs: number; readonly timeoutMs: number },
  ): Promise<readonly boolean[]>;
}

export interface HoldAsk {
  readonly jobId: number;
  /**
   * When it was evaluated, Unix ms: the periods of its claims are those of this instant, and its record is decided then.
   * Absent: when it is written, for claims that no clock made.
   */
  readonly decidedAtMs?: number;
  readonly facts: JobFacts;
  /** Violations known without counters. An `enforce` one rejects the job; the others are recorded. */
  readonly violations: readonly Violation[];
  readonly claims: readonly LimitClaim[];
  /** Counted by cause when claims have no bound. */
  readonly unchecked?: UncheckedCause;
  /**
   * What is asked instead where this would reject the job: its limits do not ask then, only what is left of a
   * break-glass. If that does not fit either, the job is rejected for what stopped it in the first place.
   */
  readonly breakGlass?: Pick<HoldAsk, 'violations' | 'claims'>;
  /** Whoever asks can keep the job waiting, and keeps others. Absent: a job that does not fit is rejected. */
  readonly wait?: WaitAsk;
}

export interface WaitAsk {
  /** How long it has been kept waiting. */
  readonly waitedMs: number;
  /** It can wait no longer. */
  readonly last: boolean;
  /** Counters, by name, for which others wait before it: of those with limits that wait it takes nothing. */
  readonly behind: ReadonlySet<string>;
}

export interface HoldOptions {
  /**
   * Whether the limits behind the asks are still those in force. Asked at most once per call, before the first job is
   * rejected for anything that finance can edit; what security rules reject alone never asks. False: such jobs are
   * `undecided` with cause `stale_limits`, and nothing of them is written. True also where that cannot be found out
   * within `timeoutMs`. Absent: they are.
   */
  readonly limitsAreCurrent?: (timeoutMs: number) => Promise<boolean>;
  /**
   * Told at the end, by name, of each counter that jobs of several root groups claim and that other writers held or wrote
   * too often meanwhile, with the jobs of this call that claim it.
   */
  readonly onContended?: (counter: string, jobIds: readonly number[]) => void;
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
      /** The table did not take the record. */
      readonly unwritten?: true;
    }
  /** Only limits that wait refuse it, and it may go on waiting: nothing was written. Only for asks with a `wait`. */
  | {
      readonly outcome: 'waiting';
      readonly leftMs: number;
      /** What it waits for, by name. */
      readonly counters: readonly string[];
      readonly violations: readonly [Violation, ...Violation[]];
    }
  | {
      readonly outcome: 'undecided';
      readonly cause: HoldCause;
    };

/**
 * `error`: the ask itself is not lawful (an amount that is no safe whole number, too many counters).
 * `stale_limits`: it would be rejected for a limit, and other limits are in force by now: evaluate it anew.
 */
type HoldCause = 'deadline' | 'contended' | 'unavailable' | 'error' | 'stale_limits';

export interface UnmeteredAsk extends HoldAsk {
  readonly answered: 'admitted' | 'rejected';
  readonly cause: string;
  /** Unix ms; the instant of its decision, too. */
  readonly answeredAtMs: number;
}

/**
 * Decides on the record as it is when it is written. `unchanged`: it said no.
 * @default every record is accepted
 */
export type AcceptsEnd<Job> = (record: JobRecord, job: Job) => boolean;

export interface JobEnd {
  readonly jobId: number;
  /** GitLab's build_duration, else finished − started; the ledger charges no more than the job can have run. */
  readonly durationSeconds: number;
  readonly endedAtMs: number;
  /** The runner it ran on, where GitLab tells. */
  readonly runnerId?: number;
  /** How it ended, where GitLab tells. */
  readonly outcome?: RanOutcome;
  /** How often the same job was tried before, where GitLab tells. */
  readonly retryCount?: number;
  /** Whole seconds it was queued until a runner took it, where GitLab tells. */
  readonly queuedSeconds?: number;
  /** GitLab's REST API reported it: it replaces an end that was reported in any other way. */
  readonly final?: true;
}

/** What the job would have asked for, and how it ended. */
export interface BypassAsk extends HoldAsk, JobEnd {}

export interface GoneJob {
  readonly jobId: number;
  readonly cause: string;
}

export interface ReserveAsk {
  /** The job that is rejected. */
  readonly jobId: number;
  /** The claims that the retried job will make. Only those that are enforced, on what is given back, are kept. */
  readonly claims: readonly LimitClaim[];
  /** From then on it is given back, Unix ms. */
  readonly untilMs: number;
}

/** `full`: there is no room by now. `unchanged`: the job is not rejected, or nothing of its claims can be kept. */
export type ReserveOutcome = 'reserved' | 'full' | 'unchanged' | 'undecided';

/** `unchanged`: the ledger already said so. `unknown`: no record of this job (a bypass, for the caller to charge). */
export type EndOutcome = 'applied' | 'corrected' | 'unchanged' | 'unknown' | 'undecided';

/** `RESERVED`: room is kept for it, because another job was retried as this one, and nobody has asked about it yet. */
export type JobState = 'HELD' | 'RUNNING' | 'SETTLED' | 'RELEASED' | 'EXPIRED' | 'REJECTED' | 'RESERVED';

/** What one job counts on one counter right now. */
export interface RecordClaim {
  readonly counter: CounterKey;
  readonly unit: Claim['unit'];
  /** The amount held at admission. */
  readonly held: number;
  /** The amount it counts in `committed` now: the hold, then the settled amount; 0 when given back. */
  readonly counted: number;
  /** The sum of its correction entries so far: the job is charged `counted + corrected`. */
  readonly corrected: number;
  /** Whether it also counts in `fitted`. */
  readonly fitted: boolean;
  /** Whether it asked: what did not ask also counts under the record's `unchecked` cause. */
  readonly checked: boolean;
}

export interface JobRecord {
  readonly jobId: number;
  readonly state: JobState;
  /** Starts at 1; + 1 each time the job is evaluated anew. */
  readonly generation: number;
  /** + 1 with every write: the condition of the next. */
  readonly rev: number;
  readonly facts: JobFacts;
  readonly claims: readonly RecordClaim[];
  readonly violations: readonly Violation[];
  readonly shadow: readonly Violation[];
  /** What the router was told, as far as we know; separate from what the ledger decided. */
  readonly answered: 'ledger' | 'fallback' | 'unknown';
  readonly unchecked?: UncheckedCause;
  /** Rejected, and yet it runs (dry run, bypass). */
  readonly flagged: boolean;
  readonly decidedAtMs: number;
  /** Present while the job is live: when the sweep must ask GitLab. */
  readonly dueAtMs?: number;
  readonly endedAtMs?: number;
  /** What it is charged for. */
  readonly durationSeconds?: number;
  /** What GitLab said, where no job can have run so long: {@link durationSeconds} is as long as it can have. */
  readonly reportedSeconds?: number;
  /** How many correction entries exist: the number of the next. */
  readonly entries: number;
}

export interface Counter {
  readonly key: CounterKey;
  /** Settled + held. */
  readonly committed: number;
  /** Like committed, without the claims a shadow bound refused. */
  readonly fitted: number;
  readonly settled: number;
  /** The part of `committed` that did not ask, by cause. */
  readonly unchecked: Readonly<Record<UncheckedCause, number>>;
  readonly rev: number;
  /** Until then this counter of a cohort refuses borrowers, because a member wants its own back. Unix ms. */
  readonly reclaimedUntilMs?: number;
  /** The last recount found that it does not show what its records make: its period is not closed. */
  readonly drifts?: true;
  /** Jobs that are being retried, while nobody knows as which: a part of `committed` is kept for what they become. */
  readonly reserved?: readonly ReservedPipeline[];
}

export interface ReservedPipeline {
  /** The job that was rejected. */
  readonly jobId: number;
  readonly pipelineId: number;
}

export type CounterAmounts = Pick<Counter, 'committed' | 'fitted' | 'settled' | 'unchecked'>;

export interface Drift {
  readonly key: CounterKey;
  readonly counter: CounterAmounts;
  readonly recount: CounterAmounts;
}

export interface RebuildOptions {
  /** Sets counters that drift to what their records make. */
  readonly repair: boolean;
  /**
   * Marks counters that drift, so that their periods are not closed, and takes the mark from those that agree again.
   * Periods that ought to be closed by now and are not are put in line once more. @default false
   */
  readonly mark?: boolean;
}

export interface RebuildReport {
  readonly records: number;
  readonly counters: number;
  /** Differences both passes agree on with `rev` unchanged between them. */
  readonly drift: readonly Drift[];
  readonly repaired: number;
  /**
   * Differences of periods that are over for so long, and were never closed, that records may be gone: nothing says which
   * of both figures is right. Never repaired.
   */
  readonly unproven: readonly Drift[];
  /**
   * Items a newer program wrote, in a kind or form not known here. Above 0, nothing is proven: every difference is
   * unproven, nothing is repaired and nothing marked.
   */
  readonly passedOver: number;
  /** Periods that ought to be closed since a day and are not: live jobs hold on them, or they drift, or nobody closes. */
  readonly unclosed: number;
}

/** A live job and when somebody must look at it, Unix ms. */
export interface DueJob {
  readonly jobId: number;
  readonly dueAtMs: number;
}
