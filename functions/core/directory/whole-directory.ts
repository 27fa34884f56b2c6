import type { Directory } from '../../../policies/place/directory.ts';
import { type GroupChunk, INDEX, type ProjectChunk, projectChunkNumberOf } from './chunks.ts';
import { GrowingDirectory, groupPart, projectPart } from './directory-part.ts';
import type { DirectoryPointer, DirectoryTable, ReadOptions } from './directory-table.ts';
import { type Manifest, readLiveChunks, readManifest } from './manifest.ts';

export interface WholeDirectory {
  readonly pointer: DirectoryPointer;
  readonly directory: Directory;
}

/** Parallel reads of chunks. */
const AT_ONCE = 16;

/**
 * Reads all groups and projects: to split limits by root or to show the directory, not to decide about jobs.
 * 100 000 projects are 200 reads and about 30 MB. Undefined until all groups were listed once.
 *
 * @throws {DirectoryError} either code
 */
export async function readWholeDirectory(
  table: DirectoryTable,
  options: ReadOptions,
): Promise<WholeDirectory | undefined> {
  const pointer = await table.getPointer(options);
  if (pointer === undefined || !pointer.live) return undefined;
  const manifest = await readManifest(pointer, table, options);
  const directory = new GrowingDirectory();
  const names = Object.keys(manifest.chunks).filter((name) => name !== INDEX);
  const isProjects = (name: string): boolean => projectChunkNumberOf(name) !== undefined;
  // Groups first: projects take their paths from them.
  for (const some of inPieces(names.filter((name) => !isProjects(name)))) {
    for (const body of await read<GroupChunk>(some, manifest)) directory.add(groupPart(body));
  }
  const groupPath = (groupId: number): string | undefined => directory.groupById.get(groupId)?.path;
  for (const some of inPieces(names.filter(isProjects))) {
    for (const body of await read<ProjectChunk>(some, manifest)) directory.add(projectPart(body, groupPath));
  }
  return { pointer, directory };

  async function read<Body>(some: readonly string[], { chunks }: Manifest): Promise<readonly Body[]> {
    const bodies = await readLiveChunks<Body>(some, { chunks }, table, options);
    return bodies.filter((body) => body !== undefined);
  }
}

const inPieces = (names: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(names.length / AT_ONCE) }, (_, at) =>
    names.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  );
