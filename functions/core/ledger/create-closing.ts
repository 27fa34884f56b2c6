import { randomUUID } from 'node:crypto';
import type { LedgerClock } from '../environment/index.ts';
import { type ClosedPeriods, closePeriods } from './close-periods.ts';
import type { ClosingStore, LedgerStore } from './store.ts';

export interface ClosingOptions {
  readonly store: Pick<LedgerStore, 'transact'> & ClosingStore;
  readonly clock: LedgerClock;
  /** [0, 1), for the jitter between tries. */
  readonly random: () => number;
}

/** Closes a page of the periods that are due over a table; see {@link closePeriods}. */
export const createClosing =
  (options: ClosingOptions) =>
  (deadlineMs: number): Promise<ClosedPeriods> =>
    closePeriods(deadlineMs, { ...options, newToken: randomUUID });
