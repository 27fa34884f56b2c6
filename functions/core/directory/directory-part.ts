import {
  type Directory,
  type DirectoryGroup,
  type DirectoryProject,
  indexDirectory,
  pathKey,
} from '../../../policies/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { inParts } from '../store/parts.ts';
import {
  type GroupChunk,
  INDEX,
  type ProjectChunk,
  projectChunkNumberOf,
  readLiveChunks,
  readManifest,
  type StoredGroupRow,
  visibilityName,
} from './chunks.ts';
import type { DirectoryTable, ReadOptions } from './directory-table.ts';

const toGroup = ([id, parentId, path, code]: StoredGroupRow): DirectoryGroup => ({
  id,
  path,
  personal: false,
  ...(parentId > 0 && { parentId }),
  ...withVisibility(code),
});

const withVisibility = (code: number): { readonly visibility?: string } =>
  withoutAbsent({ visibility: visibilityName(code) });

/** A directory that grows by whole parts; those who hold it see more, never something else. */
export class GrowingDirectory implements Directory {
  readonly groupById = new Map<number, DirectoryGroup>();
  readonly groupByPath = new Map<string, DirectoryGroup>();
  readonly projectById = new Map<number, DirectoryProject>();
  readonly projectByPath = new Map<string, DirectoryProject>();
  readonly chainById = new Map<number, readonly DirectoryGroup[]>();

  /** Add groups before projects: these take their paths from them. */
  addChunk(chunk: GroupChunk | ProjectChunk): void {
    if ('groups' in chunk) this.#addGroups(chunk);
    else this.#addProjects(chunk);
  }

  /** Chains are whole: a chunk has every group of a root. */
  #addGroups({ groups }: GroupChunk): void {
    // The last of a path has it; a group that the last listing did not have gives way to any other.
    const rows = [...groups].sort((a, b) => b[4] - a[4] || a[0] - b[0]);
    const missed = new Set(rows.filter((row) => row[4] > 0).map(([id]) => id));
    const { groupById, groupByPath, chainById } = indexDirectory(rows.map(toGroup));
    for (const [id, group] of groupById) this.groupById.set(id, group);
    for (const [id, chain] of chainById) this.chainById.set(id, chain);
    for (const [path, group] of groupByPath)
      if (!missed.has(group.id) || !this.groupByPath.has(path)) this.groupByPath.set(path, group);
  }

  /** A project's own path is only as new as its last change: that of its group goes before it. */
  #addProjects({ namespaces, projects }: ProjectChunk): void {
    const paths = new Map(namespaces.map(([id, path]) => [id, path]));
    for (const [id, groupId, slug, code] of projects) {
      const path = `${this.groupById.get(groupId)?.path ?? paths.get(groupId) ?? ''}/${slug}`;
      const project = { id, groupId, path, ...withVisibility(code) };
      this.projectById.set(id, project);
      // Two of one path: the other was renamed or deleted, and the younger one has it by now.
      const key = pathKey(path);
      if ((this.projectByPath.get(key)?.id ?? 0) < id) this.projectByPath.set(key, project);
    }
    for (const [id, path, isPersonal] of namespaces) {
      if (!isPersonal) continue;
      const group = { id, path, personal: true };
      this.groupById.set(id, group);
      this.chainById.set(id, [group]);
      this.groupByPath.set(pathKey(path), group);
    }
  }
}

const AT_ONCE = 16;

/** For reports and edits: 100 000 projects are 200 reads and 30 MB. Undefined until all groups were listed once. @throws {DirectoryError} */
export async function readWholeDirectory(table: DirectoryTable, options: ReadOptions) {
  const pointer = await table.getPointer(options);
  if (pointer === undefined || !pointer.live) return undefined;
  const manifest = await readManifest(pointer, table, options);
  const directory = new GrowingDirectory();
  const names = Object.keys(manifest.chunks).filter((name) => name !== INDEX);
  const isProjects = (name: string): boolean => projectChunkNumberOf(name) !== undefined;
  const inOrder = [...names.filter((name) => !isProjects(name)), ...names.filter(isProjects)];
  for (const some of inParts(inOrder, AT_ONCE)) {
    const bodies = await readLiveChunks<GroupChunk | ProjectChunk>(some, manifest, table, options);
    for (const body of bodies) if (body !== undefined) directory.addChunk(body);
  }
  return { pointer, directory };
}
