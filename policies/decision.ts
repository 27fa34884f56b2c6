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

interface Decided {
  readonly decisionId: string;
  readonly terms?: Terms;
  readonly shadow: readonly Violation[];
}

export type Decision =
  | (Decided & { readonly outcome: 'admitted' })
  | (Decided & {
      readonly outcome: 'rejected';
      readonly violations: readonly [Violation, ...Violation[]];
      readonly text: string;
      /** Absent: the decider does not count notices; treated as `first`. */
      readonly notice?: NoticeOrder;
      /** The decision holds but is not stored yet; the caller keeps it until it is. */
      readonly unwritten?: true;
    })
  | {
      readonly outcome: 'undecided';
      readonly cause: UndecidedCause;
      readonly problems?: readonly string[];
    };

/** `repeat`: the owner was already notified of this rejection, e.g. before GitLab retried the job. */
export type NoticeOrder = 'first' | 'repeat';

export type UndecidedCause = 'invalid' | 'deadline' | 'contended' | 'unavailable' | 'error';
