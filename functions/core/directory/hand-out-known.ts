import type { Directory } from '../../../policies/place/directory.ts';
import type { HandOutDirectory } from '../admission/index.ts';
import { DIRECTORY_PARTS_MAX, type DirectoryRow } from '../contract/index.ts';
import { chunkHashOf, visibilityCode } from './chunks.ts';

/** A directory that does not change while the process lives, e.g. the one of a local run, always as new as can be. */
export function handOutKnown(directory: Directory): HandOutDirectory {
  const parts = new Map<string, DirectoryRow[]>();
  for (const { id, parentId, path, visibility, personal } of directory.groupById.values()) {
    const name = `groups/${id % DIRECTORY_PARTS_MAX}`;
    const row: DirectoryRow = [id, parentId ?? 0, path, visibilityCode(visibility), personal ? 1 : 0, 0];
    parts.set(name, [...(parts.get(name) ?? []), row]);
  }
  const rows = Object.fromEntries(parts);
  const hashes = Object.fromEntries(
    [...parts].map(([name, some]) => [name, chunkHashOf(JSON.stringify(some))]),
  );
  return async (have) => ({
    live: true,
    ageMs: 0,
    parts: hashes,
    changed: Object.fromEntries(Object.entries(rows).filter(([name]) => have[name] !== hashes[name])),
  });
}
