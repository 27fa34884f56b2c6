import {
  type Directory,
  type DirectoryGroup,
  type DirectoryProject,
  indexDirectory,
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

interface DirectoryPart {
  readonly directory: Directory;
  /** Groups that the last listing did not have: who has their path by now goes before them. */
  readonly missed: ReadonlySet<number>;
}

/** Chains are whole: a chunk has every group of a root. */
function groupPart({ groups }: GroupChunk): DirectoryPart {
  // The last of a path has it.
  const rows = [...groups].sort((a, b) => b[4] - a[4] || a[0] - b[0]);
  return {
    directory: indexDirectory(rows.map(toGroup)),
    missed: new Set(rows.filter(([, , , , missed]) => missed > 0).map(([id]) => id)),
  };
}

const toGroup = ([id, parentId, path, code]: StoredGroupRow): DirectoryGroup => ({
  id,
  path,
  personal: false,
  ...(parentId > 0 && { parentId }),
  ...withVisibility(code),
});

/** @param known - has better paths of groups: a project's own is only as new as its last change. */
function projectPart({ namespaces, projects }: ProjectChunk, known: Directory): DirectoryPart {
  const paths = new Map(namespaces.map(([id, path]) => [id, path]));
  const personal = namespaces.flatMap(([id, path, isPersonal]): DirectoryGroup[] =>
    isPersonal ? [{ id, path, personal: true }] : [],
  );
  const rows = projects.map(
    ([id, groupId, slug, code]): DirectoryProject => ({
      id,
      groupId,
      path: `${known.groupById.get(groupId)?.path ?? paths.get(groupId) ?? ''}/${slug}`,
      ...withVisibility(code),
    }),
  );
  return { directory: indexDirectory(personal, rows), missed: new Set() };
}

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
    const { directory, missed } = 'groups' in chunk ? groupPart(chunk) : projectPart(chunk, this);
    for (const [id, group] of directory.groupById) this.groupById.set(id, group);
    for (const [id, chain] of directory.chainById) this.chainById.set(id, chain);
    for (const [path, group] of directory.groupByPath) {
      if (!missed.has(group.id) || !this.groupByPath.has(path)) this.groupByPath.set(path, group);
    }
    for (const [id, project] of directory.projectById) this.projectById.set(id, project);
    for (const [path, project] of directory.projectByPath) {
      // Two of one path: the other was renamed or deleted, and the younger one has it by now.
      if ((this.projectByPath.get(path)?.id ?? 0) < project.id) this.projectByPath.set(path, project);
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
