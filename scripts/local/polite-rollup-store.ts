import type { RollupStore } from '../../functions/core/usage/index.ts';

/** The same store, which lets others go first: every call waits for its turn. */
export const politeRollupStore = (inner: RollupStore, turn: () => Promise<void>): RollupStore => {
  const after = async <T>(call: () => Promise<T>): Promise<T> => {
    await turn();
    return call();
  };
  return {
    readContributions: (jobIds) => after(() => inner.readContributions(jobIds)),
    commit: (writes) => after(() => inner.commit(writes)),
    readUsage: (keys) => after(() => inner.readUsage(keys)),
    readEstimates: (projectIds) => after(() => inner.readEstimates(projectIds)),
    writeEstimates: (projectId, estimates, nowMs) =>
      after(() => inner.writeEstimates(projectId, estimates, nowMs)),
    readTop: (keys) => after(() => inner.readTop(keys)),
    writeTop: (top) => after(() => inner.writeTop(top)),
    readRejections: (subjects) => after(() => inner.readRejections(subjects)),
    writeRejections: (latest) => after(() => inner.writeRejections(latest)),
  };
};
