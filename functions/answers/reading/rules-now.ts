import { historyEstimator } from '../../../policies/estimate/history-estimator.ts';
import type { Estimator } from '../../../policies/estimate.ts';
import type { EvaluationContext } from '../../../policies/evaluate.ts';
import type { ReadContext } from './reading.ts';
import { NOWHERE, type Places } from './scope.ts';

interface RulesNow {
  readonly rules: Omit<EvaluationContext, 'estimator'> & Pick<Places, 'directory'>;
  readonly places: Places;
  /** By the last runs of a project's jobs. @throws {LedgerError} */
  readonly estimatorOf: (projectId: number | undefined) => Promise<Estimator>;
}

/**
 * Reads what the admit function decides by: the policy, the live limits with what was carried over, and the groups as last
 * synced. @throws {LimitsError} {DirectoryError}
 */
export async function rulesNow({ limits, places, policy, clock, usage }: ReadContext): Promise<RulesNow> {
  const [current, known = NOWHERE] = await Promise.all([limits(), places()]);
  return {
    rules: { policy, limits: current.limits, directory: known.directory, nowMs: clock.nowMs() },
    places: known,
    estimatorOf: async (projectId) => {
      const stored = projectId === undefined ? [] : await usage.readEstimates([projectId]);
      return historyEstimator(() => stored[0]?.history);
    },
  };
}
