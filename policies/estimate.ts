import type { RunnerClass } from './prices/price.ts';
import type { AdmissionRequest } from './request/request.ts';

/** How long a job will run, in whole seconds, rounded up. Pure: what it needs to know was given to it when it was made. */
export interface Estimator {
  estimateSeconds(
    request: AdmissionRequest,
    settings: EstimateSettings,
    runnerClass?: EstimatedClass,
  ): number;
}

/** What an estimate knows of the runner class that will run the job. */
type EstimatedClass = Pick<RunnerClass, 'name' | 'estimateSeconds'>;

/**
 * Where the estimate of a job comes from. `history`: its last runs, the default where there are too few. `default`:
 * never its runs. `timeout`: the longest it can take, so that no job ever costs more than was held.
 */
export const ESTIMATE_MODES = ['history', 'timeout', 'default'] as const;

export type EstimateMode = (typeof ESTIMATE_MODES)[number];

/**
 * Estimates without history: the default of the class or of all, or the job's own timeout where that is shorter (the
 * longest such a job can take); the timeout alone where the policy says so.
 */
export const timeoutEstimator: Estimator = {
  estimateSeconds: (request, settings, runnerClass) =>
    settings.mode === 'timeout'
      ? timeoutSeconds(request, settings)
      : Math.min(timeoutSeconds(request, settings), runnerClass?.estimateSeconds ?? settings.defaultSeconds),
};

/** A timeout of 0 is GitLab's way of saying nothing. */
export const timeoutSeconds = (request: AdmissionRequest, settings: EstimateSettings): number =>
  sentTimeoutSeconds(request) ?? settings.timeoutSeconds;

/** Undefined: GitLab sent none. */
export const sentTimeoutSeconds = ({ timeoutSeconds: sent = 0 }: AdmissionRequest): number | undefined =>
  sent <= 0 ? undefined : sent;

export interface EstimateSettings {
  /** What a job is taken to last when its timeout is longer, or not known. */
  readonly defaultSeconds: number;
  /** A job's timeout where GitLab sends none: GitLab's own default is an hour. */
  readonly timeoutSeconds: number;
  /** Absent: `history`. */
  readonly mode?: EstimateMode;
}
