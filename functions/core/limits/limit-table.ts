/**
 * Limit sets in a table: immutable chunks and one pointer to the live set. Changing the pointer publishes a set. Each call throws
 * {@link LimitsError}: `limits_unavailable` after a write means that it may have happened.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { CounterKey } from '../../../policies/claim.ts';
import { codedError } from '../../../policies/coded-error.ts';
import { atOnce } from '../environment/environment.ts';
import type { ReadOptions } from '../ledger/store.ts';
import {
  type BatchGetDeps,
  batchGet,
  changeItem,
  getItem,
  itemAt,
  putItem,
  putOf,
  queryAll,
  queryPages,
  transactItems,
} from '../store/calls.ts';
import { type LedgerKeys, ledgerKeys } from '../store/keys.ts';
import {
  absent,
  atRev,
  compare,
  type InstanceTable,
  type Item,
  type ItemTable,
  keyOf,
  PK,
  SK,
  TimeLimit,
  TTL_ATTRIBUTE,
} from '../store/operation.ts';
import { answered, retried } from '../store/table-failure.ts';

export type { ReadOptions };

export class LimitsError extends codedError('LimitsError', {
  /** The table gave no usable response; a write may or may not have happened. */
  limits_unavailable: true,
  /** The stored data is damaged, or no longer fits the policy. */
  limits_unreadable: false,
}) {}

/** For programs that no job waits for. */
export const WITHIN: ReadOptions = { timeoutMs: 5_000 };

/** Undefined where what is read is damaged, gone or no longer fits the policy. */
export const ifReadable = <Read>(reading: Promise<Read>): Promise<Read | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof LimitsError && error.code === 'limits_unreadable') return undefined;
    throw error;
  });

export type LimitTable = Pick<DynamoLimitTable, keyof DynamoLimitTable>;

export interface LimitPointer {
  readonly set: string;
  /** 1, 2, 3 …: the number of sets that were live so far. */
  readonly edit: number;
  readonly atMs: number;
}

/** One edit in the change log; never edited, never expires. */
export interface LogItem {
  readonly edit: number;
  readonly bytes: Uint8Array;
}

export interface RequestItem {
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

/** Long enough to read a diff. It is a copy of the file that finance has. */
const UPLOAD_SECONDS = 3_600;
const UPLOAD_NAME = /^[0-9A-Za-z]{1,32}$/;

export type Uploads = ReturnType<typeof createUploads>;

/**
 * Bytes between two requests of one user, who alone gets them back: a file in preview, a cursor of a count. Stored next to the limit
 * sets, as a set that never becomes live and expires soon.
 */
export function createUploads({
  table,
  clock,
  newId,
}: {
  readonly table: Pick<LimitTable, 'putChunk' | 'readChunks' | 'retire'>;
  readonly clock: { nowMs(): number };
  readonly newId: () => string;
}) {
  const setOf = (userId: number, name: string): string => `upload-${userId}-${name}`;
  return {
    async keep(userId: number, bytes: Uint8Array): Promise<string> {
      const name = newId();
      const set = setOf(userId, name);
      await table.putChunk(set, { name: 'file', bytes }, WITHIN);
      await table.retire(set, Math.floor(clock.nowMs() / 1_000) + UPLOAD_SECONDS, WITHIN);
      return name;
    },
    /** Undefined: nothing has that name, or it is gone. */
    async read(userId: number, name: string): Promise<Uint8Array | undefined> {
      if (!UPLOAD_NAME.test(name)) return undefined;
      const [bytes] = await table.readChunks(setOf(userId, name), ['file'], WITHIN);
      return bytes;
    },
  };
}

export type DynamoLimitTableOptions = InstanceTable & BatchGetDeps;

/** DynamoDB's items end at 400 KB: a chunk is stored in parts. */
const PART_BYTES_MAX = 350 * 1024;
/** 35 MB compressed are more limits than there are groups. */
const PARTS_MAX = 100;
const BYTES = 'b';
const PARTS_ATTRIBUTE = 'n';

export function chunkPartsOf(name: string, bytes: Uint8Array): readonly Item[] {
  const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES_MAX));
  if (parts > PARTS_MAX)
    throw new LimitsError(
      'limits_unreadable',
      `chunk ${name} has ${bytes.length} bytes: expected at most ${PARTS_MAX * PART_BYTES_MAX}`,
    );
  return Array.from({ length: parts }, (_, index) => ({
    [BYTES]: { B: bytes.subarray(index * PART_BYTES_MAX, (index + 1) * PART_BYTES_MAX) },
    [PARTS_ATTRIBUTE]: { N: String(parts) },
  }));
}

