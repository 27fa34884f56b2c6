import type { FilePlace } from './includes.ts';
import type { PipelineJob } from './pipeline-job.ts';

/** A job with what only its file knows. */
export interface ExpandedJob extends PipelineJob {
  /** The name it is written under: `package` for `package: [deb64]`. */
  readonly definedAs: string;
  readonly place?: FilePlace;
  /** The name of its environment, variables expanded. */
  readonly environment?: string;
}
