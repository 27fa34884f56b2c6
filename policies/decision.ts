import type { Violation } from './reason.ts';

export interface Terms {
  readonly runnerClass: string;
  /** The job's tags belong to no class: it is priced and limited like one of `runnerClass`. */
  readonly unclassed?: true;
  readonly estimateSeconds: number;
  readonly costMicros: number;
  readonly currency: string;
  readonly group: string;
}

export type Decision =
  | {
      readonly outcome: 'admitted';
      readonly decisionId: string;
      readonly terms?: Terms;
      readonly shadow: readonly Violation[];
    }
  | {
      readonly outcome: 'rejected';
      readonly decisionId: string;
      readonly terms?: Terms;
      readonly violations: readonly [Violation, ...Violation[]];
      readonly shadow: readonly Violation[];
      /** The message for the job page: plain text, first line complete on its own. */
      readonly text: string;
      /** Absent: the decider does not count notices; treated as `first`. */
      readonly notice?: NoticeOrder;
      /** The decision holds but is not stored yet; the caller keeps it until it is. */
      readonly unwritten?: true;
    }
  | Undecided;

/** `repeat`: the owner was already notified of this rejection, e.g. before GitLab retried the job. */
export type NoticeOrder = 'first' | 'repeat';

/** Inside our house only: the relay turns it into its fallback's answer. */
interface Undecided {
  readonly outcome: 'undecided';
  readonly cause: UndecidedCause;
  readonly problems?: readonly string[];
}

export type UndecidedCause = 'invalid' | 'deadline' | 'contended' | 'unavailable' | 'error';
