/** The same month under several ways of estimating, each in a thread of its own: they share nothing but the workload. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { EstimateName } from './estimators.ts';
import type { MonthResult } from './month.ts';
import type { WorkloadShape } from './workload.ts';

export interface ArmInput {
  readonly shape: WorkloadShape;
  readonly estimate: EstimateName;
}

export type ArmMessage =
  | { readonly kind: 'day'; readonly day: number }
  | { readonly kind: 'done'; readonly result: MonthResult };

/** A simulated day takes seconds; far beyond that it hangs, also on a machine that has other things to do. */
const DAY_TIMEOUT_MS = 10 * 60_000;
/** Room for a full month's table: 200 000 records and what is being written. */
const HEAP_MB = 4_096;

/** @param onDay - told how many simulated days an arm has behind it. @throws what a thread threw. */
export const runArms = (
  shape: WorkloadShape,
  estimates: readonly EstimateName[],
  onDay: (estimate: EstimateName, day: number) => void,
): Promise<readonly MonthResult[]> =>
  Promise.all(estimates.map((estimate) => runArm({ shape, estimate }, (day) => onDay(estimate, day))));

function runArm(input: ArmInput, onDay: (day: number) => void): Promise<MonthResult> {
  const worker = new Worker(fileURLToPath(new URL('./arm-thread.ts', import.meta.url)), {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  return new Promise<MonthResult>((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(new Error(`a day of the month with estimate "${input.estimate}" took more than 10 minutes`)),
      DAY_TIMEOUT_MS,
    );
    worker.on('message', (message: ArmMessage) => {
      timer.refresh();
      if (message.kind === 'day') onDay(message.day);
      else resolve(message.result);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the thread of estimate "${input.estimate}" ended with code ${code} and no result`));
    });
  }).finally(() => worker.terminate());
}
