/** The run histories of a project: written by the rollup, read by admission. */
import { decodeHistory, encodeHistory, type ProjectHistory } from '../../../policies/run-history.ts';
import { type BatchGetDeps, batchGet } from '../store/calls.ts';
import { type Key, ROLLUP_SK } from '../store/keys.ts';
import { type Item, PK, SK, TTL_ATTRIBUTE, versioned } from '../store/operation.ts';

/** `gitlab.example.com#estimates#project/1001`, `rollup` */
export const estimatesKey = (instance: string, projectId: number): Key => ({
  pk: `${instance}#estimates#project/${projectId}`,
  sk: ROLLUP_SK,
});

export interface StoredEstimates {
  readonly history: ProjectHistory;
  readonly rev: number;
}

const HISTORY = 'h';
export const ESTIMATES_REV = 'r';
const UNUSED_DAYS = 120;

export function encodeEstimates(key: Key, { history, rev }: StoredEstimates, nowMs: number): Item {
  return {
    [PK]: { S: key.pk },
    [SK]: { S: key.sk },
    ...versioned,
    [HISTORY]: { S: encodeHistory(history) },
    [ESTIMATES_REV]: { N: String(rev) },
    [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs / 1000) + UNUSED_DAYS * 86_400) },
  };
}

export const decodeEstimates = (item: Item): StoredEstimates => ({
  history: decodeHistory(item[HISTORY]?.S ?? ''),
  rev: Number(item[ESTIMATES_REV]?.N ?? 0),
});

export type EstimateSource = ReturnType<typeof dynamoEstimateSource>;

/** One batch read; projects without a history are left out. */
export const dynamoEstimateSource = (deps: BatchGetDeps & { readonly instance: string }) => ({
  async read(
    projectIds: readonly number[],
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<ReadonlyMap<number, ProjectHistory>> {
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
