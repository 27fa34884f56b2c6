import type { Figure } from './figure.ts';

/**
 * The parts of the bench, loaded only by the process that measures them: what another part brings along would be in
 * the same heap.
 */
export const BENCH_PARTS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  contention: async () => (await import('./contention.ts')).contentionFigures(),
  open: async () => (await import('./open-loop-bench.ts')).openLoopFigures(),
  policy: async () => (await import('./policy-speed.ts')).policyFigures(),
  cost: async () => (await import('./cost/cost-bench.ts')).costFigures(),
  cold: async () => (await import('./cold-start.ts')).coldStartFigures(),
  exchanges: async () => (await import('./exchanges.ts')).exchangeFigures(),
  path: async () => (await import('./whole-path.ts')).pathFigures(),
  memory: async () => [await (await import('./memory.ts')).memoryFigure()],
};
