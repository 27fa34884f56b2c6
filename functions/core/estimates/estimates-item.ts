/** The item of a project's run histories: written by the rollup, read by admission. */
import { decodeHistory, encodeHistory, type ProjectHistory } from '../../../policies/run-history.ts';
import { type Key, ROLLUP_SK } from '../store/keys.ts';
import { type Item, PK, SK, TTL_ATTRIBUTE, versioned } from '../store/operation.ts';

/** `gitlab.example.com#estimates#project/1001`, `rollup` */
export const estimatesKey = (instance: string, projectId: number): Key => ({
  pk: `${instance}#estimates#project/${projectId}`,
  sk: ROLLUP_SK,
});

export interface StoredEstimates {
  readonly history: ProjectHistory;
  /** + 1 with every write; 0: there is no item yet. */
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
