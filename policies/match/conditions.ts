import type { Placement } from '../place/placement.ts';
import type { AdmissionRequest } from '../request/request.ts';
import type { Wildcard } from './wildcard.ts';

export interface Conditions {
  readonly groups?: readonly GroupCondition[];
  readonly projects?: readonly ProjectCondition[];
  readonly runnerClasses?: ReadonlySet<string>;
  /** The runner has one of them. */
  readonly runnerTags?: ReadonlySet<string>;
  readonly runnerIds?: ReadonlySet<number>;
  readonly users?: ReadonlySet<number>;
  readonly refs?: readonly Wildcard[];
  /** Whether the ref is protected. */
  readonly protected?: boolean;
  /** `push`, `schedule`, `merge_request_event` … */
  readonly sources?: ReadonlySet<string>;
  readonly environments?: readonly Wildcard[];
  readonly jobs?: readonly Wildcard[];
  /** Keyed by name; each must hold. */
  readonly variables?: VariableConditions;
}

/** The field of a request that each condition looks at first. */
export const CONDITION_FIELDS: Readonly<Record<keyof Conditions, keyof AdmissionRequest>> = {
  groups: 'namespaceId',
  projects: 'projectId',
  runnerClasses: 'runnerTags',
  runnerTags: 'runnerTags',
  runnerIds: 'runnerId',
  users: 'userId',
  refs: 'ref',
  protected: 'refProtected',
  sources: 'pipelineSource',
  environments: 'environment',
  jobs: 'jobName',
  variables: 'variables',
};

/** Patterns, one of which the value must match; `true`: set, and not to an empty text; `false`: not. */
export type VariableConditions = ReadonlyMap<string, readonly Wildcard[] | boolean>;

/** Matches by id, or by wildcard on the full path of the job's own group. */
export type GroupCondition = { readonly id: number; readonly subtree: boolean } | { readonly path: Wildcard };

export type ProjectCondition = { readonly id: number } | { readonly path: Wildcard };

/** What conditions are compared with. */
export interface MatchInput {
  readonly request: AdmissionRequest;
  readonly placement: Placement;
  readonly runnerClass: { readonly name: string };
  /** `runnerClass` only stands in: it is also of the class `none`. */
  readonly unclassed: boolean;
}
