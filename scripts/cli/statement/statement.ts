import type { EntryCause } from '../../../functions/core/ledger/entry.ts';

/** What a group is charged for a month. What `--json` prints. Money in micro-units. */
export interface Statement {
  /** As the counters' periods are named: `2026-10`. */
  readonly month: string;
  readonly zone: string;
  /** Unix ms, half-open. */
  readonly startMs: number;
  readonly endMs: number;
  readonly group: string;
  readonly currency: string;
  /** The GitLab the jobs ran on, a host. */
  readonly instance: string;
  /** For people: whose books. */
  readonly ledger: string;
  readonly writtenAtMs: number;
  readonly by: StatementBy;
  /** Lines of jobs say who started them. */
  readonly withUsers?: true;
  readonly lines: readonly StatementLine[];
  readonly totals: StatementTotals;
  /** What the group's counters of this month show, beside what the jobs of this statement make on them. */
  readonly controls: readonly Control[];
  /** What a reader should know before paying it. */
  readonly notes: readonly string[];
}

export type StatementBy = 'day' | 'job';

/** Jobs of one day, project, runner class and price; or one job. */
export interface StatementLine {
  /** `2026-10-31`, of the admission, in the statement's zone. */
  readonly day: string;
  readonly dayStartMs: number;
  readonly dayEndMs: number;
  readonly rootId?: number;
  readonly rootPath?: string;
  readonly groupId?: number;
  readonly groupPath?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly runnerClass: string;
  readonly microsPerMinute: number;
  readonly priceVersion: string;
  readonly kind: 'usage' | 'correction';
  readonly cause?: EntryCause;
  /** A correction that was written after the month was over: an earlier statement did not have it. */
  readonly late: boolean;
  readonly jobs: number;
  readonly seconds: number;
  readonly micros: number;
  readonly job?: {
    readonly id: number;
    readonly name?: string;
    readonly decisionId: string;
    readonly pipelineId?: number;
    /** Charged without asking, and why. */
    readonly unchecked?: 'exempt' | 'unmetered' | 'bypass';
    /** Who started it, where that was asked for: an id or a pseudonym. */
    readonly user?: string;
  };
}

export interface StatementTotals {
  /** Jobs that are charged. */
  readonly jobs: number;
  readonly seconds: number;
  readonly micros: number;
  /** The part of `micros` that corrections make, and the part of those that came late. */
  readonly correctedMicros: number;
  readonly lateMicros: number;
  /** Jobs of the month that are not over: what they hold is in no line. */
  readonly openJobs: number;
  readonly heldMicros: number;
}

export interface Control {
  /** `counterName`. */
  readonly counter: string;
  /** What the counter shows as settled. */
  readonly shownMicros: number;
  /** What the jobs of this statement have settled on it. */
  readonly settledMicros: number;
}
