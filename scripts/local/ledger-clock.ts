/** Two notes next to the database: the ledger's time, which runs ahead of ours, and the end of the last run. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../policies/document/reading.ts';

/** The clock of the ledger, as the program wrote it that has the ledger open, or had it last. */
interface LedgerClockNote {
  /** The GitLab whose ledger this is. */
  readonly instance: string;
  /** The ledger's time at `realMs`, both Unix ms. */
  readonly atMs: number;
  readonly realMs: number;
  /** Speed relative to ours while that program runs. Afterwards the clock stands until ours has caught up. */
  readonly pace: number;
  /** The process that wrote the note. */
  readonly pid: number;
}

/** The end of the last run in this folder: its time ran ahead of ours, and its job ids are taken. */
interface LeftOff {
  /** On the jobs' clock, Unix ms. */
  readonly atMs: number;
  /** The last job id that is taken. */
  readonly jobId: number;
}

const CLOCK_FILE = 'clock.json';
const LEFT_OFF_FILE = 'left-off.json';

/** Returns undefined if there is no note, or none that can be read. */
export function readLedgerClock(dataDir: string): LedgerClockNote | undefined {
  const { instance, ...read } = readNote(dataDir, CLOCK_FILE);
  const numbers = [read.atMs, read.realMs, read.pace, read.pid];
  if (typeof instance !== 'string' || !numbers.every(Number.isFinite)) return undefined;
  const [atMs = 0, realMs = 0, pace = 0, pid = 0] = numbers.map(Number);
  return { instance, atMs, realMs, pace, pid };
}

export function writeLedgerClock(dataDir: string, note: LedgerClockNote): void {
  if (existsSync(dataDir)) writeNote(dataDir, CLOCK_FILE, note);
}

/** Returns undefined if there was no run, or its note cannot be read. */
export function readLeftOff(dataDir: string): LeftOff | undefined {
  const { atMs, jobId } = readNote(dataDir, LEFT_OFF_FILE);
  if (!Number.isSafeInteger(atMs) || !Number.isSafeInteger(jobId)) return undefined;
  return { atMs: Number(atMs), jobId: Number(jobId) };
}

export const writeLeftOff = (dataDir: string, leftOff: LeftOff): void =>
  writeNote(dataDir, LEFT_OFF_FILE, leftOff);

/** The ledger's time, never behind ours. @param isAlive - true if the program that wrote the note runs */
export function ledgerNowMs(
  { atMs, realMs, pace }: LedgerClockNote,
  nowMs: number,
  isAlive: boolean,
): number {
  const shownMs = isAlive ? atMs + Math.max(0, nowMs - realMs) * pace : atMs;
  return Math.max(nowMs, Math.round(shownMs));
}

/** Returns true if a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function readNote(dataDir: string, name: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(readFileSync(join(dataDir, name), 'utf8'));
    return isRecord(read) ? read : {};
  } catch {
    return {};
  }
}

const writeNote = (dataDir: string, name: string, note: object): void =>
  writeFileSync(join(dataDir, name), `${JSON.stringify(note)}\n`);
