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
  /** How many rows the edit had in all. */
  readonly count: number;
  /**
   * What was changed; only the rows of the subject asked for, if one was. Undefined: too much to list here (ask by
   * subject), or, with `count` 0, what it was an edit of could not be read any more.
   */
  readonly rows?: readonly ChangeRow[];
}
