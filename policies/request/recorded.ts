import type { Placement } from '../placement.ts';
import { withoutAbsent } from '../without-absent.ts';
import type { AdmissionRequest, ServiceRequest } from './request.ts';

const SERVICE_AS_SENT = ['pullPolicies', 'dockerUser', 'kubernetesUser'] as const;
const RECORDED_AS_SENT = [
  ...SERVICE_AS_SENT,
  ...(['image', 'ref', 'refProtected', 'pipelineSource', 'mergeRequestId', 'scheduleDigest'] as const),
  ...(['byBot', 'environment', 'projectVisibility', 'jobTags', 'runnerTags'] as const),
  ...(['runnerId', 'suspicious'] as const),
] as const;

/** Fields that rules read, so that they can be evaluated again. Values of variables are never stored. */
export interface RecordedRequest extends Pick<AdmissionRequest, (typeof RECORDED_AS_SENT)[number]> {
  readonly services?: readonly RecordedService[];
  readonly variables?: RecordedVariables;
  /** Facts that GitLab did not send: the directory or a default of the policy stood in. */
  readonly filled?: readonly FilledFact[];
  readonly jobName?: string;
  readonly projectPath?: string;
}

export interface RecordedService extends Pick<ServiceRequest, 'name' | (typeof SERVICE_AS_SENT)[number]> {
  readonly variables?: RecordedVariables;
}

/** `none`: sent, and none was set that a rule may read. */
type RecordedVariables = 'none' | 'some';

export type FilledFact = 'namespaceId' | 'rootNamespaceId' | 'projectPath' | 'timeoutSeconds';

export type RanOutcome = 'success' | 'failed' | 'canceled';

export interface JobFacts {
  readonly jobName?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly rootId?: number;
  readonly groupId?: number;
  /** Groups above the job at its decision, root first. If all were known, the last one is its own. */
  readonly groupIds?: readonly number[];
  readonly pipelineId?: number;
  readonly userId?: number;
  /** Stands for the user from 90 days after the job: the same for all jobs of a user in a year. */
  readonly userPseudonym?: string;
  readonly runnerClass: string;
  readonly estimateSeconds: number;
  readonly costMicros: number;
  /** Settlement uses the price of the admission, even if prices change. */
  readonly microsPerMinute: number;
  readonly round?: 'minute';
  readonly priceVersion: string;
  readonly policyVersion: string;
  /** Due = hold + timeout + 15 min. The policy's where GitLab sent none. */
  readonly timeoutSeconds: number;
  readonly timeoutAssumed?: true;
  /** The runner in GitLab's job end. Absent if the admission request named the same. */
  readonly runnerId?: number;
  readonly outcome?: RanOutcome;
  readonly retryCount?: number;
  readonly queuedSeconds?: number;
  readonly asked?: RecordedRequest;
}

type Labels = Pick<JobFacts, 'jobName' | 'projectPath'>;

export function recordedRequestOf(
  request: AdmissionRequest,
  placement: Placement,
  labels: Labels,
): RecordedRequest {
  const { services, variables, hiddenVariables, jobName } = request;
  const filled = listFilled(request, placement);
  const { projectPath } = placement;
  return {
    ...picked(request, RECORDED_AS_SENT),
    ...(services !== undefined && { services: services.map(recordedService) }),
    ...(variables !== undefined && { variables: recordedVariables(variables, hiddenVariables) }),
    ...(filled.length > 0 && { filled }),
    ...(jobName !== undefined && jobName !== labels.jobName && { jobName }),
    ...(projectPath !== undefined && projectPath !== labels.projectPath && { projectPath }),
  };
}

/** The request as far as it was recorded. `variables` are there only if there were none to lose. */
export function requestOfRecord(jobId: number, facts: JobFacts, recorded: RecordedRequest): AdmissionRequest {
  const filled = new Set(recorded.filled);
  const sent = <Value>(name: FilledFact, value: Value | undefined): Value | undefined =>
    filled.has(name) ? undefined : value;
  return {
    jobId,
    ...picked(facts, ['projectId', 'pipelineId', 'userId']),
    ...withoutAbsent({
      jobName: recorded.jobName ?? facts.jobName,
      projectPath: sent('projectPath', recorded.projectPath ?? facts.projectPath),
      namespaceId: sent('namespaceId', facts.groupId),
      rootNamespaceId: sent('rootNamespaceId', facts.rootId),
      timeoutSeconds: sent('timeoutSeconds', facts.timeoutSeconds),
    }),
    ...picked(recorded, RECORDED_AS_SENT),
    ...(recorded.services !== undefined && { services: recorded.services.map(restoreService) }),
    ...(recorded.variables === 'none' && { variables: {} }),
  };
}

export const hasLostVariables = ({ variables, services = [] }: RecordedRequest): boolean =>
  variables === 'some' || services.some((service) => service.variables === 'some');

function listFilled(request: AdmissionRequest, placement: Placement): FilledFact[] {
  const { namespaceId, rootNamespaceId, projectPath, timeoutSeconds } = request;
  const filled: FilledFact[] = [];
  if (namespaceId === undefined && placement.groupId !== undefined) filled.push('namespaceId');
  if (rootNamespaceId === undefined && placement.ancestors.length > 0) filled.push('rootNamespaceId');
  if (projectPath === undefined && placement.projectPath !== undefined) filled.push('projectPath');
  if (timeoutSeconds === undefined || timeoutSeconds <= 0) filled.push('timeoutSeconds');
  return filled;
}

const recordedVariables = (
  variables: Readonly<Record<string, string>>,
  hidden: readonly string[] = [],
): RecordedVariables => {
  if (hidden.length > 0) return 'some';
  for (const _ in variables) return 'some';
  return 'none';
};

const recordedService = (service: ServiceRequest): RecordedService => ({
  name: service.name,
  ...picked(service, SERVICE_AS_SENT),
  ...(service.variables !== undefined && { variables: recordedVariables(service.variables) }),
});

const restoreService = (service: RecordedService): ServiceRequest => ({
  name: service.name,
  ...picked(service, SERVICE_AS_SENT),
  ...(service.variables === 'none' && { variables: {} }),
});

/** A job passes here before it is decided: faster than entries. */
function picked<Shape extends object, Key extends keyof Shape>(from: Shape, keys: readonly Key[]) {
  const found: Partial<Record<Key, unknown>> = {};
  for (const key of keys) if (from[key] !== undefined) found[key] = from[key];
  return found as { [Name in Key]?: Exclude<Shape[Name], undefined> };
}
