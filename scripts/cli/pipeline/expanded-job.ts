import type { FilePlace } from './includes.ts';
import type { PipelineJob } from './pipeline-job.ts';

/** A job with what only its file knows. */
export interface ExpandedJob extends PipelineJob {
  /** The name it is written under: `package` for `package: [deb64]`. */
  readonly definedAs: string;
  readonly place?: FilePlace;
  /** The name of its environment, variables expanded. */
  readonly environment?: string;
  /** Conditions that nobody can tell from here, and that decide whether it runs or what it is. Absent: none. */
  readonly dependsOn?: readonly string[];
  /** What it rests on that was not read, and why. Absent: all was read. */
  readonly notRead?: readonly string[];
  /** What else it may be, as those conditions fall out: another image, other variables. Absent: nothing else. */
  readonly otherForms?: readonly ExpandedJob[];
}

/** A job that `rules:`, `only:` or `except:` leave out for certain. */
export interface LeftOutJob {
  readonly name: string;
  /** The name it is written under. */
  readonly definedAs: string;
  readonly place?: FilePlace;
}
