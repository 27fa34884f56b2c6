/**
 * What limit sets need of a table: chunks that are written aside, and one pointer that says which set is live. The flip
 * of the pointer is the only write that anybody notices.
 */
import type { CounterKey } from '../../policies/claim.ts';
import type { ReadOptions } from '../ledger/store.ts';

export type { ReadOptions };

export interface LimitTable {
  /** Consistent; undefined: no set was ever live. @throws {LimitsError} `limits_unavailable` */
  getPointer(options: ReadOptions): Promise<LimitPointer | undefined>;
  /** Writes a chunk, again if need be: the same set has the same chunks. @throws {LimitsError} `limits_unavailable` */
  putChunk(set: string, chunk: LimitChunk, options: ReadOptions): Promise<void>;
  /** One per name, same order; undefined: the set has none of that name. @throws {LimitsError} either code */
  readChunks(
    set: string,
    names: readonly string[],
    options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]>;
  /**
   * Makes a set live if `base` still is (undefined: none yet).
   * @throws {LimitsError} `limits_unavailable`: it may be live or not.
   */
  flip(to: LimitPointer, base: string | undefined, options: ReadOptions): Promise<FlipOutcome>;
  /**
   * Lets the chunks of a set that is not live any more go at a time (Unix seconds) or some hours later. Only for such
   * sets: a set never becomes live twice. @throws {LimitsError} `limits_unavailable`: call it again.
   */
  retire(set: string, atSeconds: number, options: ReadOptions): Promise<void>;
  /** One per counter, same order. @throws {LimitsError} `limits_unavailable` */
  readOpenings(
    keys: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (OpeningEntry | undefined)[]>;
  /** Writes what a period began with, once; gives what stands. @throws {LimitsError} `limits_unavailable` */
  putOpening(opening: OpeningEntry, options: ReadOptions): Promise<OpeningEntry>;
}

export interface LimitPointer {
  readonly set: string;
  /** 1, 2, 3 …: how many sets were live so far. */
  readonly edit: number;
  readonly atMs: number;
}

export interface LimitChunk {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type FlipOutcome =
  | { readonly outcome: 'flipped' }
  | { readonly outcome: 'stale'; readonly live: LimitPointer | undefined };

/** What a period began with, and the figures it was computed from. Written once, never edited. */
export interface OpeningEntry {
  readonly key: CounterKey;
  /** Whole units; below 0 what was overdrawn. */
  readonly carried: number;
  /** The counter of the period before, as it was then. */
  readonly committed: number;
  readonly settled: number;
  readonly atMs: number;
}
