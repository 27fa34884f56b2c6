import type { YetFailedMark } from '../core/store/index.ts';

/** The watchdog's data. */
export interface WatchTable {
  /** When any relay last said that it can be asked, Unix ms. @throws {LedgerError} `ledger_unavailable` */
  newestBeatMs(): Promise<number | undefined>;
  /** Undefined: none, or it does not disarm. @throws {LedgerError} `ledger_unavailable` */
  latestYetFailed(): Promise<YetFailedMark | undefined>;
  /** @throws {LedgerError} `ledger_unavailable` */
  readMark(): Promise<WatchdogMark | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  writeMark(mark: WatchdogMark): Promise<void>;
}

export interface WatchdogMark {
  /** A relay was heard then, Unix ms, or up to ten minutes later. */
  readonly heardAtMs: number;
  /** The controller was disarmed in the silence after this time: the same as `heardAtMs` while that silence lasts. */
  readonly disarmedForMs?: number;
  /** Last page to on-call about this silence, Unix ms. */
  readonly pagedAtMs?: number;
  /** The job that failed although admitted, by when it was found, Unix ms: it was acted on, or needed no act. */
  readonly yetFailedMs?: number;
  /** The controller was disarmed for it, and on-call was not notified yet. */
  readonly yetFailedUntold?: true;
}
