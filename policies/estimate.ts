import type { RunnerClass } from './price.ts';
import type { AdmissionRequest } from './request/request.ts';
import { estimateOfRuns, historiesOf, type ProjectHistory } from './run-history.ts';

/** Estimates the duration of a job in whole seconds, rounded up. Pure: it gets its history when it is made. */
export interface Estimator {
  estimateSeconds(
    request: AdmissionRequest,
    settings: EstimateSettings,
    runnerClass?: Pick<RunnerClass, 'name' | 'estimateSeconds'>,
  ): number;
}

/** `history`: the last runs, else the default. `timeout`: the longest duration, so that no job costs more than was held. */
export const ESTIMATE_MODES = ['history', 'timeout', 'default'] as const;

export type EstimateMode = (typeof ESTIMATE_MODES)[number];

/** The default of the class or of all, or the job's own timeout where that is shorter. */
export const timeoutEstimator: Estimator = {
  estimateSeconds: (request, settings, runnerClass) =>
    settings.mode === 'timeout'
      ? timeoutSeconds(request, settings)
      : Math.min(timeoutSeconds(request, settings), runnerClass?.estimateSeconds ?? settings.defaultSeconds),
};

/** A timeout of 0 is GitLab's way of saying nothing. */
export const timeoutSeconds = (request: AdmissionRequest, settings: EstimateSettings): number =>
  sentTimeoutSeconds(request) ?? settings.timeoutSeconds;

export const sentTimeoutSeconds = ({ timeoutSeconds: sent = 0 }: AdmissionRequest): number | undefined =>
  sent <= 0 ? undefined : sent;

export interface EstimateSettings {
  readonly defaultSeconds: number;
  readonly timeoutSeconds: number;
  readonly mode?: EstimateMode;
}

/**
 * Estimates by the last runs of (project, job name, runner class), never more than the timeout. Falls back
 * to {@link timeoutEstimator} if the policy says so or there are too few runs. The project comes from the
 * router, so that a job cannot choose another history.
 */
export const historyEstimator = (
  historyOf: (projectId: number) => ProjectHistory | undefined,
): Estimator => ({
  estimateSeconds(request, settings, runnerClass) {
    const plain = timeoutEstimator.estimateSeconds(request, settings, runnerClass);
    const { projectId, jobName } = request;
    const mayLook = settings.mode === undefined || settings.mode === 'history';
    if (!mayLook || projectId === undefined || jobName === undefined || runnerClass === undefined)
      return plain;
    const project = historyOf(projectId);
    if (project === undefined) return plain;
    for (const history of historiesOf(project, jobName, runnerClass.name)) {
      const seconds = estimateOfRuns(history);
      if (seconds !== undefined) return Math.min(seconds, timeoutSeconds(request, settings));
    }
    return plain;
  },
});
