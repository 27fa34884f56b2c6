import type { Job } from './checked-job.ts';
import { sentTimeoutSeconds, timeoutSeconds } from './estimate.ts';
import type { Policy } from './policy.ts';
import type { JobFacts } from './request/recorded.ts';
import { recordedRequestOf } from './request/recorded-request.ts';

/** The record must stay below 1 KB, whatever people call their jobs. */
const JOB_NAME_CHARACTERS_MAX = 120;
const PATH_CHARACTERS_MAX = 240;

export function factsOf(job: Job, policy: Policy): JobFacts {
  const { request, placement, runnerClass, price } = job;
  const { projectId, projectPath, groupId, userId } = placement;
  const groupIds = placement.ancestors.map(({ id }) => id);
  const [rootId] = groupIds;
  const labels = {
    ...(request.jobName !== undefined && { jobName: request.jobName.slice(0, JOB_NAME_CHARACTERS_MAX) }),
    ...(projectPath !== undefined && { projectPath: projectPath.slice(0, PATH_CHARACTERS_MAX) }),
  };
  return {
    ...labels,
    ...(projectId !== undefined && { projectId }),
    ...(rootId !== undefined && { rootId }),
    ...(groupId !== undefined && { groupId }),
    ...(groupIds.length > 0 && { groupIds }),
    ...(request.pipelineId !== undefined && { pipelineId: request.pipelineId }),
    ...(userId !== undefined && { userId }),
    runnerClass: runnerClass.name,
    estimateSeconds: job.estimateSeconds,
    costMicros: job.costMicros,
    microsPerMinute: price.microsPerMinute,
    ...(price.round !== undefined && { round: price.round }),
    priceVersion: price.version,
    policyVersion: policy.version,
    timeoutSeconds: timeoutSeconds(request, policy.estimate),
    ...(sentTimeoutSeconds(request) === undefined && { timeoutAssumed: true }),
    asked: recordedRequestOf(request, placement, labels),
  };
}
