/** How far the search for jobs that nobody asked us about has come, per runner. One item: it changes every minute. */

export interface SweepMarks {
  /** When the search began, Unix ms: what started earlier ran before we were asked about anything. */
  readonly sinceMs: number;
  readonly runners: ReadonlyMap<number, RunnerMark>;
}

export interface RunnerMark {
  /** Jobs of this runner up to this id were looked at. */
  readonly seenTo: number;
  /** A search that was cut short: it goes on at this page, and then everything up to `top` was looked at. */
  readonly going?: { readonly top: number; readonly page: string };
}

/**
 * Of two sweeps at once the last to write wins. Both only write what they looked at themselves, so a mark may step back,
 * which repeats work, and never skips any.
 */
export interface SweepMarkStore {
  /** Absent: nobody searched yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<SweepMarks | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(marks: SweepMarks): Promise<void>;
}

export function memoryMarks(): SweepMarkStore {
  let kept: SweepMarks | undefined;
  return {
    read: async () => kept,
    write: async (marks) => {
      kept = marks;
    },
  };
}
