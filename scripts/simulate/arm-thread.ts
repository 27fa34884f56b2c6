/** One arm in its thread: see arms.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ArmInput, ArmMessage } from './arms.ts';
import { workloadOf } from './draw-workload.ts';
import { simulateMonth } from './month.ts';

const ON_LEDGERS_TABLE_JOBS_MAX = 50_000;

const { shape, estimate } = workerData as ArmInput;
const say = (message: ArmMessage): void => parentPort?.postMessage(message);
const workload = workloadOf(shape);
const result = await simulateMonth({
  workload,
  estimate,
  // The product's own month is run on the ledger's table, what it is compared with on a faster one; a test says that a month
  // is the same on both. A month of hundreds of thousands of jobs would take a minute and more, so it is all on the fast one.
  table: estimate === 'history' && workload.jobs.length <= ON_LEDGERS_TABLE_JOBS_MAX ? 'memory' : 'objects',
  onDay: (day) => say({ kind: 'day', day }),
});
say({ kind: 'done', result });
