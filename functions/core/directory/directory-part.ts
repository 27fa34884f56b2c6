/** Chunks as parts of the directory, and parts put together. */
import {
  type Directory,
  type DirectoryGroup,
  type DirectoryProject,
  directoryOf,
} from '../../../policies/place/directory.ts';
import { type GroupChunk, type ProjectChunk, type StoredGroupRow, visibilityOf } from './chunks.ts';

export interface DirectoryPart {
  readonly directory: Directory;
  /** Groups that the last listing did not have: who has their path by now goes before them. */
  readonly missed: ReadonlySet<number>;
}

/** Chains are whole: a chunk has every group of a root. */
export function groupPart({ groups }: GroupChunk): DirectoryPart {
  // The last of a path has it.
  const rows = [...groups].sort((a, b) => b[4] - a[4] || a[0] - b[0]);
  return {
    directory: directoryOf(rows.map(groupOf)),
    missed: new Set(rows.filter(([, , , , missed]) => missed > 0).map(([id]) => id)),
  };
}

const groupOf = ([id, parentId, path, code]: StoredGroupRow): DirectoryGroup => ({
  id,
  path,
  personal: false,
  ...(parentId > 0 && { parentId }),
  ...withVisibility(code),
});

/** @param groupPath - paths of groups that are known better: a project's own is only as new as its last change. */
export function projectPart(
  { namespaces, projects }: ProjectChunk,
  groupPath: (groupId: number) => string | undefined,
): DirectoryPart {
  const paths = new Map(namespaces.map(([id, path]) => [id, path]));
  const personal = namespaces.flatMap(([id, path, isPersonal]): DirectoryGroup[] =>
    isPersonal ? [{ id, path, personal: true }] : [],
  );
  const rows = projects.map(
    ([id, groupId, slug, code]): DirectoryProject => ({
      id,
      groupId,
      path: `${groupPath(groupId) ?? paths.get(groupId) ?? ''}/${slug}`,
      ...withVisibility(code),
    }),
  );
  return { directory: directoryOf(personal, rows), missed: new Set() };
}

const withVisibility = (code: number): { readonly visibility?: string } => {
  const visibility = visibilityOf(code);
  return visibility === undefined ? {} : { visibility };
};

/** A directory that grows by whole parts; those who hold it see more, never something else. */
export class GrowingDirectory implements Directory {
  readonly groupById = new Map<number, DirectoryGroup>();
  readonly groupByPath = new Map<string, DirectoryGroup>();
  readonly projectById = new Map<number, DirectoryProject>();
  readonly projectByPath = new Map<string, DirectoryProject>();
  readonly chainById = new Map<number, readonly DirectoryGroup[]>();

  add({ directory, missed }: DirectoryPart): void {
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
