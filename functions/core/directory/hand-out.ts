/** The live directory for relays, which have no rights on the table: groups and personal namespaces, in the parts that changed. */

import type { Directory } from '../../../policies/directory.ts';
import type { HandOutDirectory } from '../admission/judge.ts';
import {
  DIRECTORY_PARTS_MAX,
  DIRECTORY_PARTS_PER_RESPONSE_MAX,
  type DirectoryRow,
} from '../contract/admissions.ts';
import {
  type GroupChunk,
  hashChunk,
  INDEX,
  type Manifest,
  type ProjectChunk,
  readLiveChunks,
  readManifest,
  readProgress,
  visibilityCode,
} from './chunks.ts';
import { DirectoryError, type DirectoryTable } from './directory-table.ts';

const WAIT = { timeoutMs: 5_000 };

/** When all groups were last listed to their end, Unix ms; undefined: never. @throws {DirectoryError} */
export async function directoryListedAtMs(table: DirectoryTable): Promise<number | undefined> {
  const pointer = await table.getPointer(WAIT);
  if (pointer === undefined || !pointer.live) return undefined;
  return (await readProgress(pointer, table, WAIT)).groupsListedAtMs ?? 0;
}

/** Keep one per process: it remembers which version it read. @throws {DirectoryError} either code, from what it returns. */
export function directoryHandOut({
  table,
  clock,
}: {
  readonly table: DirectoryTable;
  readonly clock: { nowMs(): number };
}): HandOutDirectory {
  let known: { readonly edit: number; readonly manifest: Manifest; readonly listedAtMs: number } | undefined;
  return async (have) => {
    const pointer = await table.getPointer(WAIT);
    if (pointer === undefined || !pointer.live) return { live: false };
    const { edit } = pointer;
    if (known?.edit !== edit) {
      const reading = [readManifest(pointer, table, WAIT), readProgress(pointer, table, WAIT)] as const;
      const [manifest, { groupsListedAtMs = 0 }] = await Promise.all(reading);
      known = { edit, manifest, listedAtMs: groupsListedAtMs };
    }
    const { manifest, listedAtMs } = known;
    const names = Object.keys(manifest.chunks).filter((name) => name !== INDEX);
    if (names.length > DIRECTORY_PARTS_MAX) {
      throw new DirectoryError('directory_unreadable', `${names.length} chunks are more than are handed out`);
    }
    const parts = Object.fromEntries(names.map((name) => [name, manifest.chunks[name]?.hash ?? '']));
    const changed = names
      .filter((name) => have[name] !== parts[name])
      .slice(0, DIRECTORY_PARTS_PER_RESPONSE_MAX);
    const bodies = await readLiveChunks<GroupChunk | ProjectChunk>(changed, manifest, table, WAIT);
    return {
      ...{ live: true, ageMs: Math.max(0, clock.nowMs() - listedAtMs), parts },
      changed: Object.fromEntries(changed.map((name, index) => [name, rowsIn(bodies[index])])),
    };
  };
}

function rowsIn(body: GroupChunk | ProjectChunk | undefined): readonly DirectoryRow[] {
  if (body === undefined) return [];
  return 'groups' in body
    ? body.groups.map(([id, parentId, path, visibility, missed]) => [
        id,
        parentId,
        path,
        visibility,
        0,
        missed,
      ])
    : body.namespaces.flatMap(([id, path, personal]) => (personal ? [[id, 0, path, 0, 1, 0] as const] : []));
}

/** A directory that does not change while the process lives, e.g. the one of a local run, in one part. */
export function handOutKnown(directory: Directory): HandOutDirectory {
  const rows = [...directory.groupById.values()].map(
    ({ id, parentId = 0, path, visibility, personal }): DirectoryRow => [
      ...([id, parentId, path, visibilityCode(visibility)] as const),
      ...([personal ? 1 : 0, 0] as const),
    ],
  );
  const hash = hashChunk(JSON.stringify(rows));
  return async (have) => ({
    ...{ live: true, ageMs: 0, parts: { groups: hash } },
    changed: have.groups === hash ? {} : { groups: rows },
  });
}
