/** The run histories of projects: written by the rollup, read and cached by admission. */
import {
  type EstimateSettings,
  type Estimator,
  historyEstimator,
  timeoutEstimator,
} from '../../../policies/estimate.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import {
  decodeHistory,
  encodeHistory,
  NO_HISTORY,
  type ProjectHistory,
} from '../../../policies/run-history.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { type BatchGetDeps, batchGet, itemAt } from '../store/calls.ts';
import { type Key, ROLLUP_SK } from '../store/keys.ts';
import { type Item, TTL_ATTRIBUTE } from '../store/operation.ts';

/** One run changes the p90 of the last twenty little, and a history that is older is used while it is read again. */
const FRESH_MS = 10 * 60_000;
/** A table that does not answer is left alone for so long: estimates are worth no waiting. */
const FAILED_MS = 5_000;
const WAIT_MS_MAX = 150;
const WAIT_SHARE = 1 / 4;
const READ_TIMEOUT_MS = 1_000;
/** One BatchGetItem; a batch of admissions has at most 96 projects. */
const READ_PROJECTS_MAX = 100;
const PROJECTS_MAX = 1_000;

export function createEstimateCache({
  source,
  clock,
}: {
  readonly source: EstimateSource;
  readonly clock: Pick<LedgerClock, 'monotonicMs' | 'sleep'>;
}) {
  const cached = new Map<number, { readonly history: ProjectHistory; readonly freshUntilMs: number }>();
  const reading = new Map<number, Promise<void>>();
  const estimator = historyEstimator((projectId) => cached.get(projectId)?.history);

  const cache = (projectId: number, history: ProjectHistory, forMs: number): void => {
    keepLatest(cached, projectId, { history, freshUntilMs: clock.monotonicMs() + forMs }, PROJECTS_MAX);
  };

  const read = async (projectIds: readonly number[]): Promise<void> => {
    try {
      const found = await source.read(projectIds, { timeoutMs: READ_TIMEOUT_MS });
      for (const projectId of projectIds) cache(projectId, found.get(projectId) ?? NO_HISTORY, FRESH_MS);
    } catch {
      // A history of a minute ago is better than the default.
      for (const projectId of projectIds)
        cache(projectId, cached.get(projectId)?.history ?? NO_HISTORY, FAILED_MS);
    } finally {
      for (const projectId of projectIds) reading.delete(projectId);
    }
  };

  const findDue = (requests: readonly AdmissionRequest[]): ReadonlySet<number> => {
    const nowMs = clock.monotonicMs();
    const due = new Set<number>();
    for (const { projectId } of requests) {
      if (projectId === undefined || due.size === READ_PROJECTS_MAX) continue;
      if (nowMs >= (cached.get(projectId)?.freshUntilMs ?? Number.NEGATIVE_INFINITY)) due.add(projectId);
    }
    return due;
  };

  return {
    /**
     * One batch read at most. Only projects without any history wait for it, within 150 ms and a quarter of the time to
     * `deadlineMs`, and then use the default. Old histories are read again while the transaction, which takes longer, is written.
     */
    async estimatorFor(
      requests: readonly AdmissionRequest[],
      settings: Pick<EstimateSettings, 'mode'>,
      deadlineMs: number,
    ): Promise<Estimator> {
      if (settings.mode !== undefined && settings.mode !== 'history') return timeoutEstimator;
      const due = findDue(requests);
      if (due.size === 0) return estimator;
      const unread = [...due].filter((projectId) => !reading.has(projectId));
      if (unread.length > 0) {
        const done = Promise.resolve().then(() => read(unread));
        for (const projectId of unread) reading.set(projectId, done);
      }
      const unknown = [...due].filter((projectId) => !cached.has(projectId));
      if (unknown.length === 0) return estimator;
      const waitMs = Math.min(WAIT_MS_MAX, (deadlineMs - clock.monotonicMs()) * WAIT_SHARE);
      const arrived = Promise.all(unknown.map((projectId) => reading.get(projectId)));
      await Promise.race([arrived, clock.sleep(Math.max(0, waitMs))]);
      return estimator;
    },
  };
}

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

export const encodeEstimates = (key: Key, { history, rev }: StoredEstimates, nowMs: number): Item =>
  itemAt(key, {
    [HISTORY]: { S: encodeHistory(history) },
    [ESTIMATES_REV]: { N: String(rev) },
    [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs / 1000) + UNUSED_DAYS * 86_400) },
  });

export const decodeEstimates = (item: Item): StoredEstimates => ({
  history: decodeHistory(item[HISTORY]?.S ?? ''),
  rev: Number(item[ESTIMATES_REV]?.N ?? 0),
});

export type EstimateSource = ReturnType<typeof dynamoEstimateSource>;

/** One batch read; projects without a history are left out. */
export const dynamoEstimateSource = (deps: BatchGetDeps & { readonly instance: string }) => ({
  async read(projectIds: readonly number[], { timeoutMs }: { readonly timeoutMs: number }) {
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
