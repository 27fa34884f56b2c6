/** The directory that a run of the sync works on: as it is live, with what the run writes aside on top. */

import { GROUP_LEVELS_MAX, pathKey } from '../../../policies/directory.ts';
import type { GitLabGroup } from '../gitlab/gitlab.ts';
import {
  chunkHashOf,
  GROUP_CHUNK_NAMES,
  type GroupChunk,
  groupChunk,
  INDEX,
  type IndexChunk,
  MANIFEST,
  type Manifest,
  manifestAt,
  NOT_BEGUN,
  NOTHING,
  PROGRESS,
  packed,
  progressAt,
  readLiveChunks,
  readManifest,
  type StoredChunk,
  type StoredGroupRow,
  type SyncProgress,
  unpackedChunk,
  visibilityCode,
} from './chunks.ts';
import type { ChunkAddress, DirectoryPointer, DirectoryTable } from './directory-table.ts';

/** No job waits for a sync. */
export const SYNC_TIMEOUT_MS = 10_000;
const WAIT = { timeoutMs: SYNC_TIMEOUT_MS };
/** Parallel reads and writes. */
const AT_ONCE = 8;
/**
 * A reader looks for a new version every minute; one that has not for an hour is not one any more. Until then it may
 * want a chunk of the version it knows.
 */
const RETIRED_MS = 60 * 60_000;
/** Chunks retired in one run; the others wait for the next. */
const RETIRED_MAX = 500;

interface DraftOptions {
  readonly table: DirectoryTable;
  /** Makes the run's chunks different from those of every other run, also of one that begins at the same version. */
  readonly runId: string;
  readonly nowMs: number;
}

export class DirectoryDraft {
  readonly #options: DraftOptions;
  readonly #pointer: DirectoryPointer | undefined;
  readonly #before: Manifest;
  readonly #chunks: Record<string, StoredChunk>;
  readonly #asideBefore: SyncProgress['chunks'];
  readonly #aside: Record<string, StoredChunk>;
  readonly #retired: SyncProgress['retired'];
  readonly #version: string;
  readonly #written: ChunkAddress[] = [];
  /** As it was when the run began. */
  readonly progress: SyncProgress;

  private constructor(
    options: DraftOptions,
    pointer: DirectoryPointer | undefined,
    manifest: Manifest,
    progress: SyncProgress,
  ) {
    this.#options = options;
    this.#pointer = pointer;
    this.#before = manifest;
    this.#chunks = { ...manifest.chunks };
    this.#asideBefore = progress.chunks;
    this.#aside = { ...progress.chunks };
    this.#retired = progress.retired;
    this.#version = `${(pointer?.edit ?? 0) + 1}-${options.runId}`;
    this.progress = progress;
  }

  /** @throws {DirectoryError} either code */
  static async open(options: DraftOptions): Promise<DirectoryDraft> {
    const { table } = options;
    const pointer = await table.getPointer(WAIT);
    if (pointer === undefined) return new DirectoryDraft(options, undefined, NOTHING, NOT_BEGUN);
    const [manifest, [progress]] = await Promise.all([
      readManifest(pointer, table, WAIT),
      table.readChunks([progressAt(pointer)], WAIT),
    ]);
    return new DirectoryDraft(options, pointer, manifest, unpackedChunk<SyncProgress>(PROGRESS, progress));
  }

  get live(): boolean {
    return this.#pointer?.live ?? false;
  }

