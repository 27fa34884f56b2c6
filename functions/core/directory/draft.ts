import { GROUP_LEVELS_MAX, pathKey } from '../../../policies/directory.ts';
import { atOnce } from '../environment/environment.ts';
import type { GitLabGroup } from '../gitlab/rest-gitlab.ts';
import { packText } from '../limits/limit-table.ts';
import { readInParts } from '../store/parts.ts';
import {
  GROUP_CHUNK_NAMES,
  type GroupChunk,
  groupChunk,
  hashChunk,
  INDEX,
  type IndexChunk,
  MANIFEST,
  NOT_BEGUN,
  NOTHING,
  ownChunks,
  PROGRESS,
  readLiveChunks,
  readManifest,
  readProgress,
  type StoredChunk,
  type StoredGroupRow,
  type SyncProgress,
  visibilityCode,
} from './chunks.ts';
import type { ChunkAddress, DirectoryTable } from './directory-table.ts';

const WAIT = { timeoutMs: 10_000 };
const AT_ONCE = 8;
/** Readers look for a new version every minute, and want chunks of the one they know until then. */
const RETIRED_MS = 60 * 60_000;
const RETIRED_MAX = 500;

interface DraftOptions {
  readonly table: DirectoryTable;
  /** Makes the run's chunks different from those of every other run, also of one that begins at the same version. */
  readonly runId: string;
  readonly nowMs: number;
}

type Chunks = Readonly<Record<string, StoredChunk>>;

interface Layer {
  readonly before: Chunks;
  readonly now: Record<string, StoredChunk>;
}

type Where = 'live' | 'aside';

const newLayer = (before: Chunks): Layer => ({ before, now: { ...before } });

export type DirectoryDraft = Awaited<ReturnType<typeof openDraft>>;

export async function openDraft({ table, runId, nowMs }: DraftOptions) {
  const pointer = await table.getPointer(WAIT);
  const [manifest, before] =
    pointer === undefined
      ? [NOTHING, NOT_BEGUN]
      : await Promise.all([readManifest(pointer, table, WAIT), readProgress(pointer, table, WAIT)]);
  const layers: Readonly<Record<Where, Layer>> = {
    live: newLayer(manifest.chunks),
    aside: newLayer(before.chunks),
  };
  const version = `${(pointer?.edit ?? 0) + 1}-${runId}`;
  const written: ChunkAddress[] = [];

  async function put(name: string, text: string): Promise<void> {
    const at = { version, name };
    written.push(at);
    await table.putChunk(at, packText(text), WAIT);
  }

  return {
    progress: before,
    live: pointer?.live ?? false,
    names: (): readonly string[] => Object.keys(layers.live.now),

    read<Body>(names: readonly string[], where: Where = 'live'): Promise<readonly (Body | undefined)[]> {
      const chunks = layers[where].now;
      return readInParts(names, (some) => readLiveChunks<Body>(some, { chunks }, table, WAIT), AT_ONCE);
    },

    async write(name: string, body: object, where: Where = 'live'): Promise<void> {
      const { before: old, now } = layers[where];
      const text = JSON.stringify(body);
      const hash = hashChunk(text);
      if (now[name]?.hash === hash) return;
      const was = old[name];
      if (was?.hash !== hash) await put(name, text);
      now[name] = was?.hash === hash ? was : { version, hash };
    },

    remove(name: string): void {
      delete layers.live.now[name];
    },

    dropAside(): void {
      for (const name of Object.keys(layers.aside.now)) delete layers.aside.now[name];
    },

    /** Makes all that was written live, or nothing. @throws {DirectoryError} It may be live or not; the next run goes on from there. */
    async flip(progress: Omit<SyncProgress, 'chunks' | 'retired'>, live: boolean) {
      const changed = pointer === undefined || !sameChunks(layers.live);
      const gone = before.retired.slice(0, RETIRED_MAX);
      const retired = [
        ...before.retired.slice(RETIRED_MAX),
        ...replacedIn(layers.live),
        ...replacedIn(layers.aside),
        ...(pointer === undefined ? [] : [ownChunks(pointer).progress]),
        ...(pointer === undefined || !changed ? [] : [ownChunks(pointer).manifest]),
      ];
      await put(PROGRESS, JSON.stringify({ ...progress, chunks: layers.aside.now, retired }));
      if (changed) await put(MANIFEST, JSON.stringify({ chunks: layers.live.now }));
      const to = { edit: (pointer?.edit ?? 0) + 1, progress: version, live, atMs: nowMs };
      const flipped = await table.flip({ ...to, manifest: changed ? version : pointer.manifest }, WAIT);
      // A run that lost the race leaves nothing readable. Chunks that cannot be expired now stay as a few KB of garbage.
      await atOnce(flipped === 'flipped' ? gone : written, AT_ONCE, (at) =>
        table.expireChunk(at, nowMs + RETIRED_MS, WAIT).catch(() => {}),
      );
      return flipped;
    },
  };
}

const replacedIn = ({ before, now }: Layer): readonly ChunkAddress[] =>
  Object.entries(before)
    .filter(([name, { version }]) => now[name]?.version !== version)
    .map(([name, { version }]) => ({ version, name }));

const sameChunks = ({ before, now }: Layer): boolean =>
  Object.keys(before).length === Object.keys(now).length &&
  Object.entries(now).every(([name, { hash }]) => before[name]?.hash === hash);

export type GroupTree = Map<number, StoredGroupRow>;

export const groupRow = ({ id, parentId = 0, path, visibility }: GitLabGroup): StoredGroupRow => [
  id,
  parentId,
  path,
  visibilityCode(visibility),
  0,
];

function findRoot(groupId: number, groups: ReadonlyMap<number, StoredGroupRow>): number {
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

export async function writeGroups(groups: GroupTree, draft: DirectoryDraft): Promise<void> {
  const rows = [...groups.values()].sort((a, b) => a[0] - b[0]);
  const chunks = new Map<string, StoredGroupRow[]>(GROUP_CHUNK_NAMES.map((name) => [name, []]));
  const roots: [number, number][] = [];
  const paths: [string, number][] = [];
  for (const row of rows) {
    const [id, , path] = row;
    const rootId = findRoot(id, groups);
    chunks.get(groupChunk(rootId))?.push(row);
    if (rootId === id) paths.push([pathKey(path), id]);
    else roots.push([id, rootId]);
  }
  const bodies: [string, object][] = [[INDEX, { roots, paths } satisfies IndexChunk]];
  for (const [name, some] of chunks) {
    if (some.length === 0) draft.remove(name);
    else bodies.push([name, { groups: some } satisfies GroupChunk]);
  }
  await atOnce(bodies, AT_ONCE, ([name, body]) => draft.write(name, body));
}
