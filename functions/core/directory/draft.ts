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
  type Manifest,
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
import type { ChunkAddress, DirectoryPointer, DirectoryTable } from './directory-table.ts';

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

export class DirectoryDraft {
  readonly #options: DraftOptions;
  readonly #pointer: DirectoryPointer | undefined;
  readonly #live: Layer;
  readonly #aside: Layer;
  readonly #version: string;
  readonly #written: ChunkAddress[] = [];
  readonly progress: SyncProgress;

  private constructor(
    options: DraftOptions,
    pointer: DirectoryPointer | undefined,
    manifest: Manifest,
    progress: SyncProgress,
  ) {
    this.#options = options;
    this.#pointer = pointer;
    this.#live = newLayer(manifest.chunks);
    this.#aside = newLayer(progress.chunks);
    this.#version = `${(pointer?.edit ?? 0) + 1}-${options.runId}`;
    this.progress = progress;
  }

  static async open(options: DraftOptions): Promise<DirectoryDraft> {
    const { table } = options;
    const pointer = await table.getPointer(WAIT);
    if (pointer === undefined) return new DirectoryDraft(options, undefined, NOTHING, NOT_BEGUN);
    const [manifest, progress] = await Promise.all([
      readManifest(pointer, table, WAIT),
      readProgress(pointer, table, WAIT),
    ]);
    return new DirectoryDraft(options, pointer, manifest, progress);
  }

  get live(): boolean {
    return this.#pointer?.live ?? false;
  }

  get names(): readonly string[] {
    return Object.keys(this.#live.now);
  }

  read<Body>(names: readonly string[], where: Where = 'live'): Promise<readonly (Body | undefined)[]> {
    const chunks = this.#layer(where).now;
    const read = (some: readonly string[]) =>
      readLiveChunks<Body>(some, { chunks }, this.#options.table, WAIT);
    return readInParts(names, read, AT_ONCE);
  }

  async write(name: string, body: object, where: Where = 'live'): Promise<void> {
    const { before, now } = this.#layer(where);
    const text = JSON.stringify(body);
    const hash = hashChunk(text);
    if (now[name]?.hash === hash) return;
    const was = before[name];
    if (was?.hash !== hash) await this.#put(name, text);
    now[name] = was?.hash === hash ? was : { version: this.#version, hash };
  }

  #layer(where: Where): Layer {
    return where === 'live' ? this.#live : this.#aside;
  }

  remove(name: string): void {
    delete this.#live.now[name];
  }

  dropAside(): void {
    for (const name of Object.keys(this.#aside.now)) delete this.#aside.now[name];
  }

  /** Makes all that was written live, or nothing. @throws {DirectoryError} It may be live or not; the next run goes on from there. */
  async flip(
    progress: Omit<SyncProgress, 'chunks' | 'retired'>,
    live: boolean,
  ): Promise<'flipped' | 'stale'> {
    const { table, nowMs } = this.#options;
    const pointer = this.#pointer;
    const changed = pointer === undefined || !sameChunks(this.#live);
    const gone = this.progress.retired.slice(0, RETIRED_MAX);
    const retired = [
      ...this.progress.retired.slice(RETIRED_MAX),
      ...replacedIn(this.#live),
      ...replacedIn(this.#aside),
      ...(pointer === undefined ? [] : [ownChunks(pointer).progress]),
      ...(pointer === undefined || !changed ? [] : [ownChunks(pointer).manifest]),
    ];
    await this.#put(PROGRESS, JSON.stringify({ ...progress, chunks: this.#aside.now, retired }));
    if (changed) await this.#put(MANIFEST, JSON.stringify({ chunks: this.#live.now }));
    const manifest = changed ? this.#version : pointer.manifest;
    const to = { edit: (pointer?.edit ?? 0) + 1, manifest, progress: this.#version, live, atMs: nowMs };
    const flipped = await table.flip(to, WAIT);
    // A run that lost the race leaves nothing readable. Chunks that cannot be expired now stay as a few KB of garbage.
    await atOnce(flipped === 'flipped' ? gone : this.#written, AT_ONCE, (at) =>
      table.expireChunk(at, nowMs + RETIRED_MS, WAIT).catch(() => {}),
    );
    return flipped;
  }

  async #put(name: string, text: string): Promise<void> {
    const at = { version: this.#version, name };
    this.#written.push(at);
    await this.#options.table.putChunk(at, packText(text), WAIT);
  }
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
