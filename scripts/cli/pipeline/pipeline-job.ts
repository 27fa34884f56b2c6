import type { UnsetVariables } from './unset-variables.ts';
import type { Variables } from './variables.ts';

/** Container settings besides the image; users as the runner resolves them. */
export interface ContainerOptions {
  /** One entry where the file has a single word. */
  readonly pullPolicies?: readonly string[];
  readonly dockerUser?: string;
  readonly kubernetesUser?: string;
}

/** One job of a pipeline as a runner would get it. */
export interface PipelineJob extends ContainerOptions {
  /** Includes the suffix of `parallel`, e.g. `build 1/4` or `package: [deb64]`. */
  readonly name: string;
  readonly stage: string;
  /** Resolved as in the runner; a `$` is left if undecidable. */
  readonly image?: string;
  /** The image as the file has it, when that is different: `$CI_IMAGE`. */
  readonly imageAsWritten?: string;
  readonly services: readonly PipelineService[];
  readonly tags: readonly string[];
  /** Absent: the project's own timeout applies. */
  readonly timeoutSeconds?: number;
  /** Those of the file, the job and the matrix, as written. */
  readonly variables: Variables;
  /** Names with `expand: false`, whose values are literal. Absent: none. */
  readonly rawVariables?: readonly string[];
  /** Unset variables in its image, services and tags. Absent: none. */
  readonly unsetVariables?: UnsetVariables;
}

export interface PipelineService extends ContainerOptions {
  readonly name: string;
  readonly alias?: string;
  /** Its own, as written; those of the job reach it, too. */
  readonly variables?: Variables;
}
