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

interface Loaded {
  readonly manifest: Manifest;
  readonly bodies: ReadonlyMap<string, Body>;
}

type LoadedDirectory = Awaited<ReturnType<typeof loadDirectory>>;

/** @param former - an older version: every chunk in use there is read before the new version counts */
async function loadDirectory(manifest: Manifest, read: ChunkBodyReader, former?: Loaded) {
  const directory = new GrowingDirectory();
  const bodies = new Map<string, Body>();
  /** Root of a group, and of a path; only where jobs do not name their root. */
  let roots: ReadonlyMap<number, number> | undefined;
  let paths: ReadonlyMap<string, number> | undefined;

  async function load(names: readonly string[]): Promise<void> {
    const found = await read(names, manifest);
    for (const [index, name] of names.entries()) {
      const body = found[index];
      if (body !== undefined) bodies.set(name, body);
    }
  }

  function join(names: readonly string[]): void {
    const found = names.flatMap((name) => bodies.get(name) ?? []);
    for (const body of found) {
      if ('groups' in body) directory.addChunk(body);
      else if ('roots' in body) {
        roots = new Map(body.roots);
        paths = new Map(body.paths);
      }
    }
    for (const body of found) if ('projects' in body) directory.addChunk(body);
  }

  async function loadAndJoin(names: readonly string[]): Promise<void> {
    const missing = [...new Set(names)].filter(
      (name) => !bodies.has(name) && manifest.chunks[name] !== undefined,
    );
    if (missing.length === 0) return;
    await load(missing);
    join(missing);
  }

  function findGroupChunk({ projectId, namespaceId, projectPath }: GroupQuery): string | undefined {
    const project = projectId === undefined ? undefined : directory.projectById.get(projectId);
    const groupId = namespaceId ?? project?.groupId;
    const [top] = projectPath === undefined ? [] : pathKey(projectPath).split('/');
    const byPath = top === undefined ? undefined : paths?.get(top);
    const rootId = groupId === undefined ? byPath : (roots?.get(groupId) ?? groupId);
    return rootId === undefined ? undefined : groupChunk(rootId);
  }

  if (former !== undefined) {
    for (const [name, body] of former.bodies)
      if (manifest.chunks[name]?.hash === former.manifest.chunks[name]?.hash) bodies.set(name, body);
    await load([...former.bodies.keys()].filter((name) => !bodies.has(name)));
    join([...bodies.keys()]);
  }
  return {
    ...{ manifest, directory, bodies },
    isFull: () =>
      [...bodies.keys()].filter((name) => projectChunkNumberOf(name) !== undefined).length >
      PROJECT_CHUNKS_MAX,
    /** Everything that is known of where these stand. @throws {DirectoryError} either code */
    async need(jobs: readonly GroupQuery[]): Promise<void> {
      const first = jobs.flatMap(({ projectId, rootNamespaceId }) => [
        ...(projectId === undefined ? [] : [projectChunk(projectId)]),
        rootNamespaceId === undefined ? INDEX : groupChunk(rootNamespaceId),
      ]);
      await loadAndJoin(first);
      const rootless = jobs.filter(({ rootNamespaceId }) => rootNamespaceId === undefined);
      if (rootless.length > 0) await loadAndJoin(rootless.flatMap((job) => findGroupChunk(job) ?? []));
    },
  };
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
const WAIT = { timeoutMs: 500 };
/** A table that failed is left alone for so long: jobs are decided without it rather than later. */
const QUIET_MS = 5_000;

export function directoryStore({ table, packed, clock, log }: DirectoryStoreDeps) {
  let pointer: DirectoryPointer | undefined;
  let current: LoadedDirectory | undefined;
  let refreshAtMs = Number.NEGATIVE_INFINITY;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;

  const read: ChunkBodyReader = (names, manifest) => readLiveChunks(names, manifest, table, WAIT);

  function report(message: string, error: unknown): void {
    if (!(error instanceof DirectoryError)) throw error;
    log.error(message, { cause: error.message, edit: pointer?.edit });
  }

  async function refresh(): Promise<void> {
    const startedMs = clock.monotonicMs();
    try {
      const found = await table.getPointer(WAIT);
      if (found?.live === true && found.manifest !== pointer?.manifest) {
        current = await loadDirectory(await readManifest(found, table, WAIT), read, current);
        pointer = found;
      }
      refreshAtMs = startedMs + POINTER_AGE_MS_MAX;
    } catch (error) {
      report('directory not read', error);
      refreshAtMs = startedMs + QUIET_MS;
    }
  }

  /** Returns the directory with the groups of these jobs, as far as they are listed. Never throws. */
  return async (jobs: readonly GroupQuery[]): Promise<Directory | undefined> => {
    if (clock.monotonicMs() >= refreshAtMs) {
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
    }
    if (current?.isFull() === true) current = await loadDirectory(current.manifest, read);
    const loaded = current;
    if (loaded === undefined) return packed;
    if (clock.monotonicMs() < retryAtMs) return loaded.directory;
    try {
      await loaded.need(jobs);
    } catch (error) {
      report('part of the directory not read', error);
      retryAtMs = clock.monotonicMs() + QUIET_MS;
      // Chunks of a version that was replaced an hour ago are gone: a newer one may be there.
      refreshAtMs = Math.min(refreshAtMs, retryAtMs);
    }
    return loaded.directory;
  };
}
