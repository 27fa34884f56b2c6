import type { ProjectHistory } from '../../../policies/run-history.ts';
import { type BatchGetDeps, batchGet } from '../store/calls.ts';
import { decodeEstimates, estimatesKey } from './estimates-item.ts';

export interface EstimateSource {
  /** One batch read; projects without a history are left out. @throws errors of the table's client. */
  read(
    projectIds: readonly number[],
    options: { readonly timeoutMs: number },
  ): Promise<ReadonlyMap<number, ProjectHistory>>;
}

export const dynamoEstimateSource = (deps: BatchGetDeps & { readonly instance: string }): EstimateSource => ({
  async read(projectIds, { timeoutMs }) {
    const keys = projectIds.map((projectId) => estimatesKey(deps.instance, projectId));
    const items = await batchGet(keys, timeoutMs, deps, { consistent: false });
    return new Map(
      projectIds.flatMap((projectId, index) => {
        const item = items[index];
        return item === undefined ? [] : [[projectId, decodeEstimates(item).history] as const];
      }),
    );
  },
});
