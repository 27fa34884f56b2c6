import { type Estimator, timeoutEstimator, timeoutSeconds } from '../estimate.ts';
import { historiesOf, type ProjectHistory } from './project-history.ts';
import { estimateOfRuns } from './run-history.ts';

/**
 * Estimates by the last runs of (project, job name, runner class), never more than the timeout; where the policy does not
 * want that, or too little is known, as {@link timeoutEstimator} says. The project is the one the router named: whoever
 * could forge it could forge whose budget pays, too.
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
