import type { Directory } from './directory.ts';
import { type Estimator, timeoutEstimator } from './estimate.ts';
import { type Placement, place } from './placement.ts';
import type { Policy } from './policy.ts';
import { costMicros, type RunnerClass, runnerClassOf } from './price.ts';
import type { AdmissionRequest } from './request.ts';

/** A request with what follows from it before any rule is asked. */
export interface Job {
  readonly request: AdmissionRequest;
  readonly placement: Placement;
  readonly runnerClass: RunnerClass;
  /** How long it is taken to run, whole seconds. */
  readonly estimateSeconds: number;
  readonly costMicros: number;
  readonly nowMs: number;
}

export interface JobWith {
  readonly policy: Policy;
  readonly directory?: Directory | undefined;
  readonly estimator: Estimator;
  readonly nowMs: number;
  /** Told when the estimator failed; the job then takes the plain estimate. */
  readonly onEstimateFailed: (error: unknown) => void;
}

export function jobOf(request: AdmissionRequest, using: JobWith): Job {
  const runnerClass = runnerClassOf(request, using.policy.prices);
  const estimateSeconds = estimateOf(request, using);
  return {
    request,
    placement: place(request, using.directory),
    runnerClass,
    estimateSeconds,
    costMicros: costMicros(runnerClass.microsPerMinute, estimateSeconds),
    nowMs: using.nowMs,
  };
}

function estimateOf(request: AdmissionRequest, { policy, estimator, onEstimateFailed }: JobWith): number {
  try {
    const seconds = Math.ceil(estimator.estimateSeconds(request, policy.estimate));
    if (Number.isSafeInteger(seconds) && seconds >= 0) return seconds;
    onEstimateFailed(new RangeError('an estimate must be a number of seconds from 0'));
  } catch (error) {
    onEstimateFailed(error);
  }
  return timeoutEstimator.estimateSeconds(request, policy.estimate);
}
