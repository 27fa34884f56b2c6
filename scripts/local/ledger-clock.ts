/**
 * What time it is in the ledger of this machine. The jobs of `npm start` live faster than we do, so its books are hours ahead
 * by the evening; whoever asks them from another terminal means their time.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../policies/document/reading.ts';

/** As the program wrote it that has the ledger open, or had it last. */
interface LedgerClockNote {
  /** The GitLab whose books go by it. */
  readonly instance: string;
  /** What it showed at `realMs`, both Unix ms. */
  readonly atMs: number;
  readonly realMs: number;
  /** How many times as fast as ours it goes while that program runs; afterwards it stands until ours has caught up. */
  readonly pace: number;
  /** That program. */
  readonly pid: number;
}

const FILE = 'clock.json';

/** Undefined: nobody wrote one, or it cannot be read. */
export function readLedgerClock(dataDir: string): LedgerClockNote | undefined {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) return undefined;
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(read) || typeof read.instance !== 'string') return undefined;
    const numbers = [read.atMs, read.realMs, read.pace, read.pid];
    if (!numbers.every(Number.isFinite)) return undefined;
    const [atMs = 0, realMs = 0, pace = 0, pid = 0] = numbers.map(Number);
    return { instance: read.instance, atMs, realMs, pace, pid };
  } catch {
    return undefined;
  }
}

/** Beside the database's own files, so that they are forgotten together. */
export function writeLedgerClock(dataDir: string, note: LedgerClockNote): void {
  if (existsSync(dataDir)) writeFileSync(join(dataDir, FILE), `${JSON.stringify(note)}\n`);
}

/** The ledger's time, never behind ours. @param isAlive - of the program that wrote it */
export function ledgerNowMs(
  { atMs, realMs, pace }: LedgerClockNote,
  nowMs: number,
  isAlive: boolean,
): number {
  const shownMs = isAlive ? atMs + Math.max(0, nowMs - realMs) * pace : atMs;
  return Math.max(nowMs, Math.round(shownMs));
}

/** Whether there is a program of this id. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
