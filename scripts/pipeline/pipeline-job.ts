import type { Variables } from './variables.ts';

/** One job of a pipeline as a runner would get it. */
export interface PipelineJob {
  /** With the suffix of `parallel`, e.g. `build 1/4` or `package: [deb64]`. */
  readonly name: string;
  readonly stage: string;
  /** Variables expanded. */
  readonly image?: string;
  /** The image as the file has it, when that is different: `$CI_IMAGE`. */
  readonly imageAsWritten?: string;
  readonly services: readonly PipelineService[];
  readonly tags: readonly string[];
  /** Absent: the project's own timeout applies. */
  readonly timeoutSeconds?: number;
  /** Of the file, the job and the matrix, as written. */
  readonly variables: Variables;
}

export interface PipelineService {
  readonly name: string;
  readonly alias?: string;
}
