import type { Mode, RuleClass } from '../../../policies/mode.ts';

/** What would have been rejected in a span of time by rules and limits that only watch. */
export interface ShadowFigures {
  /** Jobs decided in the span. */
  readonly jobs: number;
  /** Part of `jobs`: rejected by what is enforced. Their shadow violations are counted nowhere. */
  readonly rejected: number;
  /** Part of `rejected`: ran all the same, in dry run or past us. Nobody told this ledger that the others ran. */
  readonly ranRejected: number;
  /** Ran without ever having been asked about. */
  readonly unasked: number;
  /** Jobs that ran and would have failed: the counters they were compared with leave out those refused before them. */
  readonly wouldFail: number;
  /** What `wouldFail` cost, micro-units: settled where it is known, else estimated. */
  readonly costMicros: number;
  /** The same, by counters of everything that ran. Absent: too many claims to replay. */
  readonly naive?: number;
  /** Jobs a rule had something against, and an exemption let pass. */
  readonly exempt: number;
  /** Jobs past a soft limit, of which the owner is warned. */
  readonly softLimit: number;
  /** Jobs that lacked a field, before rules whose `on_missing` lets them pass. */
  readonly missingPassed: number;
  /** Most jobs first. */
  readonly rows: readonly ShadowFigureRow[];
}

/** Jobs of one group that one rule would have rejected for one reason. A job may be in several rows. */
export interface ShadowFigureRow {
  readonly rootId?: number;
  readonly groupId?: number;
  /** Path of a project in that group, for a label where the directory has none. */
  readonly projectPath?: string;
  readonly rule: string;
  readonly class?: RuleClass;
  readonly mode?: Mode;
  readonly code: string;
  readonly jobs: number;
  readonly naive?: number;
  readonly costMicros: number;
  readonly firstAtMs?: number;
  readonly lastAtMs?: number;
  /** The latest, newest first; not all where there are many. */
  readonly examples: readonly ShadowJob[];
}

export interface ShadowJob {
  readonly jobId: number;
  readonly jobName?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly decidedAtMs: number;
  readonly costMicros: number;
}
