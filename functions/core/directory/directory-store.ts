import { type Directory, pathKey } from '../../../policies/directory.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { Log } from '../environment/environment.ts';
import {
  type GroupChunk,
  groupChunk,
  INDEX,
  type IndexChunk,
  type Manifest,
  type ProjectChunk,
  projectChunk,
  projectChunkNumberOf,
  readLiveChunks,
  readManifest,
} from './chunks.ts';
import { GrowingDirectory } from './directory-part.ts';
import { DirectoryError, type DirectoryPointer, type DirectoryTable } from './directory-table.ts';

export type GroupQuery = Pick<
  AdmissionRequest,
  'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId'
>;

type Body = GroupChunk | ProjectChunk | IndexChunk;

type ChunkBodyReader = (
  names: readonly string[],
  manifest: Manifest,
) => Promise<readonly (Body | undefined)[]>;

/** 131 000 projects at most. A process that needs more reloads those it needs now. */
const PROJECT_CHUNKS_MAX = 256;

class LoadedDirectory {
  readonly manifest: Manifest;
  readonly directory = new GrowingDirectory();
  readonly #bodies = new Map<string, Body>();
  readonly #read: ChunkBodyReader;
  /** Root of a group, and of a path; only where jobs do not name their root. */
  #roots: ReadonlyMap<number, number> | undefined;
  #paths: ReadonlyMap<string, number> | undefined;

  constructor(manifest: Manifest, read: ChunkBodyReader) {
    this.manifest = manifest;
    this.#read = read;
  }

  async next(manifest: Manifest): Promise<LoadedDirectory> {
    const loaded = new LoadedDirectory(manifest, this.#read);
    const names = [...this.#bodies.keys()];
    const same = names.filter((name) => manifest.chunks[name]?.hash === this.manifest.chunks[name]?.hash);
    for (const name of same) loaded.#bodies.set(name, this.#bodies.get(name) as Body);
    await loaded.#load(names.filter((name) => !same.includes(name)));
    loaded.#join([...loaded.#bodies.keys()]);
    return loaded;
  }

  get isFull(): boolean {
    let chunks = 0;
    for (const name of this.#bodies.keys()) if (projectChunkNumberOf(name) !== undefined) chunks += 1;
    return chunks > PROJECT_CHUNKS_MAX;
  }

  /** Everything that is known of where these stand. @throws {DirectoryError} either code */
  async need(jobs: readonly GroupQuery[]): Promise<void> {
    const first = new Set<string>();
    for (const { projectId, rootNamespaceId } of jobs) {
      if (projectId !== undefined) first.add(projectChunk(projectId));
      first.add(rootNamespaceId === undefined ? INDEX : groupChunk(rootNamespaceId));
    }
    await this.#loadAndJoin([...first]);
    const rootless = jobs.filter(({ rootNamespaceId }) => rootNamespaceId === undefined);
    if (rootless.length > 0)
      await this.#loadAndJoin(rootless.flatMap((job) => this.#findGroupChunk(job) ?? []));
  }

  #findGroupChunk({ projectId, namespaceId, projectPath }: GroupQuery): string | undefined {
    const project = projectId === undefined ? undefined : this.directory.projectById.get(projectId);
    const groupId = namespaceId ?? project?.groupId;
    const [top] = projectPath === undefined ? [] : pathKey(projectPath).split('/');
    const byPath = top === undefined ? undefined : this.#paths?.get(top);
    const rootId = groupId === undefined ? byPath : (this.#roots?.get(groupId) ?? groupId);
    return rootId === undefined ? undefined : groupChunk(rootId);
  }

  async #loadAndJoin(names: readonly string[]): Promise<void> {
    const missing = [...new Set(names)].filter(
      (name) => !this.#bodies.has(name) && this.manifest.chunks[name] !== undefined,
    );
    if (missing.length === 0) return;
    await this.#load(missing);
    this.#join(missing);
  }

  async #load(names: readonly string[]): Promise<void> {
    const bodies = await this.#read(names, this.manifest);
    for (const [index, name] of names.entries()) {
      const body = bodies[index];
      if (body !== undefined) this.#bodies.set(name, body);
    }
  }

  #join(names: readonly string[]): void {
    const bodies = names.flatMap((name) => this.#bodies.get(name) ?? []);
    for (const body of bodies) {
      if ('groups' in body) this.directory.addChunk(body);
      else if ('roots' in body) {
        this.#roots = new Map(body.roots);
        this.#paths = new Map(body.paths);
      }
    }
    for (const body of bodies) if ('projects' in body) this.directory.addChunk(body);
  }
}

// The directory in functions: only the parts their jobs need, at most a minute old. A failed read refuses no
// job: the last good version stays, or the one packed with the code. One per process.

interface DirectoryStoreDeps {
  readonly table: DirectoryTable;
  readonly packed: Directory | undefined;
  readonly clock: { monotonicMs(): number };
  readonly log: Log;
}

const POINTER_AGE_MS_MAX = 60_000;
/** An admission has two seconds in all; a group that is not known in time has its root's limits. */
const TIMEOUT_MS = 500;
/** A table that failed is left alone for so long: jobs are decided without it rather than later. */
const QUIET_MS = 5_000;

export class DirectoryStore {
  readonly #deps: DirectoryStoreDeps;
  #pointer: DirectoryPointer | undefined;
  #loaded: LoadedDirectory | undefined;
  #refreshAtMs = Number.NEGATIVE_INFINITY;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