export function joined(name: string, items: readonly Item[]): Uint8Array | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  const parts = first[PARTS_ATTRIBUTE]?.N;
  if (items.length !== Number(parts))
    throw new LimitsError(
      'limits_unreadable',
      `chunk ${name} has ${items.length} of ${parts} parts: publish the limits again`,
    );
  return Buffer.concat(items.map((item) => item[BYTES]?.B ?? new Uint8Array()));
}

/** A set of hundreds of roots must not take all connections. */
const UPDATES_AT_ONCE = 8;
/** One of two concurrent editors is refused at the next try at the latest. */
const CONFLICTS_MAX = 5;
const CONFLICT_PAUSE_MS = 100;

export class DynamoLimitTable {
  readonly #options: DynamoLimitTableOptions;
  readonly #table: ItemTable;
  readonly #keys: LedgerKeys;

  constructor(options: DynamoLimitTableOptions) {
    this.#options = options;
    this.#table = options.table;
    this.#keys = ledgerKeys(options.instance);
  }

  /** Consistent. Undefined: no set was ever live. */
  async getPointer(options: ReadOptions): Promise<LimitPointer | undefined> {
    const item = await this.#answered('read the pointer of', options, (limit) =>
      getItem(this.#table, this.#keys.limitPointer, limit),
    );
    return item && pointerOf(item);
  }

  async putChunk(set: string, { name, bytes }: LimitChunk, options: ReadOptions): Promise<void> {
    for (const [part, attributes] of chunkPartsOf(name, bytes).entries()) {
      const item = itemAt(this.#keys.limitChunk(set, name, part), attributes);
      await this.#answered('write a chunk to', options, (limit) => putItem(this.#table, item, limit));
    }
  }

  /** One per name, same order. Undefined: the set has none of that name. */
  readChunks(
    set: string,
    names: readonly string[],
    options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    return Promise.all(
      names.map(async (name) => {
        const { pk, sk } = this.#keys.limitChunk(set, name, 0);
        const ask = { pk, sk: { begins: sk.slice(0, sk.lastIndexOf('#') + 1) }, consistent: true };
        const parts = await this.#answered('read a chunk of', options, (limit) =>
          queryAll(this.#table, ask, limit),
        );
        return joined(name, parts);
      }),
    );
  }

  /** Makes a set live if `base` still is (undefined: none yet), and writes its log item in the same transaction. */
  async flip(
    to: LimitPointer,
    base: string | undefined,
    options: ReadOptions,
    entry: LogItem,
  ): Promise<FlipOutcome> {
    const pointer = itemAt(this.#keys.limitPointer, {
      se: { S: to.set },
      ed: { N: String(to.edit) },
      at: { N: String(to.atMs) },
    });
    const log = itemAt(this.#keys.limitLog(entry.edit), { [BYTES]: { B: entry.bytes } });
    const isBase = base === undefined ? absent() : compare('se', '=', { S: base });
    const writes = [putOf(pointer, isBase, 'old'), putOf(log)];
    return this.#answered('flip the pointer of', options, async (limit) => {
      const flipped = await retried(
        () => transactItems(this.#table, writes, limit),
        ({ outcome }) => outcome === 'conflict',
        { ...this.#options, triesMax: CONFLICTS_MAX, pauseMsMax: () => CONFLICT_PAUSE_MS },
      );
      if (flipped.outcome === 'written') return { outcome: 'flipped' };
      if (flipped.outcome !== 'refused') throw new Error(flipped.outcome);
      const live = flipped.refused[0]?.item;
      return { outcome: 'stale', live: live && pointerOf(live) };
    });
  }

  /** The log, newest first: items of edits before this one (undefined: all), at most `max`. Consistent. */
  async readLog(before: number | undefined, max: number, options: ReadOptions): Promise<readonly LogItem[]> {
    const { pk, sk } = this.#keys.limitLog(before ?? 0);
    const items = await this.#newest(pk, before === undefined ? undefined : sk, max, options);
    return items.map((item) => ({ edit: Number(item[SK]?.S), bytes: item[BYTES]?.B ?? new Uint8Array() }));
  }

  /** Writes a request if it still is at the revision before (`rev` 1: if there is none of this id). False: it is not. */
  async putRequest(request: RequestItem, options: ReadOptions): Promise<boolean> {
    const { id, rev, bytes, expiresAtSeconds } = request;
    const item = itemAt(this.#keys.limitRequest(id), {
      rv: { N: String(rev) },
      [BYTES]: { B: bytes },
      [TTL_ATTRIBUTE]: { N: String(expiresAtSeconds) },
    });
    const { outcome } = await this.#answered('write a request to', options, (limit) =>
      putItem(this.#table, item, limit, atRev('rv', rev - 1)),
    );
    return outcome === 'written';
  }

