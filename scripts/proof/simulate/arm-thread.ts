/** One arm in its thread: see arms.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ArmInput, ArmMessage } from './arms.ts';
import { workloadOf } from './draw-workload.ts';
import { simulateMonth } from './month.ts';

/** A larger month takes a minute and more with all of the product's own: then its tables are faster ones, and no usage is rolled up. */
const WITH_EVERYTHING_JOBS_MAX = 50_000;

const { shape, estimate } = workerData as ArmInput;
const say = (message: ArmMessage): void => parentPort?.postMessage(message);
const workload = workloadOf(shape);
// The product's own month is run on the ledger's table, what it is compared with on a faster one; a test says that a month
// is the same on both.
const withEverything = estimate === 'history' && workload.jobs.length <= WITH_EVERYTHING_JOBS_MAX;
const result = await simulateMonth({
  workload,
  estimate,
  table: withEverything ? 'memory' : 'objects',
  rollsUp: withEverything,
  onDay: (day) => say({ kind: 'day', day }),
});
say({ kind: 'done', result });
