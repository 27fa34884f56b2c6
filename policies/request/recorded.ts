import type { AdmissionRequest, ServiceRequest } from './request.ts';

/** Recorded as GitLab sent them. */
export const RECORDED_AS_SENT = [
  'image',
  'pullPolicies',
  'dockerUser',
  'kubernetesUser',
  'ref',
  'refProtected',
  'pipelineSource',
  'environment',
  'projectVisibility',
  'jobTags',
  'runnerTags',
  'runnerId',
  'suspicious',
] as const satisfies readonly (keyof AdmissionRequest)[];
export const SERVICE_AS_SENT = [
  'pullPolicies',
  'dockerUser',
  'kubernetesUser',
] as const satisfies readonly (keyof ServiceRequest)[];

/**
 * What rules looked at beside a record's other facts, so that every rule can be asked about the job again. Variables'
 * values are never kept, and so no rule that reads them can be.
 */
export interface RecordedRequest extends Pick<AdmissionRequest, (typeof RECORDED_AS_SENT)[number]> {
  readonly services?: readonly RecordedService[];
  /** Absent: GitLab sent none at all. */
  readonly variables?: RecordedVariables;
  /** Facts that GitLab did not send: the directory or a default of the policy stood in. */
  readonly filled?: readonly FilledFact[];
  /** In full, where the fact was cut. */
  readonly jobName?: string;
  readonly projectPath?: string;
}

export interface RecordedService extends Pick<ServiceRequest, 'name' | (typeof SERVICE_AS_SENT)[number]> {
  readonly variables?: RecordedVariables;
}

/** `none`: sent, and none was set that a rule may read. */
export type RecordedVariables = 'none' | 'some';

/** Names of {@link AdmissionRequest}. */
export type FilledFact = 'namespaceId' | 'rootNamespaceId' | 'projectPath' | 'timeoutSeconds';

/** What travels with the ledger's record: for reports, settlement and explanations. */
export interface JobFacts {
  readonly jobName?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly rootId?: number;
  readonly groupId?: number;
  /** The groups above the job as of its decision, root first; its own is the last where all of them were known. */
  readonly groupIds?: readonly number[];
  readonly pipelineId?: number;
  readonly userId?: number;
  /** Stands for the user from 90 days after the job: the same for all jobs of a user in a year. */
  readonly userPseudonym?: string;
  readonly runnerClass: string;
  readonly estimateSeconds: number;
  readonly costMicros: number;
  /** Settlement uses the price of the admission, whatever the table says by then. */
  readonly microsPerMinute: number;
  /** A begun minute costs a whole one; absent: its seconds. */
  readonly round?: 'minute';
  readonly priceVersion: string;
  readonly policyVersion: string;
  /** Due = hold + timeout + 15 min. The policy's where GitLab sent none. */
  readonly timeoutSeconds: number;
  /** GitLab sent no timeout: the job may have run longer than the policy's. */
  readonly timeoutAssumed?: true;
  /** The runner it ran on, as GitLab told with its end; absent where the question had named the same. */
  readonly runnerId?: number;
  /** What rules looked at; absent where the record had no room for it, or is older. */
  readonly asked?: RecordedRequest;
}
