import { codedError } from '../../../policies/coded-error.ts';
import type { ReadOptions } from '../ledger/store.ts';

export class DirectoryError extends codedError('DirectoryError', {
  /** The table gave no answer we can use; a write may or may not have happened. */
  directory_unavailable: true,
  directory_unreadable: false,
}) {}

// The directory's interface to a table: immutable chunks, one pointer to the live chunks, and ids that
// readers missed. Changing the pointer publishes a version.

export type { ReadOptions };

export interface DirectoryTable {
  /** Consistent; undefined: nothing was ever synced. @throws {DirectoryError} `directory_unavailable` */
  getPointer(options: ReadOptions): Promise<DirectoryPointer | undefined>;
  /** @throws {DirectoryError} `directory_unavailable` */
  putChunk(at: ChunkAddress, bytes: Uint8Array, options: ReadOptions): Promise<void>;
  /** One per address, same order; undefined: there is none. @throws {DirectoryError} either code */
  readChunks(at: readonly ChunkAddress[], options: ReadOptions): Promise<readonly (Uint8Array | undefined)[]>;
  /** For chunks that no version has any more: they go some time after `atMs`. @throws {DirectoryError} `directory_unavailable` */
  expireChunk(at: ChunkAddress, atMs: number, options: ReadOptions): Promise<void>;
  /**
   * Makes a version live if the edit before it still is (`to.edit` − 1; 1 is the first).
   * @throws {DirectoryError} `directory_unavailable`: it may be live or not.
   */
  flip(to: DirectoryPointer, options: ReadOptions): Promise<'flipped' | 'stale'>;
}

export interface ChunkAddress {
  /** Written for this version. Unchanged chunks stay where they are. */
  readonly version: string;
  readonly name: string;
}

export interface DirectoryPointer {
  /** 1, 2, 3 …: one per sync that was kept. */
  readonly edit: number;
  /** Address of the manifest, which lists the live chunks. A sync without changes keeps it. */
  readonly manifest: string;
  /** Address of the sync's progress, which readers do not need. */
  readonly progress: string;
  /** True once all groups were listed; before that, readers use the directory packed with the code. */
  readonly live: boolean;
  readonly atMs: number;
}
