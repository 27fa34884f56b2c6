/** All groups of the instance, as the sync knows them. */
import { GROUP_LEVELS_MAX, pathKey } from '../../../policies/place/directory.ts';
import type { GitLabGroup } from '../gitlab/index.ts';
import {
  GROUP_CHUNK_NAMES,
  type GroupChunk,
  groupChunk,
  INDEX,
  type IndexChunk,
  type StoredGroupRow,
  visibilityCode,
} from './chunks.ts';
import { AT_ONCE, type DirectoryDraft } from './draft.ts';

export type GroupTree = Map<number, StoredGroupRow>;

export const rowOf = ({ id, parentId = 0, path, visibility }: GitLabGroup): StoredGroupRow => [
  id,
  parentId,
  path,
  visibilityCode(visibility),
  0,
];

/** The topmost group above that is known; the group itself where none is. */
function topGroupOf(groupId: number, groups: ReadonlyMap<number, StoredGroupRow>): number {
  let id = groupId;
  for (let level = 1; level < GROUP_LEVELS_MAX; level += 1) {
    const parentId = groups.get(id)?.[1] ?? 0;
    if (!groups.has(parentId)) return id;
    id = parentId;
  }
  return id;
}

export async function readGroups(draft: DirectoryDraft): Promise<GroupTree> {
  const chunks = await draft.read<GroupChunk>(GROUP_CHUNK_NAMES);
  return new Map(chunks.flatMap((chunk) => chunk?.groups ?? []).map((row) => [row[0], row]));
}

/** Returns true if any chunk changed. */
export async function writeGroups(groups: GroupTree, draft: DirectoryDraft): Promise<boolean> {
  const rows = [...groups.values()].sort((a, b) => a[0] - b[0]);
  const chunks = new Map<string, StoredGroupRow[]>(GROUP_CHUNK_NAMES.map((name) => [name, []]));
  const roots: [number, number][] = [];
  const paths: [string, number][] = [];
  for (const row of rows) {
    const [id, , path] = row;
    const rootId = topGroupOf(id, groups);
    chunks.get(groupChunk(rootId))?.push(row);
    if (rootId === id) paths.push([pathKey(path), id]);
    else roots.push([id, rootId]);
  }
  const bodies: [string, object][] = [[INDEX, { roots, paths } satisfies IndexChunk]];
  for (const [name, some] of chunks) {
    if (some.length === 0) draft.remove(name);
    else bodies.push([name, { groups: some } satisfies GroupChunk]);
  }
  let changed = false;
  for (let first = 0; first < bodies.length; first += AT_ONCE) {
    const some = bodies.slice(first, first + AT_ONCE);
    const written = await Promise.all(some.map(([name, body]) => draft.write(name, body)));
    changed ||= written.includes(true);
  }
  return changed;
}
