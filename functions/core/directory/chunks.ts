import { createHash } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import { isRecord } from '../../../policies/document/reading.ts';
import {
  type ChunkAddress,
  DirectoryError,
  type DirectoryPointer,
  type DirectoryTable,
  type ReadOptions,
} from './directory-table.ts';

/** Groups are stored by their root, so that one chunk has every chain of a root group. */
const GROUP_CHUNKS = 64;
/** Projects are stored by their id: a listing by id fills chunk after chunk, and any id leads to its chunk. */
const PROJECTS_PER_CHUNK = 512;

export const groupChunk = (rootId: number): string => `groups/${rootId % GROUP_CHUNKS}`;
export const GROUP_CHUNK_NAMES: readonly string[] = Array.from({ length: GROUP_CHUNKS }, (_, at) =>
  groupChunk(at),
);

const PROJECT_CHUNK_PREFIX = 'projects/';
export const projectChunkNumber = (projectId: number): number => Math.floor(projectId / PROJECTS_PER_CHUNK);
export const projectChunkNamed = (number: number): string => `${PROJECT_CHUNK_PREFIX}${number}`;
export const projectChunk = (projectId: number): string => projectChunkNamed(projectChunkNumber(projectId));
/** All ids of a chunk are greater. */
export const beforeProjectChunk = (number: number): number => number * PROJECTS_PER_CHUNK - 1;
export const projectChunkNumberOf = (name: string): number | undefined =>
  name.startsWith(PROJECT_CHUNK_PREFIX) ? Number(name.slice(PROJECT_CHUNK_PREFIX.length)) : undefined;

export const INDEX = 'index';

/** id, parent (0: none), full path, visibility, how many listings in a row did not have it. */
export type StoredGroupRow = readonly [
  id: number,
  parentId: number,
  path: string,
  visibility: number,
  missed: number,
];

export interface GroupChunk {
  readonly groups: readonly StoredGroupRow[];
}

export type NamespaceRow = readonly [id: number, path: string, personal: number];
export type ProjectRow = readonly [id: number, namespaceId: number, slug: string, visibility: number];

export interface ProjectChunk {
  /** Namespaces of the projects. Personal namespaces are only here. */
  readonly namespaces: readonly NamespaceRow[];
  readonly projects: readonly ProjectRow[];
}

export interface IndexChunk {
  readonly roots: readonly (readonly [groupId: number, rootId: number])[];
  readonly paths: readonly (readonly [path: string, rootId: number])[];
}

const VISIBILITIES: readonly (string | undefined)[] = [undefined, 'private', 'internal', 'public'];

export const visibilityCode = (visibility: string | undefined): number =>
  Math.max(0, VISIBILITIES.indexOf(visibility));
export const visibilityName = (code: number): string | undefined => VISIBILITIES[code];

const CHUNK_CHARACTERS_MAX = 256 * 1024 * 1024;
const HASH_CHARACTERS = 16;

export const hashChunk = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, HASH_CHARACTERS);

/** Its hash proves that this folder wrote it: its shape needs no second look. @throws {DirectoryError} `directory_unreadable` */
function unpackedChunk<Body>(name: string, bytes: Uint8Array | undefined, hash?: string): Body {
  if (bytes === undefined) throw unreadable(name, 'is not there');
  let text: string;
  let body: unknown;
  try {
    text = brotliDecompressSync(bytes, { maxOutputLength: CHUNK_CHARACTERS_MAX }).toString('utf8');
    body = JSON.parse(text);
  } catch {
    throw unreadable(name, 'is damaged');
  }
  if (!isRecord(body) || (hash !== undefined && hashChunk(text) !== hash))
    throw unreadable(name, 'is not what was written');
  return body as Body;
}

const unreadable = (name: string, what: string): DirectoryError =>
  new DirectoryError('directory_unreadable', `chunk ${name} ${what}: sync the directory again`);

export interface StoredChunk {
  readonly version: string;
  readonly hash: string;
}

export interface Manifest {
  readonly chunks: Readonly<Record<string, StoredChunk>>;
}

/** Between the runs of the sync: what a listing that takes several runs has so far, and what may be thrown away. */
export interface SyncProgress {
  readonly groupsPass?: {
    readonly page: string;
    readonly listed: readonly string[];
  };
  readonly projectsPass?: {
    readonly chunk: number;
  };
  readonly groupsListedAtMs?: number;
  readonly projectsListedAtMs?: number;
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

export const ownChunks = ({ manifest, progress }: DirectoryPointer) => ({
  manifest: { version: manifest, name: MANIFEST },
  progress: { version: progress, name: PROGRESS },
});

const readerOf =
  <Body>(which: 'manifest' | 'progress') =>
  async (pointer: DirectoryPointer, table: DirectoryTable, options: ReadOptions): Promise<Body> => {
    const at = ownChunks(pointer)[which];
    const [bytes] = await table.readChunks([at], options);
    return unpackedChunk<Body>(at.name, bytes);
  };

export const readManifest = readerOf<Manifest>('manifest');
export const readProgress = readerOf<SyncProgress>('progress');

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