  constructor(deps: DirectoryStoreDeps) {
    this.#deps = deps;
  }

  /** Returns the directory with the groups of these jobs, as far as they are listed. Never throws. */
  async directoryFor(jobs: readonly GroupQuery[]): Promise<Directory | undefined> {
    const { clock, packed } = this.#deps;
    if (clock.monotonicMs() >= this.#refreshAtMs) {
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = undefined;
      });
      await this.#refreshing;
    }
    if (this.#loaded === undefined) return packed;
    if (this.#loaded.isFull) this.#loaded = new LoadedDirectory(this.#loaded.manifest, this.#read);
    const loaded = this.#loaded;
    if (clock.monotonicMs() < this.#retryAtMs) return loaded.directory;
    try {
      await loaded.need(jobs);
    } catch (error) {
      this.#report('part of the directory not read', error);
      this.#retryAtMs = clock.monotonicMs() + QUIET_MS;
      // Chunks of a version that was replaced an hour ago are gone: a newer one may be there.
      this.#refreshAtMs = Math.min(this.#refreshAtMs, this.#retryAtMs);
    }
    return loaded.directory;
  }

  async #refresh(): Promise<void> {
    const { table, clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    try {
      const pointer = await table.getPointer({ timeoutMs: TIMEOUT_MS });
      if (pointer?.live === true && pointer.manifest !== this.#pointer?.manifest) await this.#adopt(pointer);
      this.#refreshAtMs = startedMs + POINTER_AGE_MS_MAX;
    } catch (error) {
      this.#report('directory not read', error);
      this.#refreshAtMs = startedMs + QUIET_MS;
    }
  }

  /** Whole or not at all: every chunk in use is read before the new version counts. */
  async #adopt(pointer: DirectoryPointer): Promise<void> {
    const manifest = await readManifest(pointer, this.#deps.table, { timeoutMs: TIMEOUT_MS });
    this.#loaded = await (this.#loaded?.next(manifest) ?? new LoadedDirectory(manifest, this.#read));
    this.#pointer = pointer;
  }

  readonly #read: ChunkBodyReader = (names, manifest) =>
    readLiveChunks(names, manifest, this.#deps.table, { timeoutMs: TIMEOUT_MS });

  #report(message: string, error: unknown): void {
    if (!(error instanceof DirectoryError)) throw error;
    this.#deps.log.error(message, { cause: error.message, edit: this.#pointer?.edit });
  }
}
