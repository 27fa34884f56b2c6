/** The same month under several ways of estimating, each in its own thread. This file is also what the threads run. */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { EstimateBasis } from '../rulebook/asked-claims.ts';
import { drawWorkload } from './draw.ts';
import { type MonthResult, simulateMonth } from './month.ts';
import type { WorkloadShape } from './shape.ts';

interface ArmInput {
  readonly shape: WorkloadShape;
  readonly estimate: EstimateBasis;
}

type ArmMessage = { readonly day: number } | { readonly result: MonthResult };

/** Room for a full month: 200 000 records. */
const HEAP_MB = 4_096;
/** The rollup of a larger month takes a minute and more. */
const ROLLED_UP_JOBS_MAX = 50_000;

/** @param onDay - called after each simulated day of an arm. @throws what a thread threw */
export const runArms = (
  shape: WorkloadShape,
  estimates: readonly EstimateBasis[],
  onDay: (estimate: EstimateBasis, day: number) => void,
): Promise<readonly MonthResult[]> =>
  Promise.all(estimates.map((estimate) => runArm({ shape, estimate }, (day) => onDay(estimate, day))));

function runArm(input: ArmInput, onDay: (day: number) => void): Promise<MonthResult> {
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  return new Promise<MonthResult>((resolve, reject) => {
    worker.on('message', (message: ArmMessage) => {
      if ('day' in message) onDay(message.day);
      else resolve(message.result);
    });
    worker.on('error', reject);
    worker.on('exit', (code) =>
      reject(new Error(`the thread of estimate "${input.estimate}" ended with code ${code} and no result`)),
    );
  });
}

if (!isMainThread) {
  const { shape, estimate } = workerData as ArmInput;
  const post = (message: ArmMessage): void => parentPort?.postMessage(message);
  const result = await simulateMonth({
    ...{ workload: drawWorkload(shape), estimate },
    rollsUp: estimate === 'history' && shape.jobs <= ROLLED_UP_JOBS_MAX,
    onDay: (day) => post({ day }),
  });
  post({ result });
}
