/** The live directory for relays, which have no rights on the table: groups and personal namespaces, in the parts that changed. */

import type { Directory } from '../../../policies/directory.ts';
import type { HandOutDirectory } from '../admission/judge.ts';
import {
  DIRECTORY_PARTS_MAX,
  DIRECTORY_PARTS_PER_RESPONSE_MAX,
  type DirectoryResponse,
  type DirectoryRow,
} from '../contract/admissions.ts';
import {
  chunkHashOf,
  type GroupChunk,
  INDEX,
  type Manifest,
  PROGRESS,
  type ProjectChunk,
  progressAt,
  readLiveChunks,
  readManifest,
  type SyncProgress,
  unpackedChunk,
  visibilityCode,
} from './chunks.ts';
import { DirectoryError, type DirectoryPointer, type DirectoryTable } from './directory-table.ts';

const WAIT = { timeoutMs: 5_000 };

interface Known {
  readonly pointer: DirectoryPointer;
  readonly manifest: Manifest;
  readonly listedAtMs: number;
}

/** When all groups were last listed to their end, Unix ms; undefined: never. @throws {DirectoryError} */
export async function directoryListedAtMs(table: DirectoryTable): Promise<number | undefined> {
  const pointer = await table.getPointer(WAIT);
  return pointer?.live === true ? listedAtMsOf(pointer, table) : undefined;
}

async function listedAtMsOf(pointer: DirectoryPointer, table: DirectoryTable): Promise<number> {
  const [bytes] = await table.readChunks([progressAt(pointer)], WAIT);
  return unpackedChunk<SyncProgress>(PROGRESS, bytes).groupsListedAtMs ?? 0;
}

/** Keep one per process: it remembers which version it read. @throws {DirectoryError} either code, from what it returns. */
export function directoryHandOut(deps: {
  readonly table: DirectoryTable;
  readonly clock: { nowMs(): number };
}): HandOutDirectory {
  const { table, clock } = deps;
  let known: Known | undefined;

  return async (have) => {
    const pointer = await table.getPointer(WAIT);
    if (pointer === undefined || !pointer.live) return { live: false };
    if (known?.pointer.edit !== pointer.edit) known = await read(pointer);
    const { manifest, listedAtMs } = known;
    const names = Object.keys(manifest.chunks).filter((name) => name !== INDEX);
    if (names.length > DIRECTORY_PARTS_MAX) {
      throw new DirectoryError('directory_unreadable', `${names.length} chunks are more than are handed out`);
    }
    const parts = Object.fromEntries(names.map((name) => [name, manifest.chunks[name]?.hash ?? '']));
    const changed = names
      .filter((name) => have[name] !== parts[name])
      .slice(0, DIRECTORY_PARTS_PER_RESPONSE_MAX);
    return {
      live: true,
      ageMs: Math.max(0, clock.nowMs() - listedAtMs),
      parts,
      changed: await rowsOf(changed, manifest),
    };
  };

  async function read(pointer: DirectoryPointer): Promise<Known> {
    const [manifest, listedAtMs] = await Promise.all([
      readManifest(pointer, table, WAIT),
      listedAtMsOf(pointer, table),
    ]);
    return { pointer, manifest, listedAtMs };
  }

  async function rowsOf(
    names: readonly string[],
    manifest: Manifest,
  ): Promise<Extract<DirectoryResponse, { live: true }>['changed']> {
    const bodies = await readLiveChunks<GroupChunk | ProjectChunk>(names, manifest, table, WAIT);
    return Object.fromEntries(
      names.map((name, index) => {
        const body = bodies[index];
        return [name, body === undefined ? [] : 'groups' in body ? groupRows(body) : personalRows(body)];
      }),
    );
  }
}

const groupRows = ({ groups }: GroupChunk): readonly DirectoryRow[] =>
  groups.map(([id, parentId, path, visibility, missed]) => [id, parentId, path, visibility, 0, missed]);

const personalRows = ({ namespaces }: ProjectChunk): readonly DirectoryRow[] =>
  namespaces.flatMap(([id, path, personal]): DirectoryRow[] => (personal ? [[id, 0, path, 0, 1, 0]] : []));

/** A directory that does not change while the process lives, e.g. the one of a local run, in one part. */
export function handOutKnown(directory: Directory): HandOutDirectory {
  const rows = [...directory.groupById.values()].map(
    ({ id, parentId = 0, path, visibility, personal }): DirectoryRow => [
      ...([id, parentId, path, visibilityCode(visibility)] as const),
      ...([personal ? 1 : 0, 0] as const),
    ],
  );
  const hash = chunkHashOf(JSON.stringify(rows));
  return async (have) => ({
    ...{ live: true, ageMs: 0, parts: { groups: hash } },
    changed: have.groups === hash ? {} : { groups: rows },
  });
}
