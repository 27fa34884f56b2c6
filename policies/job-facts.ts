import { timeoutSeconds } from './estimate.ts';
import type { Job } from './job.ts';
import type { Policy } from './policy.ts';
import { type RecordedRequest, recordedRequestOf } from './request/recorded-request.ts';

/** What travels with the ledger's record: for reports, settlement and explanations. */
export interface JobFacts {
  readonly jobName?: string;
  readonly projectId?: number;
  readonly projectPath?: string;
  readonly rootId?: number;
  readonly groupId?: number;
  readonly pipelineId?: number;
  readonly userId?: number;
  readonly runnerClass: string;
  readonly estimateSeconds: number;
  readonly costMicros: number;
  /** Settlement uses the price of the admission, whatever the table says by then. */
  readonly microsPerMinute: number;
  /** A begun minute costs a whole one; absent: its seconds. */
  readonly round?: 'minute';
  readonly priceVersion: string;
  readonly policyVersion: string;
  /** With it, due = hold + timeout + 15 min. Where GitLab sent none, the policy's. */
  readonly timeoutSeconds: number;
  /** What rules looked at; absent where the record had no room for it, or is older. */
  readonly asked?: RecordedRequest;
}

/** The record must stay below 1 KB, whatever people call their jobs. */
const JOB_NAME_CHARACTERS_MAX = 120;
const PATH_CHARACTERS_MAX = 240;

export function factsOf(job: Job, policy: Policy): JobFacts {
  const { request, placement, runnerClass, price } = job;
  const { projectId, projectPath, groupId, userId } = placement;
  const rootId = placement.ancestors[0]?.id;
  const labels = {
    ...(request.jobName !== undefined && { jobName: request.jobName.slice(0, JOB_NAME_CHARACTERS_MAX) }),
    ...(projectPath !== undefined && { projectPath: projectPath.slice(0, PATH_CHARACTERS_MAX) }),
  };
  return {
    ...labels,
    ...(projectId !== undefined && { projectId }),
    ...(rootId !== undefined && { rootId }),
    ...(groupId !== undefined && { groupId }),
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
    asked: recordedRequestOf(request, placement, labels),
  };
}
