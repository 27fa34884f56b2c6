/**
 * The directory in functions: only the parts their jobs need, at most a minute old. A failed read refuses no
 * job: the last good version stays, or the one packed with the code. One per process.
 */
import type { Directory } from '../../../policies/place/directory.ts';
import type { Log } from '../environment/index.ts';
import { DirectoryError } from './directory-error.ts';
import type { DirectoryPointer, DirectoryTable } from './directory-table.ts';
import { type ChunkBodyReader, LoadedDirectory } from './loaded-directory.ts';
import { readLiveChunks, readManifest } from './manifest.ts';
import { type PlaceAsk, wishFor } from './place-ask.ts';
import { WishWriter } from './wishing.ts';

interface DirectoryStoreDeps {
  readonly table: DirectoryTable;
  /** In force until all groups were listed once. */
  readonly packed: Directory | undefined;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  readonly log: Log;
}

/** Changes reach every process within this time. */
const POINTER_AGE_MS_MAX = 60_000;
/** An admission has two seconds in all; a group that is not known in time has its root's limits. */
const TIMEOUT_MS = 500;
/** A table that failed is left alone for so long: jobs are decided without it rather than later. */
const QUIET_MS = 5_000;

export class DirectoryStore {
  readonly #deps: DirectoryStoreDeps;
  readonly #wishing: WishWriter;
  #pointer: DirectoryPointer | undefined;
  #loaded: LoadedDirectory | undefined;
  #lookAgainAtMs = Number.NEGATIVE_INFINITY;
  #readAgainAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(deps: DirectoryStoreDeps) {
    this.#deps = deps;
    this.#wishing = new WishWriter(deps);
  }

  /**
   * Returns the directory with the groups of these jobs. Never throws. Missing ids are stored for the sync.
   */
  async directoryFor(asks: readonly PlaceAsk[]): Promise<Directory | undefined> {
    const { clock, packed } = this.#deps;
    if (clock.monotonicMs() >= this.#lookAgainAtMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    if (this.#loaded === undefined) return packed;
    if (this.#loaded.isFull) this.#loaded = new LoadedDirectory(this.#loaded.manifest, this.#read);
    const loaded = this.#loaded;
    const isWhole = await this.#need(asks, loaded);
    if (isWhole) for (const ask of asks) this.#miss(ask, loaded.directory);
    return loaded.directory;
  }

  /** For tests: when everything that was missed is written down. */
  settled(): Promise<void> {
    return this.#wishing.settled();
  }

  #miss(ask: PlaceAsk, directory: Directory): void {
    const wish = wishFor(ask, directory);
    if (wish !== undefined) this.#wishing.wish(wish);
  }

  async #look(): Promise<void> {
    const { table, clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    try {
      const pointer = await table.getPointer({ timeoutMs: TIMEOUT_MS });
      if (pointer?.live === true && pointer.manifest !== this.#pointer?.manifest) await this.#adopt(pointer);
      this.#lookAgainAtMs = startedMs + POINTER_AGE_MS_MAX;
    } catch (error) {
      this.#report('directory not read', error);
      this.#lookAgainAtMs = startedMs + QUIET_MS;
    }
  }

  /** Whole or not at all: every chunk in use is read before the new version counts. */
  async #adopt(pointer: DirectoryPointer): Promise<void> {
    const manifest = await readManifest(pointer, this.#deps.table, { timeoutMs: TIMEOUT_MS });
    this.#loaded = await (this.#loaded?.next(manifest) ?? new LoadedDirectory(manifest, this.#read));
    this.#pointer = pointer;
  }

  async #need(asks: readonly PlaceAsk[], loaded: LoadedDirectory): Promise<boolean> {
    const { clock } = this.#deps;
    if (clock.monotonicMs() < this.#readAgainAtMs) return false;
    try {
      await loaded.need(asks);
      return true;
    } catch (error) {
      this.#report('part of the directory not read', error);
      this.#readAgainAtMs = clock.monotonicMs() + QUIET_MS;
      // Chunks of a version that was replaced an hour ago are gone: a newer one may be there.
      this.#lookAgainAtMs = Math.min(this.#lookAgainAtMs, this.#readAgainAtMs);
      return false;
    }
  }

  readonly #read: ChunkBodyReader = (names, manifest) =>
    readLiveChunks(names, manifest, this.#deps.table, { timeoutMs: TIMEOUT_MS });

  #report(message: string, error: unknown): void {
    if (!(error instanceof DirectoryError)) throw error;
    this.#deps.log.error(message, { cause: error.message, edit: this.#pointer?.edit });
  }
}
