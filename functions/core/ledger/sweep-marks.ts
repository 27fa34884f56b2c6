/** How far the search for jobs that nobody asked us about has come, per runner. It changes every minute. */

export interface SweepMarks {
  /** When the search began, Unix ms: what started earlier ran before we were asked about anything. */
  readonly sinceMs: number;
  readonly runners: ReadonlyMap<number, RunnerMark>;
  /** Jobs that run without an admission, to be charged at their end: project's id by job id, longest not asked about first. */
  readonly open: ReadonlyMap<number, number>;
}

export interface RunnerMark {
  /** Jobs of this runner up to this id were looked at, as far as they had started by then. */
  readonly seenTo: number;
  /** When the last search that got through began, Unix ms; 0: none did. */
  readonly passMs: number;
  /** The same of the last deep one, which also looks below `seenTo`. */
  readonly deepMs: number;
  /** A search that was cut short. */
  readonly going?: RunnerPass;
}

/** A search goes on at this page, and then everything up to `top` was looked at. */
interface RunnerPass {
  readonly startMs: number;
  readonly deep: boolean;
  readonly top: number;
  readonly page: string;
}

/**
 * The last of two sweeps at once to write wins. Both only write what they looked at themselves, so a mark may step back,
 * which repeats work, and never skips any.
 */
export interface SweepMarkStore {
  /** Absent: nobody searched yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<SweepMarks | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(marks: SweepMarks): Promise<void>;
}
