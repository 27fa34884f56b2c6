import { fileURLToPath } from 'node:url';
import { type Figure, reached } from './figure.ts';
import { startProcess } from './processes.ts';

/** Loaded only by the process that measures the part: another part's code would share its heap. */
export const BENCH_PARTS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  contention: async () => (await import('./contention.ts')).contentionFigures(),
  open: async () => (await import('./contention.ts')).openLoopFigures(),
  policy: async () => (await import('./policy-speed.ts')).policyFigures(),
  cost: async () => (await import('./cost.ts')).costFigures(),
  cold: async () => (await import('./cold-start.ts')).coldStartFigures(),
  tunnel: async () => (await import('./tunnel.ts')).tunnelFigures(),
  path: async () => (await import('./path.ts')).pathFigures(),
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

const TRIES = 3;
const isMissedRatio = (figure: Figure): boolean => figure.kind === 'ratio' && !reached(figure);

/**
 * Measures a part. If it misses a ratio, measures twice more and takes the median of the three for each ratio: a busy
 * machine spoils one measurement, slower code spoils most. Counts are the same every time.
 */
export async function medianOfTries(measure: () => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
  const tries = [await measure()];
  const [first = []] = tries;
  while (first.some(isMissedRatio) && tries.length < TRIES) tries.push(await measure());
  return first.map((figure, index) => {
    const worst = 'atLeast' in figure.must ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const rank = ({ value }: Figure): number => (Number.isNaN(value) ? worst : value);
    const sorted = tries.flatMap((each) => each[index] ?? []).sort((a, b) => rank(a) - rank(b));
    return figure.kind === 'ratio' ? (sorted[Math.floor(sorted.length / 2)] ?? figure) : figure;
  });
}

if (import.meta.main) {
  process.on('disconnect', () => process.exit(1));
  const measure = BENCH_PARTS[process.argv[2] ?? ''];
  if (measure === undefined) throw new TypeError(`no part "${process.argv[2]}"`);
  process.send?.(await measure());
}
