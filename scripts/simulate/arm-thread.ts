/** One arm in its thread: see arms.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ArmInput, ArmMessage } from './arms.ts';
import { workloadOf } from './draw-workload.ts';
import { simulateMonth } from './month.ts';

const { shape, estimate } = workerData as ArmInput;
const say = (message: ArmMessage): void => parentPort?.postMessage(message);
const result = await simulateMonth({
  workload: workloadOf(shape),
  estimate,
  // The product's own month is run on the ledger's table, what it is compared with on a faster one.
  table: estimate === 'history' ? 'memory' : 'objects',
  onDay: (day) => say({ kind: 'day', day }),
});
say({ kind: 'done', result });
