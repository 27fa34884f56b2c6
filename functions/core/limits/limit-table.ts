/**
 * Limit sets in a table: immutable chunks and one pointer to the live set. Changing the pointer publishes a set. Each call throws
 * {@link LimitsError}: `limits_unavailable` after a write means that it may have happened.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { CounterKey } from '../../../policies/claim.ts';
import { codedError } from '../../../policies/coded-error.ts';
import type { ReadOptions } from '../ledger/store.ts';

export type { ReadOptions };

export class LimitsError extends codedError('LimitsError', {
  /** The table gave no usable response; a write may or may not have happened. */
  limits_unavailable: true,
  /** The stored data is damaged, or no longer fits the policy. */
  limits_unreadable: false,
}) {}

/** Undefined where what is read is damaged, gone or no longer fits the policy. */
export const ifReadable = <Read>(reading: Promise<Read>): Promise<Read | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof LimitsError && error.code === 'limits_unreadable') return undefined;
    throw error;
  });

export interface LimitTable {
  /** Consistent. Undefined: no set was ever live. */
  getPointer(options: ReadOptions): Promise<LimitPointer | undefined>;
  /** May be repeated: the same set has the same chunks. */
  putChunk(set: string, chunk: LimitChunk, options: ReadOptions): Promise<void>;
  /** One per name, same order. Undefined: the set has none of that name. */
  readChunks(
    set: string,
    names: readonly string[],
    options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]>;
  /** Makes a set live if `base` still is (undefined: none yet), and writes its log item in the same transaction. */
  flip(
    to: LimitPointer,
    base: string | undefined,
    options: ReadOptions,
    entry?: LogItem,
  ): Promise<FlipOutcome>;
  /** The log, newest first: items of edits before this one (undefined: all), at most `max`. Consistent. */
  readLog(before: number | undefined, max: number, options: ReadOptions): Promise<readonly LogItem[]>;
  /** Writes a request if it still is at the revision before (`rev` 1: if there is none of this id). False: it is not. */
  putRequest(item: RequestItem, options: ReadOptions): Promise<boolean>;
  /** The newest by id, at most `max`; expired ones may be among them. Consistent. */
  readRequests(max: number, options: ReadOptions): Promise<readonly RequestItem[]>;
  /** Expires the chunks of a set at a time (Unix seconds), or some hours later. Only for a set that is not live any more. */
  retire(set: string, atSeconds: number, options: ReadOptions): Promise<void>;
  /** One per counter, same order. */
  readOpenings(
    keys: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (OpeningEntry | undefined)[]>;
  /** Writes the opening of a period once. Returns the stored one. */
  putOpening(opening: OpeningEntry, options: ReadOptions): Promise<OpeningEntry>;
}

export interface LimitPointer {
  readonly set: string;
  /** 1, 2, 3 …: the number of sets that were live so far. */
  readonly edit: number;
  readonly atMs: number;
}

/** One edit in the change log; never edited, never expires. */
export interface LogItem {
  readonly edit: number;
  /** A few KB at most. */
  readonly bytes: Uint8Array;
}

export interface RequestItem {
  /** Later ones sort higher. */
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
  /** Whole units; below 0 if the period before was overdrawn. */
  readonly carried: number;
  /** The counter of the period before, as it was then. */
  readonly committed: number;
  readonly settled: number;
  readonly atMs: number;
}

/** 10 000 rows are some 100 KB at this level, in a few milliseconds; the best level takes seconds. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
/** Far above any set; a bound for what a damaged chunk could unfold to. */
const CHARACTERS_MAX = 256 * 1024 * 1024;

export const packText = (text: string): Uint8Array => brotliCompressSync(text, BROTLI);
export const packJson = (value: unknown): Uint8Array => packText(JSON.stringify(value));

/** @throws {LimitsError} `limits_unreadable`: `what` is damaged. */
export function unpackJson(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8'));
  } catch {
    throw new LimitsError('limits_unreadable', `${what} is damaged`);
  }
}

/** Bytes between two requests of one user, who alone gets them back: a file in preview, a cursor of a count. */
export interface Uploads {
  /** @returns its name, for {@link Uploads.read}. @throws {LimitsError} */
  keep(userId: number, bytes: Uint8Array): Promise<string>;
  /** Undefined: nothing has that name, or it is gone. @throws {LimitsError} */
  read(userId: number, name: string): Promise<Uint8Array | undefined>;
}

/** Long enough to read a diff. It is a copy of the file that finance has. */
const UPLOAD_SECONDS = 3_600;
const UPLOAD_NAME = /^[0-9A-Za-z]{1,32}$/;

/** Stored next to the limit sets, as a set that never becomes live and expires soon. */
export function createUploads({
  table,
  clock,
  newId,
}: {
  readonly table: Pick<LimitTable, 'putChunk' | 'readChunks' | 'retire'>;
  readonly clock: { nowMs(): number };
  /** Letters and digits, at most 32. */
  readonly newId: () => string;
}): Uploads {
  const within = { timeoutMs: 5_000 };
  const setOf = (userId: number, name: string): string => `upload-${userId}-${name}`;
  return {
    async keep(userId, bytes) {
      const name = newId();
      const set = setOf(userId, name);
      await table.putChunk(set, { name: 'file', bytes }, within);
      await table.retire(set, Math.floor(clock.nowMs() / 1_000) + UPLOAD_SECONDS, within);
      return name;
    },
    async read(userId, name) {
      if (!UPLOAD_NAME.test(name)) return undefined;
      const [bytes] = await table.readChunks(setOf(userId, name), ['file'], within);
      return bytes;
    },
  };
}
