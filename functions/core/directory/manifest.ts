/** Which chunks are live, and how far the sync has come. */

import { unpackedChunk } from './chunks.ts';
import type { ChunkAddress, DirectoryPointer, DirectoryTable, ReadOptions } from './directory-table.ts';

export interface StoredChunk {
  /** The version it was written for. */
  readonly version: string;
  /** Hash of the chunk's text. */
  readonly hash: string;
}

export interface Manifest {
  readonly chunks: Readonly<Record<string, StoredChunk>>;
}

/** Between the runs of the sync: what a listing that takes several runs has so far, and what may be thrown away. */
export interface SyncProgress {
  readonly groupsPass?: {
    /** The next page, as `next` of the last one. */
    readonly page: string;
    /** Names of chunks with the rows listed so far. */
    readonly listed: readonly string[];
  };
  readonly projectsPass?: {
    /** Chunks below this number are listed. */
    readonly chunk: number;
  };
  /** When all groups were last listed to their end, Unix ms; absent: never. */
  readonly groupsListedAtMs?: number;
  /** When the last full listing of projects began, Unix ms; absent: there was none. */
  readonly projectsListedAtMs?: number;
  /** Projects that changed before this are known, Unix ms. */
  readonly projectsSinceMs?: number;
  /** The partial listings, which no reader knows. */
  readonly chunks: Readonly<Record<string, StoredChunk>>;
  /** Chunks replaced by the last change of the pointer and used by no version. */
  readonly retired: readonly ChunkAddress[];
}

export const NOTHING: Manifest = { chunks: {} };
export const NOT_BEGUN: SyncProgress = { chunks: {}, retired: [] };

export const MANIFEST = 'manifest';
export const PROGRESS = 'progress';

export const manifestAt = ({ manifest }: DirectoryPointer): ChunkAddress => ({
  version: manifest,
  name: MANIFEST,
});
export const progressAt = ({ progress }: DirectoryPointer): ChunkAddress => ({
  version: progress,
  name: PROGRESS,
});

/** @throws {DirectoryError} either code */
export async function readManifest(
  pointer: DirectoryPointer,
  table: DirectoryTable,
  options: ReadOptions,
): Promise<Manifest> {
  const [bytes] = await table.readChunks([manifestAt(pointer)], options);
  return unpackedChunk<Manifest>(MANIFEST, bytes);
}

/** Bodies of live chunks, one per name, same order; undefined: the manifest has none of that name. @throws {DirectoryError} either code */
export async function readLiveChunks<Body>(
  names: readonly string[],
  { chunks }: Pick<Manifest, 'chunks'>,
  table: DirectoryTable,
  options: ReadOptions,
): Promise<readonly (Body | undefined)[]> {
  const there = names.filter((name) => chunks[name] !== undefined);
  const at = there.map((name) => ({ version: chunks[name]?.version ?? '', name }));
  const bytes = await table.readChunks(at, options);
  const bodies = new Map(
    there.map((name, index) => [name, unpackedChunk<Body>(name, bytes[index], chunks[name]?.hash)]),
  );
  return names.map((name) => bodies.get(name));
}
