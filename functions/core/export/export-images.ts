/** A batch of the table's stream → one object outside the table. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LedgerClock, Log } from '../environment/index.ts';
import { type ExportedImage, exportedImages } from './exported-image.ts';

export interface ExportDeps {
  readonly instance: string;
  readonly objects: ObjectStore;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

export interface ObjectStore {
  /** Writes an object, again if need be. @throws {Error} it may be written or not. */
  put(name: string, bytes: Uint8Array): Promise<void>;
}

export interface ExportResult {
  /** Sequence numbers to be delivered again. */
  readonly again: readonly string[];
  /** Images that were given up. */
  readonly lost: number;
}

/**
 * A bucket that does not answer holds usage and thresholds up no longer than this. After that, what is missing outside the table
 * is counted.
 */
const PATIENCE_MS = 10 * 60_000;
const NOTHING: ExportResult = { again: [], lost: 0 };
const compressed = promisify(gzip);

/**
 * A repeated batch writes the same object again. Other cuts of a batch repeat lines, which the version in
 * each item identifies.
 */
export async function exportImages(event: unknown, deps: ExportDeps): Promise<ExportResult> {
  const images = exportedImages(event, deps.instance);
  const [first] = images;
  if (first === undefined) return NOTHING;
  try {
    const bytes = await compressed(images.map(({ line }) => `${line}\n`).join(''));
    await deps.objects.put(nameOf(images, first), bytes);
    return NOTHING;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown failure';
    const young = deps.clock.nowMs() - PATIENCE_MS;
    const again = images.filter(({ writtenAtMs }) => writtenAtMs > young).map(({ sequence }) => sequence);
    deps.log.error('images not exported', {
      images: images.length,
      givenUp: images.length - again.length,
      why,
    });
    return { again, lost: images.length - again.length };
  }
}

/** `v1/2026/11/21/12/<first>-<last>.jsonl.gz`, by the hour of the first: names sort by time. */
function nameOf(images: readonly ExportedImage[], first: ExportedImage): string {
  const [day = '', time = ''] = new Date(first.writtenAtMs).toISOString().split('T');
  const last = images.at(-1) ?? first;
  return `v1/${day.replaceAll('-', '/')}/${time.slice(0, 2)}/${first.sequence}-${last.sequence}.jsonl.gz`;
}
