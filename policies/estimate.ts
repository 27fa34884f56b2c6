import type { EstimateSettings } from './policy.ts';
import type { AdmissionRequest } from './request/request.ts';

/** How long a job will run, in whole seconds, rounded up. Pure: what it needs to know was given to it when it was made. */
export interface Estimator {
  estimateSeconds(request: AdmissionRequest, settings: EstimateSettings): number;
}

/** The configured default, or the job's own timeout where that is shorter: the longest such a job can take. */
export const timeoutEstimator: Estimator = {
  estimateSeconds: (request, settings) =>
    Math.min(timeoutSeconds(request, settings), settings.defaultSeconds),
};

/** A timeout of 0 is GitLab's way of saying nothing. */
export const timeoutSeconds = (request: AdmissionRequest, settings: EstimateSettings): number =>
  request.timeoutSeconds === undefined || request.timeoutSeconds <= 0
    ? settings.timeoutSeconds
    : request.timeoutSeconds;
