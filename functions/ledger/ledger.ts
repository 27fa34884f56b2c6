import type { Claim, CounterKey, LimitClaim } from '../../policies/claim.ts';
import type { JobFacts } from '../../policies/job-facts.ts';
import type { Violation } from '../../policies/reason.ts';

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
  hold(asks: readonly HoldAsk[], deadlineMs: number): Promise<readonly HoldOutcome[]>;
  /** The job ended: its claims become what it really used. */
  settle(ends: readonly JobEnd[]): Promise<readonly EndOutcome[]>;
  /** The job never ran (rejected elsewhere, canceled before start): its claims go back. */
  release(jobs: readonly JobGone[]): Promise<readonly EndOutcome[]>;
  /** Nobody knows the job any more. `charge: 'hold'` keeps the held amount as a flagged entry, `'nothing'` frees it. */
  expire(
    jobs: readonly (JobGone & { readonly charge: 'hold' | 'nothing' })[],
  ): Promise<readonly EndOutcome[]>;
  /** Charges answers that were given without the ledger, unchecked and flagged. */
  recordUnmetered(
    asks: readonly UnmeteredAsk[],
    deadlineMs: number,
  ): Promise<readonly ('recorded' | 'undecided')[]>;

  readCounters(keys: readonly CounterKey[]): Promise<readonly Counter[]>;
  readRecord(jobId: number): Promise<JobRecord | undefined>;
  /** Recounts every counter from closing entries and job records. Two passes; repairs only if told to. */
  rebuild(options: { readonly repair: boolean }): Promise<RebuildReport>;
  /**
   * Writes the closing entries of periods that are over, so that garbage collection may take their records. Close only
   * what ended longer ago than any job may run. One result per key, same order.
   */
  closePeriods(keys: readonly CounterKey[]): Promise<readonly CloseOutcome[]>;
  /**
   * Which of these things (any texts) nobody has said within the last `ttlMs`; from now on they are said. One per key,
   * same order; of equal keys the first is first. A table that does not answer makes everything new.
   */
  announceOnce(
    keys: readonly string[],
    options: { readonly ttlMs: number; readonly timeoutMs: number },
  ): Promise<readonly boolean[]>;
}

export interface LedgerClock {
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** For deadlines: never steps back. */
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface HoldAsk {
  readonly jobId: number;
  readonly facts: JobFacts;
  /** Violations known without counters. An `enforce` one rejects the job; the others are recorded. */
  readonly violations: readonly Violation[];
  readonly claims: readonly LimitClaim[];
  /** Counted by cause when claims have no bound. */
  readonly unchecked?: UncheckedCause;
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
    }
  | {
      readonly outcome: 'undecided';
      readonly cause: HoldCause;
    };

/** `error`: the ask itself is not lawful (an amount that is no safe whole number, too many counters). */
export type HoldCause = 'deadline' | 'contended' | 'unavailable' | 'error';

export interface UnmeteredAsk extends HoldAsk {
  readonly answered: 'admitted' | 'rejected';
  readonly cause: string;
  readonly answeredAtMs: number;
}

export interface JobEnd {
  readonly jobId: number;
  /** GitLab's build_duration, else finished − started; clamped to [0, timeout + 15 min] by the ledger. */
  readonly durationSeconds: number;
  readonly endedAtMs: number;
}

export interface JobGone {
  readonly jobId: number;
  readonly cause: string;
}

/** `unchanged`: the ledger already said so. `unknown`: no record of this job (a bypass, for the caller to charge). */
export type EndOutcome = 'applied' | 'corrected' | 'unchanged' | 'unknown' | 'undecided';

/** `unchanged`: closed before. `open`: live jobs still hold on it. `drifting`: rebuild it first. */
export type CloseOutcome = 'closed' | 'unchanged' | 'open' | 'drifting' | 'undecided';

export type JobState = 'HELD' | 'RUNNING' | 'SETTLED' | 'RELEASED' | 'EXPIRED' | 'REJECTED';

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
  readonly durationSeconds?: number;
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
  /** Differences both passes agree on with `rev` unchanged between them. */
  readonly drift: readonly Drift[];
  readonly repaired: number;
}
