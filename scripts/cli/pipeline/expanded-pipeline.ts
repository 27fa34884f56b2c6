import type { ExpandedJob, LeftOutJob } from './expanded-job.ts';

/** The expanded pipeline. */
export interface ExpandedPipeline {
  /** In the order of the stages, and within a stage in that of the files. Those that certainly do not run are missing. */
  readonly jobs: readonly ExpandedJob[];
  readonly leftOut: readonly LeftOutJob[];
  /** Decided by `workflow:rules`; `depends`: on the conditions of `workflowDependsOn`. */
  readonly isCreated: 'yes' | 'no' | 'depends';
  readonly workflowDependsOn: readonly string[];
  /** Jobs that start a pipeline of another project: GitLab runs them itself, no runner and no router sees them. */
  readonly bridges: readonly string[];
  /** Includes, child pipelines and other parts that were not read, each with the reason. */
  readonly notRead: readonly string[];
  /** Possible differences from GitLab, each with its place. */
  readonly problems: readonly string[];
  /** Understood as GitLab does, though perhaps not what was meant; each with the place. */
  readonly warnings: readonly string[];
}
