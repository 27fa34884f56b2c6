import type { CounterKey } from '../../../policies/claim.ts';
import { codedError } from '../../../policies/coded-error.ts';
import type { ReadOptions } from '../ledger/index.ts';

export class LimitsError extends codedError('LimitsError', {
  /** The table gave no answer we can use; a write may or may not have happened. */
  limits_unavailable: true,
  /** The stored data is damaged, or no longer fits the policy. */
  limits_unreadable: false,
}) {}

/**
 * The interface of limit sets to a table: immutable chunks and one pointer to the live set. Changing the
 * pointer publishes a set.
 */

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
   * Makes a set live if `base` still is (undefined: none yet), and writes its log item in the same transaction.
   * @throws {LimitsError} `limits_unavailable`: it may be live or not.
   */
  flip(
    to: LimitPointer,
    base: string | undefined,
    options: ReadOptions,
    entry?: LogItem,
  ): Promise<FlipOutcome>;
  /** The log, newest first: items of edits before this one (undefined: all), at most `max`. Consistent. @throws {LimitsError} */
  readLog(before: number | undefined, max: number, options: ReadOptions): Promise<readonly LogItem[]>;
  /**
   * Writes a request if it still is at the revision before (`rev` 1: if there is none of this id). False: it is not.
   * @throws {LimitsError} `limits_unavailable`: it may be written or not.
   */
  putRequest(item: RequestItem, options: ReadOptions): Promise<boolean>;
  /** The newest by id, at most `max`; those that expired may be among them. Consistent. @throws {LimitsError} */
  readRequests(max: number, options: ReadOptions): Promise<readonly RequestItem[]>;
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

/** One edit in the change log; never edited, never expires. */
export interface LogItem {
  readonly edit: number;
  /** A few KB at most. */
  readonly bytes: Uint8Array;
}

/** A request for more. */
export interface RequestItem {
  /** Those filed later sort higher. */
  readonly id: string;
  /** 1, 2, 3 …: + 1 with every write. */
  readonly rev: number;
  readonly bytes: Uint8Array;
  readonly expiresAtSeconds: number;
}

export interface LimitChunk {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type FlipOutcome =
  | { readonly outcome: 'flipped' }
  | { readonly outcome: 'stale'; readonly live: LimitPointer | undefined };

/** The opening of a period, and its inputs. Written once, never changed. */
export interface OpeningEntry {
  readonly key: CounterKey;
  /** Whole units; below 0 what was overdrawn. */
  readonly carried: number;
  /** The counter of the period before, as it was then. */
  readonly committed: number;
  readonly settled: number;
  readonly atMs: number;
}

/** Bytes between two requests of one user, who alone gets them back: a file that is previewed, a count that goes on. */
export interface Uploads {
  /** @returns its name, for {@link Uploads.read}. @throws {LimitsError} */
  keep(userId: number, bytes: Uint8Array): Promise<string>;
  /** Undefined: nothing has that name, or it is gone. @throws {LimitsError} */
  read(userId: number, name: string): Promise<Uint8Array | undefined>;
}

interface UploadsDeps {
  readonly table: Pick<LimitTable, 'putChunk' | 'readChunks' | 'retire'>;
  readonly clock: { nowMs(): number };
  /** Letters and digits, at most 32. */
  readonly newId: () => string;
}

/** Long enough to look at a diff, and no longer: it is a copy of what finance has. */
const KEPT_SECONDS = 3_600;
const WITHIN_MS = 5_000;
const CHUNK = 'file';
const NAME = /^[0-9A-Za-z]{1,32}$/;

/** Stored next to the limit sets, as a set that never becomes live and is gone soon. */
export function createUploads({ table, clock, newId }: UploadsDeps): Uploads {
  const within = { timeoutMs: WITHIN_MS };
  const setOf = (userId: number, name: string): string => `upload-${userId}-${name}`;
  return {
    async keep(userId, bytes) {
      const name = newId();
      const set = setOf(userId, name);
      await table.putChunk(set, { name: CHUNK, bytes }, within);
      await table.retire(set, Math.floor(clock.nowMs() / 1_000) + KEPT_SECONDS, within);
      return name;
    },
    async read(userId, name) {
      if (!NAME.test(name)) return undefined;
      const [bytes] = await table.readChunks(setOf(userId, name), [CHUNK], within);
      return bytes;
    },
  };
}
