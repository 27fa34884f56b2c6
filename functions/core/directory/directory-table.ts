import { codedError } from '../../../policies/coded-error.ts';
import type { ReadOptions } from '../ledger/store.ts';
import { chunkPartsOf, joined, LimitsError } from '../limits/limit-table.ts';
import { changeItem, getItem, itemAt, putItem, queryAll } from '../store/calls.ts';
import { type LedgerKeys, ledgerKeys } from '../store/keys.ts';
import {
  atRev,
  type InstanceTable,
  type Item,
  type ItemTable,
  TimeLimit,
  TTL_ATTRIBUTE,
} from '../store/operation.ts';
import { answered } from '../store/table-failure.ts';

export class DirectoryError extends codedError('DirectoryError', {
  /** The table gave no answer we can use; a write may or may not have happened. */
  directory_unavailable: true,
  directory_unreadable: false,
}) {}

export type { ReadOptions };

export type DirectoryTable = Pick<DynamoDirectoryTable, keyof DynamoDirectoryTable>;

export interface ChunkAddress {
  /** Written for this version. Unchanged chunks stay where they are. */
  readonly version: string;
  readonly name: string;
}

export interface DirectoryPointer {
  /** 1, 2, 3 …: one per sync that was kept. */
  readonly edit: number;
  readonly manifest: string;
  readonly progress: string;
  /** True once all groups were listed; before that, readers use the directory packed with the code. */
  readonly live: boolean;
  readonly atMs: number;
}

const AT = 'at';

/** Immutable chunks and a pointer to the live ones. Each call throws {@link DirectoryError}; a write may have happened all the same. */
export class DynamoDirectoryTable {
  readonly #table: ItemTable;
  readonly #keys: LedgerKeys;

  constructor({ table, instance }: InstanceTable) {
    this.#table = table;
    this.#keys = ledgerKeys(instance);
  }

  /** Consistent; undefined: nothing was ever synced. */
  async getPointer(options: ReadOptions): Promise<DirectoryPointer | undefined> {
    const item = await this.#answered('read the pointer of', options, (limit) =>
      getItem(this.#table, this.#keys.directoryPointer, limit),
    );
    return item && toPointer(item);
  }

  async putChunk({ version, name }: ChunkAddress, bytes: Uint8Array, options: ReadOptions): Promise<void> {
    await this.#answered('write a chunk to', options, async (limit) => {
      for (const [part, attributes] of chunkPartsOf(name, bytes).entries())
        await putItem(this.#table, itemAt(this.#keys.directoryChunk(version, name, part), attributes), limit);
    });
  }

  readChunks(at: readonly ChunkAddress[], options: ReadOptions) {
    return Promise.all(
      at.map((address) =>
        this.#answered('read a chunk of', options, async (limit) =>
          joined(address.name, await this.#parts(address, limit)),
        ),
      ),
    );
  }

  /** For chunks that no version has any more: they go some time after `atMs`. */
  async expireChunk(at: ChunkAddress, atMs: number, options: ReadOptions): Promise<void> {
    const expiry = { [TTL_ATTRIBUTE]: { N: String(Math.ceil(atMs / 1000)) } };
    await this.#answered('expire a chunk of', options, async (limit) => {
      const parts = await this.#parts(at, limit);
      for (const part of parts.keys())
        await changeItem(this.#table, this.#keys.directoryChunk(at.version, at.name, part), expiry, limit);
    });
  }

  #parts({ version, name }: ChunkAddress, limit: TimeLimit): Promise<readonly Item[]> {
    const { pk, sk } = this.#keys.directoryChunk(version, name, 0);
    const begins = sk.slice(0, sk.lastIndexOf('#') + 1);
    return queryAll(this.#table, { pk, sk: { begins }, consistent: true }, limit);
  }

  /** Makes a version live if the edit before it still is (`to.edit` − 1; 1 is the first). */
  async flip(to: DirectoryPointer, options: ReadOptions): Promise<'flipped' | 'stale'> {
    const item = itemAt(this.#keys.directoryPointer, {
      ed: { N: String(to.edit) },
      ma: { S: to.manifest },
      pr: { S: to.progress },
      li: { BOOL: to.live },
      [AT]: { N: String(to.atMs) },
    });
    const { outcome } = await this.#answered('flip the pointer of', options, (limit) =>
      putItem(this.#table, item, limit, atRev('ed', to.edit - 1)),
    );
    return outcome === 'written' ? 'flipped' : 'stale';
  }

  #answered<T>(
    doing: string,
    { timeoutMs }: ReadOptions,
    call: (limit: TimeLimit) => Promise<T>,
  ): Promise<T> {
    return answered(
      doing,
      (what, why, error) => {
        const isDamaged = error instanceof LimitsError && !error.retryable;
        return new DirectoryError(
          isDamaged ? 'directory_unreadable' : 'directory_unavailable',
          `could not ${what} the directory in ${this.#table.tableName} (${why})`,
        );
      },
      () => call(new TimeLimit(timeoutMs)),
    );
  }
}

const toPointer = (item: Item): DirectoryPointer => ({
  edit: Number(item.ed?.N),
  manifest: item.ma?.S ?? '',
  progress: item.pr?.S ?? '',
  live: item.li?.BOOL ?? false,
  atMs: Number(item[AT]?.N),
});
