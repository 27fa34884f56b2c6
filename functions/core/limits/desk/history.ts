import type { ChangeRow } from '../changes/change-row.ts';

export interface HistoryQuery {
  /** Only what was changed of this subject. */
  readonly subject?: string;
  /** Only edits before this one: `next` of the page before. */
  readonly before?: number;
  /** 1–100. */
  readonly max: number;
}

export interface HistoryPage {
  readonly entries: readonly LogEntry[];
  /** There may be more: ask for those before it. A page with few or no entries may have a next one. */
  readonly next?: number;
}

/** One edit. */
export interface LogEntry {
  /** 1, 2, 3 … */
  readonly edit: number;
  readonly set: string;
  readonly atMs: number;
  readonly actor: string;
  readonly userId?: number;
  readonly why: string;
  readonly source: string;
  readonly base?: string;
  /** Total number of rows. */
  readonly count: number;
  /**
   * Changed rows, limited to the requested subject. Undefined: too many to list here (query by subject), or,
   * with `count` 0, the base cannot be read any more.
   */
  readonly rows?: readonly ChangeRow[];
}
