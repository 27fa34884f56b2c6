import type { FilePlace } from './includes.ts';
import type { UnsetVariables, Variables } from './variables.ts';

export interface ExpandedPipeline {
  /** In the order of the stages, and within a stage in that of the files. Those that certainly do not run are missing. */
  readonly jobs: readonly ExpandedJob[];
  readonly leftOut: readonly LeftOutJob[];
  /** Decided by `workflow:rules`; `depends`: on the conditions of `workflowDependsOn`. */
  readonly isCreated: 'yes' | 'no' | 'depends';
  readonly workflowDependsOn: readonly string[];
  /** Jobs that start a pipeline of another project: GitLab runs them itself, no runner and no router sees them. */
  readonly bridges: readonly string[];
  readonly notRead: readonly string[];
  /** Possible differences from GitLab, each with its place. */
  readonly problems: readonly string[];
}

/** A job with what only its file knows. */
export interface ExpandedJob extends PipelineJob {
  /** The name it is written under: `package` for `package: [deb64]`. */
  readonly definedAs: string;
  readonly place?: FilePlace;
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
  readonly definedAs: string;
  readonly place?: FilePlace;
}

/** Container settings besides the image; users as the runner resolves them. */
export interface ContainerOptions {
  /** One entry where the file has a single word. */
  readonly pullPolicies?: readonly string[];
  readonly dockerUser?: string;
  readonly kubernetesUser?: string;
}

export interface PipelineJob extends ContainerOptions {
  /** Includes the suffix of `parallel`, e.g. `build 1/4` or `package: [deb64]`. */
  readonly name: string;
  readonly stage: string;
  /** Resolved as in the runner; a `$` is left if undecidable. */
  readonly image?: string;
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
