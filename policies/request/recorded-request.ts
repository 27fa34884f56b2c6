import type { Placement } from '../place/placement.ts';
import {
  type FilledFact,
  type JobFacts,
  RECORDED_AS_SENT,
  type RecordedRequest,
  type RecordedService,
  type RecordedVariables,
  SERVICE_AS_SENT,
} from './recorded.ts';
import type { AdmissionRequest, ServiceRequest } from './request.ts';

type Labels = Pick<JobFacts, 'jobName' | 'projectPath'>;

/** @param labels - as the facts have them, perhaps cut. */
export function recordedRequestOf(
  request: AdmissionRequest,
  placement: Placement,
  labels: Labels,
): RecordedRequest {
  const { services, variables, hiddenVariables, jobName } = request;
  const filled = filledOf(request, placement);
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

/**
 * The question again, as far as it was recorded. `variables` are there only if there were none to lose: where they are
 * absent, see {@link RecordedRequest.variables} for whether GitLab sent some.
 */
export function requestOfRecord(jobId: number, facts: JobFacts, recorded: RecordedRequest): AdmissionRequest {
  const filled = new Set(recorded.filled);
  const sent = <Value>(name: FilledFact, value: Value | undefined): Value | undefined =>
    filled.has(name) ? undefined : value;
  const jobName = recorded.jobName ?? facts.jobName;
  const projectPath = sent('projectPath', recorded.projectPath ?? facts.projectPath);
  const namespaceId = sent('namespaceId', facts.groupId);
  const rootNamespaceId = sent('rootNamespaceId', facts.rootId);
  const timeoutSeconds = sent('timeoutSeconds', facts.timeoutSeconds);
  return {
    jobId,
    ...picked(facts, ['projectId', 'pipelineId', 'userId']),
    ...(jobName !== undefined && { jobName }),
    ...(projectPath !== undefined && { projectPath }),
    ...(namespaceId !== undefined && { namespaceId }),
    ...(rootNamespaceId !== undefined && { rootNamespaceId }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...picked(recorded, RECORDED_AS_SENT),
    ...(recorded.services !== undefined && { services: recorded.services.map(serviceOf) }),
    ...(recorded.variables === 'none' && { variables: {} }),
  };
}

/** Whether some variable, of the job or of a service, was set and is not known any more. */
export const variablesLost = ({ variables, services = [] }: RecordedRequest): boolean =>
  variables === 'some' || services.some((service) => service.variables === 'some');

function filledOf(request: AdmissionRequest, placement: Placement): FilledFact[] {
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

const serviceOf = (service: RecordedService): ServiceRequest => ({
  name: service.name,
  ...picked(service, SERVICE_AS_SENT),
  ...(service.variables === 'none' && { variables: {} }),
});

type Present<Shape, Key extends keyof Shape> = { [Name in Key]?: Exclude<Shape[Name], undefined> };

/** The fields of a list that are there. */
function picked<Shape extends object, Key extends keyof Shape>(
  from: Shape,
  keys: readonly Key[],
): Present<Shape, Key> {
  const found: Partial<Record<Key, unknown>> = {};
  for (const key of keys) if (from[key] !== undefined) found[key] = from[key];
  return found as Present<Shape, Key>;
}
