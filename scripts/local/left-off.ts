/** Where the last run in this folder left off: its time went faster than ours, and its job ids are taken. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../policies/document/reading.ts';

interface LeftOff {
  /** On the jobs' clock, Unix ms. */
  readonly atMs: number;
  /** The last one that is taken. */
  readonly jobId: number;
}

const FILE = 'left-off.json';

/** Undefined: nothing ran here, or what it left cannot be read. */
export function readLeftOff(dataDir: string): LeftOff | undefined {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) return undefined;
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(read)) return undefined;
    const { atMs, jobId } = read;
    return Number.isSafeInteger(atMs) && Number.isSafeInteger(jobId)
      ? { atMs: Number(atMs), jobId: Number(jobId) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Next to the database's own files, so that they are forgotten together. */
export const writeLeftOff = (dataDir: string, leftOff: LeftOff): void =>
  writeFileSync(join(dataDir, FILE), `${JSON.stringify(leftOff)}\n`);
