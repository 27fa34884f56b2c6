import type { RollupStore } from '../../functions/core/usage/index.ts';

/** The same store, which lets others go first: every call waits for its turn. */
export const politeRollupStore = (inner: RollupStore, turn: () => Promise<void>): RollupStore => {
  const after = async <T>(call: () => Promise<T>): Promise<T> => {
    await turn();
    return call();
  };
  return {
    readContributions: (jobIds, consistency) => after(() => inner.readContributions(jobIds, consistency)),
    commit: (writes) => after(() => inner.commit(writes)),
    readUsage: (keys) => after(() => inner.readUsage(keys)),
    readEstimates: (projectIds, consistency) => after(() => inner.readEstimates(projectIds, consistency)),
    writeEstimates: (projectId, estimates, nowMs) =>
      after(() => inner.writeEstimates(projectId, estimates, nowMs)),
    readTop: (keys, consistency) => after(() => inner.readTop(keys, consistency)),
    writeTop: (top) => after(() => inner.writeTop(top)),
    readRejections: (subjects, consistency) => after(() => inner.readRejections(subjects, consistency)),
    writeRejections: (latest) => after(() => inner.writeRejections(latest)),
  };
};