  /** The newest by id, at most `max`; expired ones may be among them. Consistent. */
  async readRequests(max: number, options: ReadOptions): Promise<readonly RequestItem[]> {
    const items = await this.#newest(this.#keys.limitRequest('').pk, undefined, max, options);
    return items.map((item) => ({
      id: item[SK]?.S ?? '',
      rev: Number(item.rv?.N),
      bytes: item[BYTES]?.B ?? new Uint8Array(),
      expiresAtSeconds: Number(item[TTL_ATTRIBUTE]?.N),
    }));
  }

  #newest(
    pk: string,
    before: string | undefined,
    max: number,
    options: ReadOptions,
  ): Promise<readonly Item[]> {
    const sk = before === undefined ? {} : { sk: { before } };
    return this.#answered('read', options, async (limit) => {
      const ask = { pk, ...sk, consistent: true, backwards: true, pageItems: max } as const;
      const found: Item[] = [];
      for await (const items of queryPages(this.#table, ask, limit)) {
        found.push(...items);
        if (found.length >= max) break;
      }
      return found.slice(0, max);
    });
  }

  /** Expires the chunks of a set at a time (Unix seconds), or some hours later. Only for a set that is not live any more. */
  async retire(set: string, atSeconds: number, options: ReadOptions): Promise<void> {
    const ask = { pk: this.#keys.limitChunk(set, '', 0).pk, attributes: [PK, SK], consistent: false };
    const expiry = { [TTL_ATTRIBUTE]: { N: String(atSeconds) } };
    await this.#answered('retire a set of', options, async (limit) => {
      for await (const items of queryPages(this.#table, ask, limit)) {
        await atOnce(items, UPDATES_AT_ONCE, async (item) => {
          await changeItem(this.#table, keyOf(item), expiry, limit);
        });
      }
    });
  }

  async readOpenings(
    counters: readonly CounterKey[],
    options: ReadOptions,
  ): Promise<readonly (OpeningEntry | undefined)[]> {
    const wanted = counters.map((key) => this.#keys.limitOpening(key));
    const items = await this.#answered('read openings of', options, () =>
      batchGet(wanted, options.timeoutMs, this.#options),
    );
    return counters.map((key, index) => {
      const item = items[index];
      return item && openingOf(key, item);
    });
  }

  /** Writes the opening of a period once. Returns the stored one. */
  async putOpening(opening: OpeningEntry, options: ReadOptions): Promise<OpeningEntry> {
    const { key, carried, committed, settled, atMs } = opening;
    const item = itemAt(this.#keys.limitOpening(key), {
      ca: { N: String(carried) },
      co: { N: String(committed) },
      st: { N: String(settled) },
      at: { N: String(atMs) },
    });
    const put = await this.#answered('write an opening to', options, (limit) =>
      putItem(this.#table, item, limit, absent(), 'old'),
    );
    return put.outcome === 'refused' && put.item !== undefined ? openingOf(key, put.item) : opening;
  }

  #answered<T>(
    doing: string,
    { timeoutMs }: ReadOptions,
    call: (limit: TimeLimit) => Promise<T>,
  ): Promise<T> {
    return answered(
      doing,
      (what, why) =>
        new LimitsError(
          'limits_unavailable',
          `could not ${what} the limits in ${this.#table.tableName} (${why})`,
        ),
      () => call(new TimeLimit(timeoutMs)),
    );
  }
}

const pointerOf = (item: Item): LimitPointer => ({
  set: item.se?.S ?? '',
  edit: Number(item.ed?.N),
  atMs: Number(item.at?.N),
});

const openingOf = (key: CounterKey, item: Item): OpeningEntry => ({
  key,
  carried: Number(item.ca?.N),
  committed: Number(item.co?.N),
  settled: Number(item.st?.N),
  atMs: Number(item.at?.N),
});
