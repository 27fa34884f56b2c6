import type { FilePlace } from './includes.ts';
import type { PipelineJob } from './pipeline-job.ts';

/** A job with what only its file knows. */
export interface ExpandedJob extends PipelineJob {
  /** The name it is written under: `package` for `package: [deb64]`. */
  readonly definedAs: string;
  readonly place?: FilePlace;
  /** The name of its environment, variables expanded. */
  readonly environment?: string;
  /** Undecided conditions that affect the job. Absent: none. */
  readonly dependsOn?: readonly string[];
  /** Unread parts that it depends on, with reasons. Absent: none. */
  readonly notRead?: readonly string[];
  /** Other possible forms by those conditions: another image, other variables. Absent: none. */
  readonly otherForms?: readonly ExpandedJob[];
}

/** A job that `rules:`, `only:` or `except:` leave out for certain. */
export interface LeftOutJob {
  readonly name: string;
  /** The name it is written under. */
  readonly definedAs: string;
  readonly place?: FilePlace;
}
