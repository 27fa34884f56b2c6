import type { LedgerStore } from '../../functions/core/ledger/index.ts';

/** What a machine with nothing else to do gets: the demo shows decisions, and nobody's job waits for one. */
const LEAST_MS = 10_000;
const MOST_MS = 120_000;
/** A question waits for others of its group, and for whatever else the machine does. */
const ROUND_TRIPS = 500;
const READS = 5;
const READ_TIMEOUT_MS = 60_000;

interface LocalDeadline {
  readonly deadlineMs: number;
  /** `10 s a question; …`, for people. */
  readonly text: string;
}

/** How long a question may take here, from the slowest of some reads, which also open the connections. */
export async function localDeadline(store: Pick<LedgerStore, 'readRecords'>): Promise<LocalDeadline> {
  const readsMs: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const startedMs = performance.now();
    await store.readRecords([0], { timeoutMs: READ_TIMEOUT_MS });
    readsMs.push(performance.now() - startedMs);
  }
  // The first one dials.
  return deadlineOf(Math.max(...readsMs.slice(1)));
}

/** @param roundTripMs - to the ledger and back */
export function deadlineOf(roundTripMs: number): LocalDeadline {
  const deadlineMs = Math.min(MOST_MS, Math.max(LEAST_MS, Math.ceil(roundTripMs * ROUND_TRIPS)));
  const seconds = Math.round(deadlineMs / 1000);
  return {
    deadlineMs,
    text: `${seconds} s a question, then the fallback; the ledger is ${roundTripMs.toFixed(1)} ms away on this machine`,
  };
}
