import type { CheckedJob, Job } from './checked-job.ts';
import { type Estimator, timeoutEstimator } from './estimate.ts';
import type { Directory } from './place/directory.ts';
import { place } from './place/placement.ts';
import type { Policy } from './policy.ts';
import { costMicros, isUnclassed, type RunnerClass, runnerClassOf } from './price.ts';
import { jobPriceOf } from './prices/job-price.ts';
import { pricesAt } from './prices/prices-at.ts';
import type { AdmissionRequest } from './request/request.ts';

export interface CheckWith {
  readonly policy: Policy;
  readonly directory?: Directory | undefined;
  readonly nowMs: number;
}

export interface JobWith extends CheckWith {
  readonly estimator: Estimator;
  /** Told when the estimator failed; the job then takes the plain estimate. */
  readonly onEstimateFailed: (error: unknown) => void;
}

export function checkedJobOf(request: AdmissionRequest, using: CheckWith): CheckedJob {
  const prices = pricesAt(using.policy.prices, using.nowMs);
  const runnerClass = runnerClassOf(request, prices);
  return {
    request,
    placement: place(request, using.directory),
    runnerClass,
    unclassed: isUnclassed(request, prices, runnerClass),
    nowMs: using.nowMs,
  };
}

export function jobOf(request: AdmissionRequest, using: JobWith): Job {
  const job = checkedJobOf(request, using);
  const estimateSeconds = estimateOf(request, job.runnerClass, using);
  const price = jobPriceOf(request, job.runnerClass, pricesAt(using.policy.prices, using.nowMs).version);
  return {
    ...job,
    estimateSeconds,
    costMicros: costMicros(price.microsPerMinute, estimateSeconds, price.round),
    price,
  };
}

function estimateOf(
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
