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
  readonly problems: readonly string[];
}

export interface ExpandedJob extends PipelineJob {
  /** The name it is written under: `package` for `package: [deb64]`. */
  readonly definedAs: string;
  readonly place?: FilePlace;
  readonly environment?: string;
  readonly dependsOn?: readonly string[];
  readonly notRead?: readonly string[];
  /** Other possible forms by those conditions: another image, other variables. Absent: none. */
  readonly otherForms?: readonly ExpandedJob[];
}

export type LeftOutJob = Pick<ExpandedJob, 'name' | 'definedAs' | 'place'>;

export interface ContainerOptions {
  readonly pullPolicies?: readonly string[];
  readonly dockerUser?: string;
  readonly kubernetesUser?: string;
}

export interface PipelineJob extends ContainerOptions {
  readonly name: string;
  readonly stage: string;
  /** Resolved as in the runner; a `$` is left if undecidable. */
  readonly image?: string;
  readonly services: readonly PipelineService[];
  readonly tags: readonly string[];
  readonly timeoutSeconds?: number;
  readonly variables: Variables;
  /** Names with `expand: false`, whose values are literal. Absent: none. */
  readonly rawVariables?: readonly string[];
  /** Unset variables in its image, services and tags. Absent: none. */
  readonly unsetVariables?: UnsetVariables;
}

export interface PipelineService extends ContainerOptions {
  readonly name: string;
  readonly alias?: string;
  readonly variables?: Variables;
}
