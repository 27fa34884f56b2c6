import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../policies/document/reading.ts';

export const ledgerFolder = (root: string): string => `${root}.tollgate/ledger`;

/** The clock of the ledger and its last job id, as the program wrote it that has the ledger open, or had it last. */
interface LedgerNote {
  readonly instance: string;
  /** The ledger's time at `realMs`, both Unix ms. */
  readonly atMs: number;
  readonly realMs: number;
  /** Speed relative to ours while that program runs. Afterwards the clock stands until ours has caught up. */
  readonly pace: number;
  readonly pid: number;
  readonly jobId: number;
}

const NOTE_FILE = 'clock.json';

export function readLedgerNote(dataDir: string): LedgerNote | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(join(dataDir, NOTE_FILE), 'utf8'));
    if (!isRecord(read) || typeof read.instance !== 'string') return undefined;
    const numbers = [read.atMs, read.realMs, read.pace, read.pid, read.jobId];
    return numbers.every(Number.isFinite) ? (read as unknown as LedgerNote) : undefined;
  } catch {
    return undefined;
  }
}

export function writeLedgerNote(dataDir: string, note: LedgerNote): void {
  if (existsSync(dataDir)) writeFileSync(join(dataDir, NOTE_FILE), `${JSON.stringify(note)}\n`);
}

/** The ledger's time, never behind ours. @param isAlive - true if the program that wrote the note runs */
export function ledgerNowMs({ atMs, realMs, pace }: LedgerNote, nowMs: number, isAlive: boolean): number {
  const shownMs = isAlive ? atMs + Math.max(0, nowMs - realMs) * pace : atMs;
  return Math.max(nowMs, Math.round(shownMs));
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
