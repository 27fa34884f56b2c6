import type { Figure } from './figure.ts';

/**
 * The parts of the bench, loaded only by the process that measures them: what another part brings along would be in
 * the same heap.
 */
export const BENCH_PARTS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  contention: async () => (await import('./contention.ts')).contentionFigures(),
  shared: async () => (await import('./shared-limits.ts')).sharedFigures(),
  open: async () => (await import('./open-loop-bench.ts')).openLoopFigures(),
  settlement: async () => (await import('./settlement.ts')).settlementFigures(),
  reading: async () => (await import('./reading.ts')).readingFigures(),
  burst: async () => [await (await import('./burst.ts')).burstFigure()],
  policy: async () => (await import('./policy-speed.ts')).policyFigures(),
  load: async () => (await import('./load-speed.ts')).loadFigures(),
  csv: async () => (await import('./csv-bench.ts')).csvFigures(),
  limits: async () => (await import('./limits-desk-bench.ts')).limitsDeskFigures(),
  estimate: async () => (await import('./estimate-bench.ts')).estimateFigures(),
  sweep: async () => (await import('./sweep-bench.ts')).sweepFigures(),
  cost: async () => (await import('./cost/cost-bench.ts')).costFigures(),
  console: async () => (await import('./console-bench.ts')).consoleFigures(),
  desk: async () => (await import('./desk-bench.ts')).deskFigures(),
  cold: async () => (await import('./cold-start.ts')).coldStartFigures(),
  exchanges: async () => (await import('./exchanges.ts')).exchangeFigures(),
  path: async () => (await import('./whole-path.ts')).pathFigures(),
  books: async () => (await import('./books.ts')).booksFigures(),
  memory: async () => [await (await import('./memory.ts')).memoryFigure()],
};
