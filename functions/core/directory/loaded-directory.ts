/** One version of the directory, as far as a reader needed it. */
import { pathKey } from '../../../policies/place/directory.ts';
import {
  type GroupChunk,
  groupChunk,
  INDEX,
  type IndexChunk,
  type ProjectChunk,
  projectChunk,
  projectChunkNumberOf,
} from './chunks.ts';
import { type DirectoryPart, GrowingDirectory, groupPart, projectPart } from './directory-part.ts';
import type { Manifest } from './manifest.ts';
import type { PlaceAsk } from './place-ask.ts';

type Body = GroupChunk | ProjectChunk | IndexChunk;

export type ChunkBodyReader = (
  names: readonly string[],
  manifest: Manifest,
) => Promise<readonly (Body | undefined)[]>;

/** 131 000 projects at most. A process that needs more reloads those it needs now. */
const PROJECT_CHUNKS_MAX = 256;

export class LoadedDirectory {
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

  /** The same chunks of another version; those that did not change are not read again. */
  async next(manifest: Manifest): Promise<LoadedDirectory> {
    const loaded = new LoadedDirectory(manifest, this.#read);
    const names = [...this.#bodies.keys()];
    const same = names.filter((name) => manifest.chunks[name]?.hash === this.manifest.chunks[name]?.hash);
    for (const name of same) loaded.#bodies.set(name, this.#bodies.get(name) as Body);
    await loaded.#load(names.filter((name) => !same.includes(name)));
    loaded.#join([...loaded.#bodies.keys()]);
    return loaded;
  }

  /** True if the next batch should reload. */
  get isFull(): boolean {
    let chunks = 0;
    for (const name of this.#bodies.keys()) if (projectChunkNumberOf(name) !== undefined) chunks += 1;
    return chunks > PROJECT_CHUNKS_MAX;
  }

  /** Everything that is known of where these stand. @throws {DirectoryError} either code */
  async need(asks: readonly PlaceAsk[]): Promise<void> {
    const first = new Set<string>();
    for (const { projectId, rootNamespaceId } of asks) {
      if (projectId !== undefined) first.add(projectChunk(projectId));
      first.add(rootNamespaceId === undefined ? INDEX : groupChunk(rootNamespaceId));
    }
    await this.#loadAndJoin([...first]);
    const rootless = asks.filter(({ rootNamespaceId }) => rootNamespaceId === undefined);
    if (rootless.length > 0)
      await this.#loadAndJoin(rootless.flatMap((ask) => this.#groupChunkOf(ask) ?? []));
  }

  #groupChunkOf({ projectId, namespaceId, projectPath }: PlaceAsk): string | undefined {
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

  /** Groups before projects: these take their paths from them. */
  #join(names: readonly string[]): void {
    const projects: string[] = [];
    for (const name of names) {
      const body = this.#bodies.get(name);
      if (body === undefined) continue;
      if ('projects' in body) projects.push(name);
      else if ('groups' in body) this.directory.add(groupPart(body));
      else {
        this.#roots = new Map(body.roots);
        this.#paths = new Map(body.paths);
      }
    }
    for (const name of projects) {
      const body = this.#bodies.get(name);
      if (body !== undefined && 'projects' in body) this.directory.add(this.#projects(body));
    }
  }

  #projects(body: ProjectChunk): DirectoryPart {
    return projectPart(body, (groupId) => this.directory.groupById.get(groupId)?.path);
  }
}
