import type { CheckedJob, Job } from './checked-job.ts';
import type { Directory } from './directory.ts';
import { type Estimator, sentTimeoutSeconds, timeoutEstimator, timeoutSeconds } from './estimate.ts';
import { placementOf } from './placement.ts';
import type { Policy } from './policy.ts';
import { costMicros, isUnclassed, jobPriceOf, pricesAt, type RunnerClass, runnerClassOf } from './price.ts';
import { type JobFacts, recordedRequestOf } from './request/recorded.ts';
import type { AdmissionRequest } from './request/request.ts';
import { withoutAbsent } from './without-absent.ts';

export interface CheckContext {
  readonly policy: Policy;
  readonly directory?: Directory | undefined;
  readonly nowMs: number;
}

interface JobWith extends CheckContext {
  readonly estimator: Estimator;
  readonly onEstimateFailed: (error: unknown) => void;
}

export function checkedJobOf(request: AdmissionRequest, using: CheckContext): CheckedJob {
  const prices = pricesAt(using.policy.prices, using.nowMs);
  const runnerClass = runnerClassOf(request, prices);
  return {
    request,
    placement: placementOf(request, using.directory),
    runnerClass,
    unclassed: isUnclassed(request, prices, runnerClass),
    nowMs: using.nowMs,
  };
}

export function jobOf(request: AdmissionRequest, using: JobWith): Job {
  const job = checkedJobOf(request, using);
  const estimateSeconds = estimateOrDefault(request, job.runnerClass, using);
  const price = jobPriceOf(request, job.runnerClass, pricesAt(using.policy.prices, using.nowMs).version);
  return {
    ...job,
    estimateSeconds,
    costMicros: costMicros(price.microsPerMinute, estimateSeconds, price.round),
    price,
  };
}

function estimateOrDefault(
  request: AdmissionRequest,
  runnerClass: RunnerClass,
  { policy, estimator, onEstimateFailed }: JobWith,
): number {
  try {
    const seconds = Math.ceil(estimator.estimateSeconds(request, policy.estimate, runnerClass));
    if (Number.isSafeInteger(seconds) && seconds >= 0) return seconds;
    onEstimateFailed(new RangeError('an estimate must be a number of seconds from 0'));
  } catch (error) {
    onEstimateFailed(error);
  }
  return timeoutEstimator.estimateSeconds(request, policy.estimate, runnerClass);
}

const JOB_NAME_CHARACTERS_MAX = 120;
const PATH_CHARACTERS_MAX = 240;

export function factsOf(job: Job, policy: Policy): JobFacts {
  const { request, placement, runnerClass, price } = job;
  const { projectId, projectPath, groupId, userId } = placement;
  const groupIds = placement.ancestors.map(({ id }) => id);
  const labels = withoutAbsent({
    jobName: request.jobName?.slice(0, JOB_NAME_CHARACTERS_MAX),
    projectPath: projectPath?.slice(0, PATH_CHARACTERS_MAX),
  });
  return {
    ...labels,
    ...withoutAbsent({ projectId, rootId: groupIds[0], groupId, pipelineId: request.pipelineId, userId }),
    ...(groupIds.length > 0 && { groupIds }),
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
