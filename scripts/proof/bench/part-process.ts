/** One part of the bench in a process of its own: `measurePart('memory')`. */
import { fileURLToPath } from 'node:url';
import { startBenchProcess, tellParent } from './bench-process.ts';
import type { Figure } from './figure.ts';
import { BENCH_PARTS } from './parts.ts';

/** Measures a part in a fresh process. @throws {Error} if the part fails; it has printed why. */
export async function measurePart(name: string): Promise<readonly Figure[]> {
  const child = startBenchProcess(fileURLToPath(import.meta.url), [name]);
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
  tellParent(await measure());
}