  /** Names of the chunks a reader would see. */
  get names(): readonly string[] {
    return Object.keys(this.#chunks);
  }

  read<Body>(names: readonly string[]): Promise<readonly (Body | undefined)[]> {
    return this.#readFrom(names, this.#chunks);
  }

  readAside<Body>(names: readonly string[]): Promise<readonly (Body | undefined)[]> {
    return this.#readFrom(names, this.#aside);
  }

  async #readFrom<Body>(
    names: readonly string[],
    chunks: Readonly<Record<string, StoredChunk>>,
  ): Promise<readonly (Body | undefined)[]> {
    const bodies: (Body | undefined)[] = [];
    for (let first = 0; first < names.length; first += AT_ONCE) {
      const some = names.slice(first, first + AT_ONCE);
      bodies.push(...(await readLiveChunks<Body>(some, { chunks }, this.#options.table, WAIT)));
    }
    return bodies;
  }

  /** Writes a chunk aside unless it is as it was. Whether it changed. */
  write(name: string, body: object): Promise<boolean> {
    return this.#writeTo(this.#chunks, this.#before.chunks, name, body);
  }

  writeAside(name: string, body: object): Promise<boolean> {
    return this.#writeTo(this.#aside, this.#asideBefore, name, body);
  }

  async #writeTo(
    chunks: Record<string, StoredChunk>,
    before: SyncProgress['chunks'],
    name: string,
    body: object,
  ): Promise<boolean> {
    const text = JSON.stringify(body);
    const hash = chunkHashOf(text);
    if (chunks[name]?.hash === hash) return false;
    const was = before[name];
    if (was?.hash === hash) {
      chunks[name] = was;
      return true;
    }
    await this.#put(name, text);
    chunks[name] = { version: this.#version, hash };
    return true;
  }

  remove(name: string): void {
    delete this.#chunks[name];
  }

  /** Partial listings that are used up. */
  dropAside(): void {
    for (const name of Object.keys(this.#aside)) delete this.#aside[name];
  }

  /**
   * Makes what was written live, all of it or nothing, and lets go what the version before replaced.
   *
   * @throws {DirectoryError} `directory_unavailable`: it may be live or not; the next run goes on from whichever it is.
   */
  async flip(
    progress: Omit<SyncProgress, 'chunks' | 'retired'>,
    live: boolean,
  ): Promise<'flipped' | 'stale'> {
    const { table, nowMs } = this.#options;
    const changed = this.#pointer === undefined || !sameChunks(this.#chunks, this.#before.chunks);
    const gone = this.#retired.slice(0, RETIRED_MAX);
    const retired = [...this.#retired.slice(RETIRED_MAX), ...this.#replaced(changed)];
    await this.#put(PROGRESS, JSON.stringify({ ...progress, chunks: this.#aside, retired }));
    if (changed) await this.#put(MANIFEST, JSON.stringify({ chunks: this.#chunks }));
    const flipped = await table.flip(
      {
        edit: (this.#pointer?.edit ?? 0) + 1,
        manifest: changed ? this.#version : (this.#pointer?.manifest ?? ''),
        progress: this.#version,
        live,
        atMs: nowMs,
      },
      WAIT,
    );
    // A run that lost the race leaves nothing readable.
    await this.#expire(flipped === 'flipped' ? gone : [...this.#written]);
    return flipped;
  }

  async #put(name: string, text: string): Promise<void> {
    const at = { version: this.#version, name };
    this.#written.push(at);
    await this.#options.table.putChunk(at, packed(text), WAIT);
  }

  #replaced(changed: boolean): readonly ChunkAddress[] {
    const pointer = this.#pointer;
    return [
      ...replacedIn(this.#before.chunks, this.#chunks),
      ...replacedIn(this.#asideBefore, this.#aside),
      ...(pointer === undefined ? [] : [progressAt(pointer)]),
      ...(pointer === undefined || !changed ? [] : [manifestAt(pointer)]),
    ];
  }

  /** Chunks that cannot be expired now stay as a few KB of garbage. */
  async #expire(gone: readonly ChunkAddress[]): Promise<void> {
    const { table, nowMs } = this.#options;
    for (let first = 0; first < gone.length; first += AT_ONCE) {
      const some = gone.slice(first, first + AT_ONCE);
      await Promise.allSettled(some.map((at) => table.expireChunk(at, nowMs + RETIRED_MS, WAIT)));
    }
  }
}

const replacedIn = (
  before: Readonly<Record<string, StoredChunk>>,
  now: Readonly<Record<string, StoredChunk>>,
): readonly ChunkAddress[] =>
  Object.entries(before)
    .filter(([name, { version }]) => now[name]?.version !== version)
    .map(([name, { version }]) => ({ version, name }));

const sameChunks = (
  a: Readonly<Record<string, StoredChunk>>,
  b: Readonly<Record<string, StoredChunk>>,
): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, { hash }]) => b[name]?.hash === hash);

// All groups of the instance, as the sync knows them.

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
