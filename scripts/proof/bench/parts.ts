import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { startProcess } from './processes.ts';

/** Loaded only by the process that measures the part: another part's code would share its heap. */
export const BENCH_PARTS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  contention: async () => (await import('./contention.ts')).contentionFigures(),
  open: async () => (await import('./contention.ts')).openLoopFigures(),
  policy: async () => (await import('./policy-speed.ts')).policyFigures(),
  cost: async () => (await import('./cost.ts')).costFigures(),
  cold: async () => (await import('./cold-start.ts')).coldStartFigures(),
  path: async () => (await import('./path.ts')).pathFigures(),
  guards: async () => (await import('./guards.ts')).guardFigures(),
  memory: async () => (await import('./memory.ts')).memoryFigures(),
};

export async function measurePart(name: string): Promise<readonly Figure[]> {
  const child = startProcess(fileURLToPath(import.meta.url), [name]);
  try {
    return await child.next<readonly Figure[]>();
  } catch (cause) {
    throw new Error(`the part "${name}" could not be measured`, { cause });
  } finally {
    child.stop();
  }
}

if (import.meta.main) {
  process.on('disconnect', () => process.exit(1));
  const measure = BENCH_PARTS[process.argv[2] ?? ''];
  if (measure === undefined) throw new TypeError(`no part "${process.argv[2]}"`);
  process.send?.(await measure());
}
